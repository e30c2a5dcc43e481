/**
 * From the text of a page to a document. What looks at single characters takes forty times as long in QuickJS as under Node, what
 * the engine itself does only a few times: so tags are found by searching and by patterns, not by a state machine.
 */
import { decodeHTML } from "entities/decode";
import { Document, Element, Text } from "./dom.ts";

/** Deeper elements become part of the one at this depth: whatever walks the tree may then recurse. */
const MAX_DEPTH = 200;
const MAX_NODES = 120_000;
const MAX_ATTRIBUTE = 8_192;
const MAX_ATTRIBUTES = 200;
/** More elements within each other than any page has. */
const MAX_OPEN = 2_000;
/** A page can be made whose every character is slow. What was read until then is better than nothing at all. */
const MAX_MS = 10_000;
/** Tags between two looks at the clock. */
const CLOCK_STEPS = 1_000;

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** The attributes that somebody reads; the rest is not kept. */
const ATTRIBUTES = words(
  "alt aria-hidden aria-modal class colspan content datetime dir hidden href http-equiv id itemprop itemtype lang " +
    "name property rel role rowspan src start style summary title type",
);

/** Nothing in them is text for a reader. */
const DROPPED = words(
  "script style template svg canvas iframe object embed audio video map link base noscript",
);

const VOID = words(
  "area base basefont br col embed frame hr img input isindex keygen link meta param source track wbr",
);

/** What is in them is no markup. */
const RAW: Readonly<Record<string, RegExp>> = {
  script: /<\/script/gi,
  style: /<\/style/gi,
  title: /<\/title/gi,
  textarea: /<\/textarea/gi,
  iframe: /<\/iframe/gi,
  xmp: /<\/xmp/gi,
};

const P = words("p");
const CELLS = words("thead th td");
const TERMS = words("dt dd");
const READINGS = words("rt rp");

/** Elements that end where another begins, for pages that do not close them. */
const ENDED_BY: Readonly<Record<string, ReadonlySet<string>>> = {
  ...Object.fromEntries(
    "address article aside blockquote details div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul"
      .split(" ")
      .map((name) => [name, P]),
  ),
  tr: words("tr th td"),
  th: words("th td"),
  td: CELLS,
  tbody: words("thead tbody tr th td"),
  tfoot: words("thead tbody tr th td"),
  li: words("li"),
  dt: TERMS,
  dd: TERMS,
  rt: READINGS,
  rp: READINGS,
  option: words("option"),
  optgroup: words("option optgroup"),
};

const TAG = /<(\/?)([a-zA-Z][^\s/>]*)(\s*>)?/y;
const ATTRIBUTE = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?/y;
const TAG_END = /[\s/]*>/y;

export function parseHtml(html: string): Document {
  const builder = new Builder();
  const { document } = builder;
  const began = Date.now();
  let steps = 0;
  let at = 0;
  for (let from = 0; !document.isCut; ) {
    const tag = html.indexOf("<", from);
    if (tag === -1) break;
    if (++steps % CLOCK_STEPS === 0 && Date.now() - began > MAX_MS) document.isCut = true;
    TAG.lastIndex = tag;
    const found = TAG.exec(html);
    if (found === null) {
      const next = html[tag + 1];
      if (next !== "!" && next !== "?" && next !== "/") {
        // It is no tag: a smaller-than sign.
        from = tag + 1;
        continue;
      }
      builder.text(html, at, tag);
      at = from = endOfComment(html, tag);
      continue;
    }
    builder.text(html, at, tag);
    const [whole, slash, written = "", end] = found;
    const name = lowerCase(written);
    at = tag + whole.length;
    if (slash === "/") {
      if (end === undefined) at = indexAfter(html, ">", at);
      builder.close(name);
    } else {
      const attributes: [name: string, value: string][] = [];
      let isClosed = false;
      if (end === undefined) {
        [at, isClosed] = readAttributes(html, at, attributes);
        if (at >= html.length) break;
      }
      builder.open(name, attributes, isClosed);
      const raw = RAW[name];
      if (raw !== undefined) {
        raw.lastIndex = at;
        const close = raw.exec(html)?.index ?? html.length;
        builder.text(html, at, close);
        at = close;
      }
    }
    from = at;
  }
  if (!document.isCut) builder.text(html, at, html.length);
  return document;
}

/** Those that are kept, into `attributes`. Returns where the tag ends, and whether it says that the element ends with it. */
function readAttributes(
  html: string,
  start: number,
  attributes: [string, string][],
): [at: number, isClosed: boolean] {
  let at = start;
  for (;;) {
    TAG_END.lastIndex = at;
    const end = TAG_END.exec(html)?.[0];
    if (end !== undefined) return [at + end.length, end.includes("/")];
    ATTRIBUTE.lastIndex = at;
    const found = ATTRIBUTE.exec(html);
    // An equals sign without a name.
    if (found === null) {
      at++;
      if (at >= html.length) return [html.length, false];
      continue;
    }
    at = ATTRIBUTE.lastIndex;
    const name = lowerCase(found[1] ?? "");
    if (!ATTRIBUTES.has(name) || attributes.length >= MAX_ATTRIBUTES) continue;
    const value = (found[2] ?? found[3] ?? found[4] ?? "").slice(0, MAX_ATTRIBUTE);
    attributes.push([name, value.includes("&") ? decode(value, true) : value]);
  }
}

function endOfComment(html: string, tag: number): number {
  return html.startsWith("<!--", tag) ? indexAfter(html, "-->", tag + 2) : indexAfter(html, ">", tag);
}

function indexAfter(html: string, what: string, from: number): number {
  const at = html.indexOf(what, from);
  return at === -1 ? html.length : at + what.length;
}

const lowerCase = (name: string): string => (/[A-Z]/.test(name) ? name.toLowerCase() : name);

const decoded = new Map<string, string>();
// Counting repetitions is slow in the engine's patterns; what is too long is left as it is.
const ENTITY = /&(?:#[xX]?[\da-fA-F]+|[a-zA-Z][a-zA-Z\d]*);?/g;
const MAX_ENTITY = 40;

/** Pages use the same few again and again. In an address, "&copy" without a semicolon is a part of it. */
function decode(text: string, isAttribute: boolean): string {
  return text.replace(ENTITY, (entity) => {
    if (entity.length > MAX_ENTITY || (isAttribute && !entity.endsWith(";"))) return entity;
    let meant = decoded.get(entity);
    if (meant === undefined) {
      meant = decodeHTML(entity);
      if (decoded.size < 5_000) decoded.set(entity, meant);
    }
    return meant;
  });
}

class Builder {
  readonly document = new Document();
  /** The names of the open elements, and beside each where its parent's next child goes. */
  private readonly names: string[] = [];
  private readonly parents: Element[] = [];
  private readonly counts = new Map<string, number>();
  private current = this.document.body;
  /** The number of open elements outside the one that is being dropped, if one is. */
  private droppedAt = -1;
  private isNoscript = false;

  text(html: string, from: number, to: number): void {
    if (from >= to) return;
    const isDropped = this.droppedAt !== -1;
    if (isDropped && !(this.isNoscript && this.document.withoutScripts.length < 2000)) return;
    const written = html.slice(from, to);
    const text = written.includes("&") && !this.isRaw() ? decode(written, false) : written;
    const { lastChild } = this.current;
    if (isDropped) this.document.withoutScripts += text;
    else if (lastChild instanceof Text) lastChild.textContent += text;
    else this.add(this.current, new Text(text));
  }

  open(name: string, attributes: readonly [string, string][], isClosed: boolean): void {
    const ended = ENDED_BY[name];
    if (ended !== undefined) while (ended.has(this.names.at(-1) ?? "")) this.pop();
    const before = this.current;
    this.begin(name, attributes);
    if (this.names.length >= MAX_OPEN) this.document.isCut = true;
    this.names.push(name);
    this.parents.push(before);
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    if (VOID.has(name) || (isClosed && this.droppedAt !== -1)) this.pop();
  }

  close(name: string): void {
    if (VOID.has(name)) {
      if (name === "br") this.open("br", [], true);
      return;
    }
    if ((this.counts.get(name) ?? 0) === 0) return;
    while (this.names.at(-1) !== name) this.pop();
    this.pop();
  }

  private pop(): void {
    const name = this.names.pop() ?? "";
    this.counts.set(name, (this.counts.get(name) ?? 1) - 1);
    this.current = this.parents.pop() ?? this.document.body;
    if (this.names.length === this.droppedAt) this.droppedAt = -1;
  }

  private isRaw(): boolean {
    const name = this.names.at(-1);
    return name === "script" || name === "style";
  }

  private begin(name: string, attributes: readonly [string, string][]): void {
    if (this.droppedAt !== -1) return;
    const { document } = this;
    if (name === "html") take(document.documentElement, attributes);
    if (name === "body") take(document.body, attributes);
    if (name === "html" || name === "head" || name === "body") return;
    const isData =
      name === "script" && attributes.some(([of, type]) => of === "type" && DATA_TYPE.test(type));
    if (name === "script" && !isData) document.scripts++;
    if (name === "base") document.base ??= attributes.find(([of]) => of === "href")?.[1];
    if (DROPPED.has(name) && !isData) {
      this.droppedAt = this.names.length;
      this.isNoscript = name === "noscript";
      return;
    }
    if (this.names.length > MAX_DEPTH) return;
    const element = new Element(name, document);
    take(element, attributes);
    const isOutside = this.current === document.body;
    const belongsInHead = isOutside && (name === "title" || name === "meta" || isData);
    this.current = this.add(belongsInHead ? document.head : this.current, element);
  }

  private add<Child extends Element | Text>(parent: Element, node: Child): Child {
    if (this.document.nodes++ < MAX_NODES) parent.attach(node);
    else this.document.isCut = true;
    return node;
  }
}

const DATA_TYPE = /^application\/ld\+json/i;

function take(element: Element, attributes: readonly [string, string][]): void {
  for (const [name, value] of attributes) if (!element.hasAttribute(name)) element.setAttribute(name, value);
}
