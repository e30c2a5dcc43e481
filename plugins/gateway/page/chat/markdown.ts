/** Model text becomes safe HTML: Markdown, sanitised, with code coloured. Nothing a model writes is trusted. */
import DOMPurify from "dompurify";
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import go from "highlight.js/lib/languages/go";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { Marked, Renderer } from "marked";
import { cutMarkdown, type Piece } from "../../../../kernel/mask/markup.ts";

const LANGUAGES = { bash, css, go, javascript, json, markdown, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** Colouring takes more than linear time for some texts, and nobody reads code of this length in a chat. */
const LONGEST_COLOURED = 20_000;

function codeToHtml(text: string, language: string): string {
  const isColoured = text.length <= LONGEST_COLOURED && hljs.getLanguage(language) !== undefined;
  const body = isColoured ? hljs.highlight(text, { language }).value : escapeHtml(text);
  return `<figure class="code"><figcaption>${escapeHtml(language || "text")}</figcaption><pre tabindex="0"><code>${body}</code></pre></figure>`;
}

const marked = new Marked({
  gfm: true,
  breaks: true,
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

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
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
};

let above: number[] = [];

/** How deep a heading is below the others of its text: a reader who goes from one to the next finds no level left out. */
function levelsIn(depth: number): number {
  while ((above.at(-1) ?? 0) >= depth) above.pop();
  return above.push(depth);
}

export function toHtml(text: string): string {
  above = [];
  return DOMPurify.sanitize(cutMarkdown(text).map(pieceToHtml).join(""), ALLOWED);
}

function pieceToHtml(piece: Piece): string {
  if (piece.type === "markdown") return marked.parse(piece.raw, { async: false });
  if (piece.type === "plain") return `<p>${escapeHtml(piece.raw.trim()).replaceAll("\n", "<br>")}</p>`;
  return codeToHtml(piece.text, piece.language);
}
