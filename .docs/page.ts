/** One document: its title, its headings' anchors as GitHub makes them, and its HTML. */
import hljs from "highlight.js/lib/common";
import { Marked, type Token, type Tokens } from "marked";

export interface Page {
  readonly title: string;
  readonly anchors: ReadonlySet<string>;
  toHtml(resolve: (link: string) => string): string;
}

export const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const slugOf = (words: string) =>
  words
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");

const isHeading = (token: Token): token is Tokens.Heading => token.type === "heading";

export function readPage(text: string): Page {
  const tokens = new Marked().lexer(text);
  const headings = tokens.filter(isHeading);
  const seen = new Map<string, number>();
  const anchors = headings.map((heading) => {
    const slug = slugOf(wordsOf(heading.tokens));
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before}`;
  });
  return {
    title: wordsOf(headings[0]?.tokens ?? []),
    anchors: new Set(anchors),
    toHtml(resolve) {
      const left = [...anchors];
      const marked = new Marked({
        gfm: true,
        renderer: {
          heading({ tokens: inner, depth }) {
            return `<h${depth} id="${left.shift()}">${this.parser.parseInline(inner)}</h${depth}>\n`;
          },
          code({ text: code, lang = "" }) {
            const language = lang.split(/\s/)[0] ?? "";
            const isKnown = hljs.getLanguage(language) !== undefined;
            const body = isKnown ? hljs.highlight(code, { language }).value : escapeHtml(code);
            return `<pre tabindex="0"><code>${body}</code></pre>\n`;
          },
          table(token) {
            const row = (cells: readonly Tokens.TableCell[], tag: string) =>
              `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("")}</tr>`;
            const body = token.rows.map((cells) => row(cells, "td")).join("\n");
            return `<div class="wide" tabindex="0"><table><thead>${row(token.header, "th")}</thead><tbody>${body}</tbody></table></div>\n`;
          },
          link({ href, tokens: inner }) {
            return `<a href="${escapeHtml(resolve(href))}">${this.parser.parseInline(inner)}</a>`;
          },
          image: ({ href, text: words }) =>
            `<img src="${escapeHtml(resolve(href))}" alt="${escapeHtml(words)}">`,
          // Only comments, which mark what a script writes.
          html: () => "",
        },
      });
      return marked.parse(text, { async: false });
    },
  };
}

/** Returns the text that a reader sees. */
function wordsOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) =>
      "tokens" in token && token.tokens ? wordsOf(token.tokens) : "text" in token ? token.text : "",
    )
    .join("");
}
