/** Model text becomes safe nodes: Markdown, sanitised, with code coloured and formulas drawn. Nothing a model writes is trusted. */
import DOMPurify from "dompurify";
import { Marked, Renderer } from "marked";
import { cutMarkdown, type Piece } from "../../../../../kernel/text/markdown-cutting.ts";
import { knownColours } from "./colours.ts";
import { type Formula, replaceFormulas } from "./formulas.ts";

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

function codeToHtml(text: string, language: string): string {
  const { html, length } = knownColours({ text, language });
  const body = html + escapeHtml(text.slice(length));
  return `<figure class="code"><figcaption>${escapeHtml(language || "text")}</figcaption><pre tabindex="0"><code>${body}</code></pre></figure>`;
}

const marked = new Marked({
  gfm: true,
  breaks: true,
  // Neither code nor an address has formulas in it.
  walkTokens(token) {
    if (token.type === "code" || token.type === "codespan") token.text = asWritten(token.text);
    else if (token.type === "link" || token.type === "image") token.href = asWritten(token.href);
  },
  renderer: {
    code: ({ text, lang }) => codeToHtml(text, (lang ?? "").trim().split(/\s/)[0] ?? ""),
    // The page has its own first two levels.
    heading({ tokens, depth }) {
      const level = Math.min(levelsIn(depth) + 2, 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
    // One that is wider than the text scrolls, also by keyboard.
    table(token) {
      return `<div class="wide" tabindex="0">${Renderer.prototype.table.call(this, token)}</div>`;
    },
    // An image would tell its server that the text was read; its address is shown instead of loaded.
    image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
    html: ({ text }) => escapeHtml(text),
    checkbox: ({ checked }) =>
      `<span class="task" role="img" aria-label="${checked ? "done" : "to do"}">${checked ? "☑" : "☐"}</span> `,
  },
});

const BLOCKS = new Set("P UL OL LI BLOCKQUOTE H1 H2 H3 H4 H5 H6 TABLE TH TD".split(" "));

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  // Each block runs as its own words do.
  if (BLOCKS.has(node.tagName)) node.setAttribute("dir", "auto");
  if (node.tagName !== "A") return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});

const ALLOWED = {
  ALLOWED_TAGS: [
    ..."p br strong em del code pre a ul ol li blockquote hr h1 h2 h3 h4 h5 h6".split(" "),
    ..."div table thead tbody tr th td span figure figcaption".split(" "),
  ],
  ALLOWED_ATTR: ["href", "class", "align", "role", "start", "tabindex"],
  // Their values are no addresses, which all others have to be.
  ADD_URI_SAFE_ATTR: ["align", "start", "tabindex"],
  ALLOWED_URI_REGEXP: /^(https?|mailto):/i,
  RETURN_DOM_FRAGMENT: true as const,
};

/** Code with colours as nodes: spans and nothing else. */
export const toSpans = (html: string): DocumentFragment =>
  DOMPurify.sanitize(html, { ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"], RETURN_DOM_FRAGMENT: true });

let above: number[] = [];

/** How deep a heading is below the others of its text: a reader who goes from one to the next finds no level left out. */
function levelsIn(depth: number): number {
  while ((above.at(-1) ?? 0) >= depth) above.pop();
  return above.push(depth);
}

/** Draws a formula; undefined where it cannot. */
export type Draw = (formula: Formula) => Element | undefined;

let formulas: Formula[] = [];

/** Stands for a formula, by its number, until the text has been read and sanitised: none of it is read as Markdown or HTML. */
const PLACE = /\ue000(\d+)\ue001/g;

/** The text as nodes. `draw` is asked for each formula in it; without it they stay as they were written. */
export function toNodes(
  text: string,
  draw?: Draw,
): { readonly nodes: DocumentFragment; readonly hasFormulas: boolean } {
  above = [];
  formulas = [];
  const html = cutMarkdown(text.replace(/[\ue000\ue001]/g, "\ufffd"))
    .map(pieceToHtml)
    .join("");
  const nodes = DOMPurify.sanitize(html, ALLOWED);
  const hasFormulas = formulas.length > 0;
  if (hasFormulas) placeFormulas(nodes, draw);
  return { nodes, hasFormulas };
}

/** In text only: one that landed in an address stays out of it. */
function placeFormulas(nodes: DocumentFragment, draw: Draw | undefined): void {
  const walker = document.createTreeWalker(nodes, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  for (const node of texts) {
    // Between the places are the formulas' numbers.
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
