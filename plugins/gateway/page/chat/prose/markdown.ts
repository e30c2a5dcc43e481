/** Turns model text into safe nodes: sanitised Markdown with coloured code and formulas. Nothing a model writes is trusted. */
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
  // Code and addresses contain no formulas.
  walkTokens(token) {
    if (token.type === "code" || token.type === "codespan") token.text = asWritten(token.text);
    else if (token.type === "link" || token.type === "image") token.href = asWritten(token.href);
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
  // The values of these are not addresses; all others are checked as addresses.
  ADD_URI_SAFE_ATTR: ["align", "start", "tabindex"],
  ALLOWED_URI_REGEXP: /^(https?|mailto):/i,
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
  const html = cutMarkdown(text.replace(/[\ue000\ue001]/g, "\ufffd"))
    .map(pieceToHtml)
    .join("");
  const nodes = DOMPurify.sanitize(html, ALLOWED);
  const hasFormulas = formulas.length > 0;
  if (hasFormulas) placeFormulas(nodes, draw);
  return { nodes, hasFormulas };
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
