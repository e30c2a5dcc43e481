/** Turns model text into safe nodes: sanitised Markdown with coloured code and formulas. Nothing a model writes is trusted. */

import DOMPurify from "dompurify";
import { Marked, Renderer } from "marked";
import {
  cutMarkdown,
  filePathOf,
  type Piece,
  showsOtherAddress,
  visibleLine,
} from "../../../../kernel/kit/text.ts";
import { filesLink } from "../../state/files.ts";
import { knownColours } from "./colours.ts";
import { type Formula, replaceFormulas } from "./formulas.ts";

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

function codeToHtml(text: string, language: string): string {
  if (language === "mermaid") return diagramToHtml(text);
  const { html, length } = knownColours({ text, language });
  const body = isDiff(language) ? diffToHtml(text) : html + escapeHtml(text.slice(length));
  return `<figure class="code"><figcaption>${escapeHtml(language || "text")}</figcaption><pre tabindex="0"><code>${body}</code></pre></figure>`;
}

export const isDiff = (language: string): boolean => language === "diff" || language === "patch";

const DIFF_LINES = [
  [/^(?:diff |index |\+\+\+|---|@@)/, "where"],
  [/^\+/, "new"],
  [/^-/, "old"],
] as const;

/** Each line keeps its sign, so that colour is not needed to read it. */
function diffToHtml(text: string): string {
  return text
    .split("\n")
    .map((line) => {
      const [, kind = "same"] = DIFF_LINES.find(([pattern]) => pattern.test(line)) ?? [];
      return `<span class="line ${kind}">${escapeHtml(line)}\n</span>`;
    })
    .join("");
}

/** Its place has one height from the first line on, so that nothing moves when it is drawn. */
const diagramToHtml = (text: string): string =>
  `<figure class="diagram"><pre tabindex="0"><code>${escapeHtml(text)}</code></pre></figure>`;

/** Longer labels are no footnotes. */
const NOTE = /^\[\^([^\s[\]]{1,64})\]/;
const DEFINITION = /^ {0,3}\[\^([^\s[\]]{1,64})\]:[ \t]*([^\n]*(?:\n(?: {2,}|\t)[^\n]+)*)(?:\n|$)/;
const MAX_NOTES = 200;

/** The notes of the text that is being rendered: their words as HTML, and the labels that refer to them in the order of their numbers. */
let notes = { defined: new Set<string>(), words: new Map<string, string>(), labels: [] as string[] };

function definedIn(pieces: readonly Piece[]): ReadonlySet<string> & Set<string> {
  const labels = pieces.flatMap(({ type, raw }) =>
    type === "markdown"
      ? [...raw.matchAll(/^ {0,3}\[\^([^\s[\]]{1,64})\]:/gm)].map(([, label = ""]) => label)
      : [],
  );
  return new Set(labels.slice(0, MAX_NOTES));
}

function numberOf(label: string): number {
  const at = notes.labels.indexOf(label);
  return at < 0 ? notes.labels.push(label) : at + 1;
}

const marked = new Marked({
  extensions: [
    {
      name: "note",
      level: "inline",
      start: (source) => source.indexOf("[^"),
      tokenizer(source) {
        const [raw, label = ""] = NOTE.exec(source) ?? [];
        return raw !== undefined && notes.defined.has(label) ? { type: "note", raw, label } : undefined;
      },
      renderer: ({ label }) => `<sup class="note-mark">${numberOf(label)}</sup>`,
    },
    {
      name: "definition",
      level: "block",
      tokenizer(source) {
        const [raw, label = "", words = ""] = DEFINITION.exec(source) ?? [];
        if (raw === undefined || !notes.defined.has(label)) return undefined;
        return {
          type: "definition",
          raw,
          label,
          tokens: this.lexer.inlineTokens(words.replace(/\n\s+/g, "\n")),
        };
      },
      renderer({ label, tokens = [] }) {
        if (!notes.words.has(label)) notes.words.set(label, this.parser.parseInline(tokens));
        return "";
      },
      childTokens: ["tokens"],
    },
  ],
  gfm: true,
  breaks: true,
  // Code and addresses contain no formulas.
  walkTokens(token) {
    if (token.type === "code" || token.type === "codespan") token.text = asWritten(token.text);
    else if (token.type === "link" || token.type === "image") {
      const href = asWritten(token.href);
      const path = filePathOf(href);
      token.href = path === undefined ? href : filesLink(path);
    }
  },
  renderer: {
    code: ({ text, lang }) => codeToHtml(text, (lang ?? "").trim().split(/\s/)[0] ?? ""),
    // The page itself uses the first two levels.
    heading({ tokens, depth }) {
      const level = Math.min(levelsIn(depth) + 2, 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
    // A wide table scrolls, also by keyboard.
    table(token) {
      return `<div class="wide" tabindex="0">${Renderer.prototype.table.call(this, token)}</div>`;
    },
    // Loading an image would tell its server that the text was read, so it is a link.
    image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
    html: ({ text }) => escapeHtml(text),
    checkbox: ({ checked }) =>
      `<span class="task" role="img" aria-label="${checked ? "done" : "to do"}">${checked ? "☑" : "☐"}</span> `,
  },
});

const BLOCKS = new Set("P UL OL LI BLOCKQUOTE H1 H2 H3 H4 H5 H6 TABLE TH TD".split(" "));

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  // Each block gets the text direction of its own words.
  if (BLOCKS.has(node.tagName)) node.setAttribute("dir", "auto");
  if (node.tagName !== "A" || node.getAttribute("href")?.startsWith("#")) return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
  showTarget(node);
});

/** The words of a link may say one place while it leads to another: its address is shown, and its host beside it. */
function showTarget(link: Element): void {
  const address = link.getAttribute("href");
  if (address === null) return;
  link.setAttribute("title", visibleLine(address));
  const { host = "", pathname = "" } = URL.parse(address) ?? {};
  const words = link.textContent;
  if (showsOtherAddress(words, address) || !words.includes(host))
    link.setAttribute("data-host", host || pathname);
}

const ALLOWED = {
  ALLOWED_TAGS: [
    ..."p br strong em del code pre a ul ol li blockquote hr h1 h2 h3 h4 h5 h6".split(" "),
    ..."div table thead tbody tr th td span figure figcaption sup".split(" "),
  ],
  ALLOWED_ATTR: ["href", "class", "align", "role", "start", "tabindex"],
  // The values of these are not addresses; all others are checked as addresses.
  ADD_URI_SAFE_ATTR: ["align", "start", "tabindex"],
  ALLOWED_URI_REGEXP: /^(?:(?:https?|mailto):|#\/files\/)/i,
  RETURN_DOM_FRAGMENT: true as const,
};

/** Returns coloured code as nodes, with no elements but spans. */
export const toSpans = (html: string): DocumentFragment =>
  DOMPurify.sanitize(html, { ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"], RETURN_DOM_FRAGMENT: true });

let above: number[] = [];

/** Returns the level of a heading among the others of its text, without gaps between levels. */
function levelsIn(depth: number): number {
  while ((above.at(-1) ?? 0) >= depth) above.pop();
  return above.push(depth);
}

/** Draws a formula, or returns undefined if it is invalid. */
export type Draw = (formula: Formula) => Element | undefined;

let formulas: Formula[] = [];

/** A placeholder for a formula, by its number, so that the formula is not parsed as Markdown or HTML. */
const PLACE = /\ue000(\d+)\ue001/g;

/** Returns the text as nodes. Without `draw`, formulas are shown as written. */
export function toNodes(
  text: string,
  draw?: Draw,
): { readonly nodes: DocumentFragment; readonly hasFormulas: boolean } {
  above = [];
  formulas = [];
  const pieces = cutMarkdown(text.replace(/[\ue000\ue001]/g, "\ufffd"));
  notes = { defined: definedIn(pieces), words: new Map(), labels: [] };
  const html = pieces.map(pieceToHtml).join("");
  const nodes = DOMPurify.sanitize(html + notesToHtml(), ALLOWED);
  const hasFormulas = formulas.length > 0;
  if (hasFormulas) placeFormulas(nodes, draw);
  return { nodes, hasFormulas };
}

/** The notes that the text refers to, in the order of their numbers. */
function notesToHtml(): string {
  if (notes.labels.length === 0) return "";
  const items = notes.labels.map((label) => `<li>${notes.words.get(label) ?? ""}</li>`);
  return `<div class="notes"><ol>${items.join("")}</ol></div>`;
}

/** Replaces placeholders in text nodes only, never in attributes. */
function placeFormulas(nodes: DocumentFragment, draw: Draw | undefined): void {
  const walker = document.createTreeWalker(nodes, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  for (const node of texts) {
    // Every second part is the number of a formula.
    const parts = node.data.split(PLACE).map((part, at): Node | string => {
      const formula = at % 2 === 1 ? formulas[Number(part)] : undefined;
      if (formula === undefined) return part;
      return draw?.(formula) ?? formula.raw;
    });
    if (parts.length > 1) node.replaceWith(...parts);
  }
}

const take = (formula: Formula) => `\ue000${formulas.push(formula) - 1}\ue001`;
const asWritten = (text: string) => text.replace(PLACE, (place, at) => formulas[Number(at)]?.raw ?? place);

function pieceToHtml(piece: Piece): string {
  if (piece.type === "markdown") return marked.parse(replaceFormulas(piece.raw, take), { async: false });
  if (piece.type === "plain") return `<p>${escapeHtml(piece.raw.trim()).replaceAll("\n", "<br>")}</p>`;
  return codeToHtml(piece.text, piece.language);
}
