/** Renders Markdown as terminal lines. While text streams in, only its unfinished end is parsed again. */
import { Marked, type Token, type TokenizerAndRendererExtension, type Tokens } from "marked";
import stringWidth from "string-width";
import { cutMarkdown, filePathOf } from "../../../kernel/kit/text.ts";
import type { Highlighter } from "./highlighter.ts";
import { hang, plain, wrap } from "./lines.ts";
import type { Palette } from "./palette.ts";

export interface Rendering {
  readonly source: string;
  readonly width: number;
  readonly lines: readonly string[];
  /** The labels of its footnotes: a mark is one only if the note is there, which comes later. */
  readonly notes: readonly string[];
  /** The parts of the source and of the lines that no longer change as the source grows. */
  readonly settled: { readonly characters: number; readonly lines: number };
  /** False while colours for its code are being made. */
  readonly isFinal: boolean;
}

type Style = Palette & { fenced(text: string, language: string): string };

/** Renders a source, reusing an earlier rendering if the source only grew or there are more colours for it. */
export function renderMarkdown(
  source: string,
  width: number,
  palette: Palette,
  earlier?: Rendering,
  highlighter?: Pick<Highlighter, "highlight">,
): Rendering {
  let isFinal = true;
  const fenced = (text: string, language: string) => {
    if (!highlighter) return text;
    const coloured = highlighter.highlight(text, language);
    isFinal &&= coloured.isFinal;
    return coloured.pieces.map(({ text: piece, kind }) => palette.syntax(piece, kind)).join("");
  };
  const style = { ...palette, fenced };
  const notes = notesIn(source);
  const isSameNotes = earlier?.notes.length === notes.length;
  const hasGrown = earlier?.width === width && isSameNotes && source.startsWith(earlier.source);
  const settled = hasGrown ? earlier.settled : { characters: 0, lines: 0 };
  const lines = hasGrown ? earlier.lines.slice(0, settled.lines) : [];
  let { characters } = settled;
  let settledLines = settled.lines;
  const tokens = tokensOf(source.slice(characters), notes);
  // The next parse starts after the last block that cannot change; blank lines belong to the block before them.
  const open = tokens.findLastIndex(({ type }) => type !== "space");
  for (const [index, token] of tokens.entries()) {
    // One by one, since a spread of too many lines overflows the stack.
    for (const line of block(token, width, style)) lines.push(line);
    if (index >= open || !isFinal) continue;
    characters += token.raw.length;
    settledLines = lines.length;
  }
  while (lines.length > settledLines && lines.at(-1) === "") lines.pop();
  return { source, width, lines, notes, settled: { characters, lines: settledLines }, isFinal };
}

const MAX_MATHS_LENGTH = 2000;

/** Formulas between these marks are kept as they were written: Markdown would take their stars, lines and backslashes. */
const MATHS = [
  { open: "$$", close: "$$" },
  { open: "\\[", close: "\\]" },
  { open: "\\(", close: "\\)" },
  { open: "$", close: "$" },
] as const;

/** The formula at the beginning of a text, with its marks; undefined if there is none. */
function formulaAt(text: string): string | undefined {
  const mark = MATHS.find(({ open }) => text.startsWith(open));
  if (mark === undefined) return undefined;
  const { open, close } = mark;
  const end = text.slice(0, MAX_MATHS_LENGTH).indexOf(close, open.length + 1);
  if (end === -1) return undefined;
  const formula = text.slice(0, end + close.length);
  // A price has a digit after its mark, or a space before the next one.
  const isPrice = open === "$" && (/^\$\s|\s\$$|\n/.test(formula) || /^\d/.test(text.slice(formula.length)));
  return isPrice || formula.includes("\n\n") ? undefined : formula;
}

const maths: TokenizerAndRendererExtension = {
  name: "maths",
  level: "inline",
  start(text) {
    const at = text.search(/\$|\\[([]/);
    return at === -1 ? undefined : at;
  },
  tokenizer(text) {
    const raw = formulaAt(text);
    return raw === undefined ? undefined : { type: "maths", raw, text: raw };
  },
};

const MAX_NOTES = 200;
const MARK = /^\[\^([^\s[\]]{1,64})\]/;
const NOTE = /^ {0,3}\[\^([^\s[\]]{1,64})\]:[ \t]*([^\n]*(?:\n(?: {2,}|\t)[^\n]+)*)/;

function notesIn(source: string): readonly string[] {
  const labels = [...source.matchAll(/^ {0,3}\[\^([^\s[\]]{1,64})\]:/gm)].map(([, label = ""]) => label);
  return [...new Set(labels)].slice(0, MAX_NOTES);
}

/** Of the text that is being parsed. */
let defined: readonly string[] = [];

const noteMark: TokenizerAndRendererExtension = {
  name: "mark",
  level: "inline",
  start: (source) => {
    const at = source.indexOf("[^");
    return at === -1 ? undefined : at;
  },
  tokenizer(source) {
    const [raw, label = ""] = MARK.exec(source) ?? [];
    return raw !== undefined && defined.includes(label) ? { type: "mark", raw, text: label } : undefined;
  },
};

const note: TokenizerAndRendererExtension = {
  name: "note",
  level: "block",
  tokenizer(source) {
    const [raw, label = "", words = ""] = NOTE.exec(source) ?? [];
    if (raw === undefined || !defined.includes(label)) return undefined;
    return { type: "note", raw, label, tokens: this.lexer.inlineTokens(words.replace(/\n\s+/g, " ")) };
  },
};

const markdown = new Marked({ extensions: [maths, noteMark, note] });

/** Text that would take long to parse is shown as it is. */
function tokensOf(source: string, notes: readonly string[]): Token[] {
  defined = notes;
  return cutMarkdown(source).flatMap((piece): Token[] => {
    if (piece.type === "markdown") return markdown.lexer(piece.raw);
    if (piece.type === "plain") return [{ type: "text", raw: piece.raw, text: piece.raw }];
    return [{ type: "code", raw: piece.raw, text: piece.text, lang: piece.language }];
  });
}

function block(token: Token, width: number, palette: Style): string[] {
  switch (token.type) {
    case "space":
      return [""];
    case "heading":
      return wrap(palette.heading(inline((token as Tokens.Heading).tokens, palette)), width);
    case "code":
      return code(token as Tokens.Code, width, palette);
    case "blockquote":
      return blocks((token as Tokens.Blockquote).tokens, width - 2, palette).map(
        (line) => `${palette.faint("▎ ")}${line}`,
      );
    case "list":
      return list(token as Tokens.List, width, palette);
    case "table":
      return table(token as Tokens.Table, width, palette);
    case "note": {
      const mark = palette.tool(`[${plain(String((token as Tokens.Generic)["label"]))}] `);
      return hang(mark, "  ", inline((token as Tokens.Generic).tokens, palette), width);
    }
    case "hr":
      return [palette.faint("─".repeat(Math.min(width, 40)))];
    default:
      return wrap(inline("tokens" in token ? token.tokens : undefined, palette, token), width);
  }
}

function code({ text, lang = "" }: Tokens.Code, width: number, style: Style): string[] {
  const [language = ""] = lang.trim().split(/\s/, 1);
  const bar = style.faint("│ ");
  return style
    .fenced(plain(text), language)
    .split("\n")
    .flatMap((line) => hang(bar, bar, line, width));
}

function blocks(tokens: readonly Token[], width: number, palette: Style): string[] {
  const lines = tokens.flatMap((token) => block(token, width, palette));
  while (lines.at(-1) === "") lines.pop();
  return lines;
}

function list(token: Tokens.List, width: number, palette: Style): string[] {
  return token.items.flatMap((item, index) => {
    const bullet = token.ordered ? `${Number(token.start || 1) + index}. ` : "• ";
    const box = item.task ? (item.checked ? "[x] " : "[ ] ") : "";
    const tokens = item.tokens.filter(({ type }) => type !== "checkbox");
    const inner = blocks(tokens, width - bullet.length - box.length, palette);
    const [first = "", ...rest] = inner;
    const indent = " ".repeat(bullet.length);
    return [`${palette.faint(bullet)}${box}${first}`, ...rest.map((line) => `${indent}${line}`)].flatMap(
      (line) => (stringWidth(line) > width ? wrap(line, width) : [line]),
    );
  });
}

const MIN_COLUMN_WIDTH = 10;

/** Shrinks the widest column if the table does not fit; if that is not enough, puts each cell on its own line. */
function table({ header, rows, align }: Tokens.Table, width: number, palette: Palette): string[] {
  const read = (cells: readonly Tokens.TableCell[]) => cells.map(({ tokens }) => inline(tokens, palette));
  const head = read(header).map(palette.strong);
  const body = rows.map(read);
  const widths = head.map((cell, column) =>
    Math.max(...[cell, ...body.map((row) => row[column] ?? "")].map((text) => stringWidth(text))),
  );
  const total = widths.reduce((sum, each) => sum + each, 0) + 3 * (widths.length - 1);
  const widest = widths.indexOf(Math.max(...widths));
  widths[widest] = (widths[widest] ?? 0) - Math.max(0, total - width);
  if (total > width && widths[widest] < MIN_COLUMN_WIDTH) {
    const labelled = (label: string, cell: string) =>
      2 * stringWidth(label) > width
        ? [...wrap(label, width), ...hang("  ", "  ", cell, width)]
        : hang(`${label} `, "  ", cell, width);
    return body.flatMap((row) => [...row.flatMap((cell, column) => labelled(head[column] || "·", cell)), ""]);
  }
  const pad = (text: string, column: number) => {
    const room = Math.max(0, (widths[column] ?? 0) - stringWidth(text));
    const side = align[column];
    const before = side === "right" ? room : side === "center" ? Math.floor(room / 2) : 0;
    return " ".repeat(before) + text + " ".repeat(room - before);
  };
  const lines = (cells: readonly string[]) => {
    const wrapped = cells.map((cell, column) => wrap(cell, widths[column] ?? 1));
    const tallest = Math.max(...wrapped.map(({ length }) => length));
    return Array.from({ length: tallest }, (_, row) =>
      wrapped.map((cell, column) => pad(cell[row] ?? "", column)).join(palette.faint(" │ ")),
    );
  };
  const rule = palette.faint(widths.map((each) => "─".repeat(each)).join("─┼─"));
  const hasHead = head.some((cell) => cell !== "");
  return [...(hasHead ? [...lines(head), rule] : []), ...body.flatMap(lines)];
}

function inline(tokens: readonly Token[] | undefined, palette: Palette, whole?: Token): string {
  if (tokens === undefined) return plain(whole && "text" in whole ? String(whole.text) : (whole?.raw ?? ""));
  return tokens.map((token) => span(token, palette)).join("");
}

function span(token: Token, palette: Palette): string {
  const inner = () => inline("tokens" in token ? token.tokens : undefined, palette, token);
  switch (token.type) {
    case "strong":
      return palette.strong(inner());
    case "em":
      return palette.slanted(inner());
    case "del":
      return palette.struck(inner());
    case "codespan":
      return palette.code(plain((token as Tokens.Codespan).text));
    case "mark":
      return palette.tool(`[${plain((token as Tokens.Text).text)}]`);
    case "br":
      return "\n";
    case "link":
    case "image": {
      const { href } = token as Tokens.Link;
      const words = inner();
      const path = filePathOf(href);
      const address = plain(path ?? href);
      if (path !== undefined) {
        const file = palette.file(path, address);
        return words === address || words === "" ? file : `${palette.underlined(words)} (${file})`;
      }
      return words === address || words === ""
        ? palette.underlined(address)
        : `${palette.underlined(words)} ${palette.faint(`(${address})`)}`;
    }
    default:
      return inner();
  }
}

/**
 * Escapes outside text for use in our Markdown. An opening bracket is left as it is, since an escaped one begins a formula; the closing
 * one is enough. In an address every escape would be shown.
 */
export function quoted(text: string): string {
  return text
    .replace(/https?:\/\/[^\s<>]+|[\\`*_\]<>|#$]/g, (found) =>
      found.length > 1 ? `<${found}>` : `\\${found}`,
    )
    .replaceAll("\n", " ");
}

/** Quotes text with URLs and patterns that Markdown would turn into links and emphasis. */
export function verbatim(text: string): string {
  return `\`${text.replaceAll("`", "'").replaceAll("\n", " ")}\``;
}

/** A text in a fence that nothing in it can close. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
