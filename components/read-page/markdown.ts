/** Writes a part of a document as Markdown: headings, lists, tables, code, and links with absolute addresses. */
import { resolve } from "./address.ts";
import { type Element, isElement, type Text } from "./dom.ts";

const MAX_ROWS = 400;
const MAX_COLUMNS = 40;
const MAX_SPAN = 40;

const SKIPPED = new Set(
  "head script style noscript button select input textarea form-control title meta".split(" "),
);
const INLINE = new Set(
  (
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark nobr q rp rt ruby s " +
    "samp small span strike strong sub sup time tt u var wbr"
  ).split(" "),
);

export interface Writing {
  /** The base of relative links. */
  readonly base: string;
  /** Elements to leave out, with all that is in them. */
  readonly isLeftOut?: (element: Element) => boolean;
}

export function toMarkdown(root: Element, writing: Writing): string {
  return blocks(root, writing).join("\n\n");
}

/** Blanks of any kind and number become one. Most text needs nothing of the sort, and looking costs less. */
export const fold = (text: string): string => (/\s\s|[^\S ]/.test(text) ? text.replace(/\s+/g, " ") : text);

type Child = Element | Text;

function blocks(parent: Element, writing: Writing): string[] {
  const written: string[] = [];
  let run: Child[] = [];
  const flush = () => {
    const text = tidy(run.map((node) => inline(node, writing)).join(""));
    if (text !== "") written.push(text);
    run = [];
  };
  for (const node of parent.childNodes as Child[]) {
    if (!isElement(node)) run.push(node);
    else if (SKIPPED.has(node.localName) || writing.isLeftOut?.(node)) continue;
    else if (isInline(node)) run.push(node);
    else {
      flush();
      written.push(...block(node, writing));
    }
  }
  flush();
  return written;
}

/** A link or a span around paragraphs is a block. */
function isInline(element: Element): boolean {
  if (!INLINE.has(element.localName)) return false;
  return element.children.every(isInline);
}

function block(element: Element, writing: Writing): string[] {
  const name = element.localName;
  const heading = /^h([1-6])$/.exec(name);
  if (heading !== null) {
    const text = tidy(inlineAll(element, writing)).replaceAll("\n", " ");
    return text === "" ? [] : [`${"#".repeat(Number(heading[1]))} ${text}`];
  }
  switch (name) {
    case "hr":
      return ["---"];
    case "pre":
      return preformatted(element);
    case "blockquote":
      return prefixed(blocks(element, writing), "> ");
    case "ul":
    case "ol":
    case "menu":
      return list(element, writing);
    case "li":
      return prefixedItem(element, "- ", writing);
    case "dt": {
      const text = tidy(inlineAll(element, writing));
      return text === "" ? [] : [`**${text}**`];
    }
    case "table":
      return table(element, writing);
    default:
      return blocks(element, writing);
  }
}

function prefixed(written: readonly string[], prefix: string): string[] {
  if (written.length === 0) return [];
  return [
    written
      .join("\n\n")
      .split("\n")
      .map((line) => (prefix + line).trimEnd())
      .join("\n"),
  ];
}

function list(element: Element, writing: Writing): string[] {
  let number = Number.parseInt(element.getAttribute("start") ?? "1", 10) || 1;
  const items = element.children.flatMap((child) => {
    if (writing.isLeftOut?.(child)) return [];
    // Lists within lists are sometimes put beside the item that they belong to.
    if (child.localName === "ul" || child.localName === "ol") return prefixed(list(child, writing), "  ");
    return prefixedItem(child, element.localName === "ol" ? `${number++}. ` : "- ", writing);
  });
  return items.length === 0 ? [] : [items.join("\n")];
}

function prefixedItem(element: Element, mark: string, writing: Writing): string[] {
  const parts = blocks(element, writing);
  if (parts.length === 0) return [];
  const indent = " ".repeat(mark.length);
  const isTight = parts.every((part, at) => at === 0 || /^\s*(-|\d+\.) /.test(part));
  const [first = "", ...rest] = parts.join(isTight ? "\n" : "\n\n").split("\n");
  return [[mark + first, ...rest.map((line) => (line === "" ? "" : indent + line))].join("\n")];
}

function preformatted(element: Element): string[] {
  const code = raw(element).replace(/^\n+|\s+$/g, "");
  if (code === "") return [];
  const named = [element, ...element.getElementsByTagName("code"), element.parentNode]
    .map(
      (part) =>
        /(?:^|\s)(?:lang(?:uage)?|highlight-source|brush:?)-?\s?([\w+#-]+)/.exec(part?.className ?? "")?.[1],
    )
    .find((language) => language !== undefined);
  const fence = "`".repeat(Math.max(3, longestRun(code) + 1));
  return [`${fence}${named ?? ""}\n${code}\n${fence}`];
}

function raw(element: Element): string {
  return (element.childNodes as Child[])
    .map((node) => (isElement(node) ? (node.localName === "br" ? "\n" : raw(node)) : node.textContent))
    .join("");
}

function longestRun(code: string): number {
  return Math.max(0, ...(code.match(/`+/g) ?? []).slice(0, 1000).map(({ length }) => length));
}

function table(element: Element, writing: Writing): string[] {
  const caption = element.children.find(({ localName }) => localName === "caption");
  const rows = rowsOf(element);
  const title = caption === undefined ? "" : tidy(inlineAll(caption, writing));
  const cells = rows.slice(0, MAX_ROWS).map((row) => row.children.filter(isCell).slice(0, MAX_COLUMNS));
  const width = Math.max(0, ...cells.map(({ length }) => length));
  const isLayout = width < 2 || element.querySelectorAll("table,ul,ol,pre,h1,h2,h3,h4").length > 0;
  if (isLayout)
    return [...(title === "" ? [] : [title]), ...cells.flat().flatMap((cell) => blocks(cell, writing))];
  const lines = grid(cells, writing);
  const columns = Math.min(MAX_COLUMNS, Math.max(...lines.map(({ length }) => length)));
  const write = (line: readonly string[]) =>
    `| ${Array.from({ length: columns }, (_, at) => line[at] ?? "").join(" | ")} |`;
  const [first = [], ...rest] = lines;
  const hasHead =
    cells[0]?.every(({ localName }) => localName === "th") === true ||
    rows[0]?.parentNode?.localName === "thead";
  const head = hasHead ? first : [];
  const body = hasHead ? rest : lines;
  const left = rows.length - cells.length;
  return [
    ...(title === "" ? [] : [title]),
    [write(head), `|${" --- |".repeat(columns)}`, ...body.map(write)].join("\n"),
    ...(left > 0 ? [`(${left} more rows)`] : []),
  ];
}

const isCell = ({ localName }: Element) => localName === "td" || localName === "th";

/** Its own rows, not those of a table in one of its cells. */
function rowsOf(table: Element): Element[] {
  return table.children.flatMap((child) =>
    child.localName === "tr" ? [child] : /^t(head|body|foot)$/.test(child.localName) ? rowsOf(child) : [],
  );
}

/** A cell over several rows is repeated in each, one over several columns is followed by empty ones. */
function grid(rows: readonly (readonly Element[])[], writing: Writing): string[][] {
  const hanging: { text: string; rows: number }[] = [];
  return rows.map((cells) => {
    const line: string[] = [];
    const hang = () => {
      for (
        let above = hanging[line.length];
        above !== undefined && above.rows > 0;
        above = hanging[line.length]
      ) {
        above.rows--;
        line.push(above.text);
      }
    };
    for (const cell of cells) {
      hang();
      if (line.length >= MAX_COLUMNS) break;
      const text = fold(blocks(cell, writing).join(" ")).trim().replaceAll("|", "\\|");
      const columns = Math.min(spanOf(cell, "colspan"), MAX_COLUMNS - line.length);
      for (let at = 0; at < columns; at++) {
        hanging[line.length] = { text: at === 0 ? text : "", rows: spanOf(cell, "rowspan") - 1 };
        line.push(at === 0 ? text : "");
      }
    }
    hang();
    return line;
  });
}

function spanOf(cell: Element, name: string): number {
  const span = Number.parseInt(cell.getAttribute(name) ?? "1", 10);
  return Math.min(MAX_SPAN, Math.max(1, Number.isNaN(span) ? 1 : span));
}

function inlineAll(element: Element, writing: Writing): string {
  return (element.childNodes as Child[]).map((node) => inline(node, writing)).join("");
}

function inline(node: Child, writing: Writing): string {
  if (!isElement(node)) return fold(node.textContent);
  const name = node.localName;
  if (SKIPPED.has(name) || writing.isLeftOut?.(node)) return "";
  switch (name) {
    case "br":
      return "\n";
    case "img": {
      // Its address would be loaded by whoever shows the text; its words are all that a reader needs.
      const words = fold(node.getAttribute("alt") ?? "").trim();
      return words === "" ? "" : `[image: ${words}]`;
    }
    case "code":
    case "kbd":
    case "samp":
    case "tt": {
      const code = fold(node.textContent).trim();
      const tick = code.includes("`") ? "``" : "`";
      return code === "" ? "" : `${tick}${code}${tick}`;
    }
    case "a":
      return link(node, writing);
    case "strong":
    case "b":
      return around(inlineAll(node, writing), "**");
    case "em":
    case "i":
      return around(inlineAll(node, writing), "*");
    case "del":
    case "s":
    case "strike":
      return around(inlineAll(node, writing), "~~");
    case "q":
      return `"${inlineAll(node, writing)}"`;
    case "sup": {
      const text = inlineAll(node, writing).trim();
      return /^\d+$/.test(text) ? `^${text}` : text;
    }
    // The reading of a character stands in brackets behind it.
    case "rt":
      return `(${inlineAll(node, writing)})`;
    case "rp":
      return "";
    default:
      return inlineAll(node, writing);
  }
}

function link(element: Element, writing: Writing): string {
  const text = inlineAll(element, writing);
  const target = resolve(element.getAttribute("href") ?? "", writing.base);
  const words = text.trim().replace(/\s*\n\s*/g, " ");
  // The mark beside a heading that leads to itself.
  if (/^[¶#§🔗]?$/u.test(words)) return "";
  if (target === undefined) return text;
  // Brackets in pairs may stand in an address; it stays as the page has it wherever it can.
  const isPaired = target.split("(").length === target.split(")").length;
  const address = isPaired ? target : target.replaceAll("(", "%28").replaceAll(")", "%29");
  return outside(text, `[${words.replace(/[[\]]/g, "\\$&")}](${address})`);
}

function around(text: string, mark: string): string {
  const words = text.trim();
  if (words === "" || words.includes("\n") || words.startsWith(mark)) return text;
  return outside(text, mark + words + mark);
}

/** Blanks at the edges go outside the marks. */
function outside(text: string, marked: string): string {
  return (/^\s/.test(text) ? " " : "") + marked + (/\s$/.test(text) ? " " : "");
}

/** Line breaks of the page stay, other blanks are one; a link's brackets are not touched. */
function tidy(text: string): string {
  const lines = text
    .split("\n")
    .map((line) => (line.includes("  ") ? line.replace(/ {2,}/g, " ") : line).trim());
  return lines.filter((line) => line !== "").join("\n");
}
