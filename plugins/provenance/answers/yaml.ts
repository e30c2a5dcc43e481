/**
 * Block YAML as libraries write it, and nothing else: whatever is unusual is refused, so that no line of somebody's text is taken
 * for a field. Every line is looked at once.
 */

const MOST_LINES = 100_000;
const MOST_DEPTH = 12;
const KEY = /^([\p{L}_][\p{L}\p{N}_.@+-]{0,100}):(?: (.*))?$/u;
const ENTRY = /^- (.*)$/;
/** What a plain text may not begin with, or have in it. */
const UNUSUAL = /^[-?:,[\]{}#&*!|>'"%@`]|: |:$| #/;

class Unusual extends Error {}

interface Line {
  readonly indent: number;
  readonly text: string;
}

/** Undefined where it is no such YAML. */
export function readYaml(text: string): unknown {
  const lines = text.split("\n", MOST_LINES + 1).map((line) => {
    const bare = line.trimStart();
    return { indent: line.length - bare.length, text: bare };
  });
  if (lines.length > MOST_LINES || text.includes("\t- ") || !/^(?:- |[\p{L}_][^\n:]{0,100}:)/u.test(text))
    return undefined;
  try {
    return new Reader(lines).read();
  } catch (error) {
    if (error instanceof Unusual) return undefined;
    throw error;
  }
}

class Reader {
  readonly #lines: Line[];
  #at = 0;

  constructor(lines: Line[]) {
    this.#lines = lines;
  }

  read(): unknown {
    const value = this.#node(0, 0);
    while (this.#lines[this.#at]?.text === "") this.#at++;
    if (this.#at < this.#lines.length) throw new Unusual();
    return value;
  }

  #node(indent: number, depth: number): unknown {
    const line = this.#lines[this.#at];
    if (line === undefined || line.indent !== indent || depth > MOST_DEPTH) throw new Unusual();
    return ENTRY.test(line.text) ? this.#list(indent, depth) : this.#mapping(indent, depth);
  }

  #list(indent: number, depth: number): unknown[] {
    const found: unknown[] = [];
    let keys: string | undefined;
    for (;;) {
      const line = this.#lines[this.#at];
      const [, entry] = (line?.indent === indent && ENTRY.exec(line.text)) || [];
      if (entry === undefined) return found;
      if (KEY.test(entry) || ENTRY.test(entry)) {
        // What follows the dash is the first line of what it holds.
        this.#lines[this.#at] = { indent: indent + 2, text: entry };
        const value = this.#node(indent + 2, depth + 1);
        const own = Object.keys(value as object).join("\n");
        // Things of one list have the same fields in one order, unless one was slipped in.
        if (!Array.isArray(value)) {
          if (keys !== undefined && keys !== own) throw new Unusual();
          keys = own;
        }
        found.push(value);
      } else found.push(this.#scalar(entry, indent));
    }
  }

  #mapping(indent: number, depth: number): unknown {
    const found: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (;;) {
      const line = this.#lines[this.#at];
      const [, key, value = ""] = (line?.indent === indent && KEY.exec(line.text)) || [];
      if (key === undefined) return found;
      if (Object.hasOwn(found, key)) throw new Unusual();
      found[key] = value === "" ? this.#below(indent, depth) : this.#scalar(value, indent);
    }
  }

  /** What stands under a name; a list may stand as far left as the name. */
  #below(indent: number, depth: number): unknown {
    this.#at++;
    const line = this.#lines[this.#at];
    const isList = line !== undefined && ENTRY.test(line.text);
    if (line === undefined || line.indent < indent || (line.indent === indent && !isList)) return undefined;
    return this.#node(line.indent, depth + 1);
  }

  #scalar(first: string, indent: number): unknown {
    if (first.startsWith("'") || first.startsWith('"')) return this.#quoted(first);
    if (/^[|>][-+]?$/.test(first)) return this.#block(indent);
    this.#at++;
    if (first === "[]" || first === "{}") return undefined;
    if (UNUSUAL.test(first)) throw new Unusual();
    const parts = [first];
    // A long text goes on further to the right.
    for (; (this.#lines[this.#at]?.indent ?? 0) > indent; this.#at++) {
      const { text = "" } = this.#lines[this.#at] ?? {};
      if (text === "" || UNUSUAL.test(text)) throw new Unusual();
      parts.push(text);
    }
    return parts.length > 1 ? parts.join(" ") : typed(first);
  }

  /** To the quote that ends it, over as many lines as that takes. */
  #quoted(first: string): string {
    const quote = first.charAt(0);
    const parts: string[] = [];
    for (let text = first.slice(1); ; ) {
      const end = endOf(text, quote);
      this.#at++;
      if (end !== -1) {
        if (text.slice(end + 1).trim() !== "") throw new Unusual();
        parts.push(text.slice(0, end));
        return quote === "'"
          ? parts.join(" ").replaceAll("''", "'")
          : parts.join(" ").replace(/\\(.)/g, readEscape);
      }
      parts.push(text);
      const next = this.#lines[this.#at];
      if (next === undefined) throw new Unusual();
      text = next.text;
    }
  }

  #block(indent: number): string {
    const parts: string[] = [];
    this.#at++;
    for (let line = this.#lines[this.#at]; line !== undefined; line = this.#lines[this.#at]) {
      if (line.text !== "" && line.indent <= indent) break;
      parts.push(line.text);
      this.#at++;
    }
    return parts.join("\n");
  }
}

/** Where a quoted text ends in this line, or -1. */
function endOf(text: string, quote: string): number {
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (quote === '"' && char === "\\") at++;
    else if (char === quote) {
      if (quote === '"' || text.charAt(at + 1) !== quote) return at;
      at++;
    }
  }
  return -1;
}

function readEscape(written: string, char: string): string {
  if (char === "n") return "\n";
  return char === "t" ? "\t" : char === " " || char === '"' || char === "\\" ? char : written;
}

function typed(text: string): unknown {
  if (text === "null" || text === "~") return undefined;
  if (text === "true" || text === "false") return text === "true";
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,14})?$/.test(text) ? Number(text) : text;
}
