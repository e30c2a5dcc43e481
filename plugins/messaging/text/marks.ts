/** How each service writes emphasis, links, code and the rest. What a model or a stranger wrote is escaped, never passed on as marks. */
import type { TextFormat } from "../services.ts";

export interface Marks {
  escape(text: string): string;
  strong(inner: string): string;
  emphasis(inner: string): string;
  deleted(inner: string): string;
  /** `text` is not escaped yet. */
  code(text: string): string;
  /** `text` is not escaped yet. */
  block(text: string, language: string): string;
  /** `isOther`: the words show another address, so that both have to be seen. */
  link(inner: string, address: string, isOther: boolean): string;
  heading(inner: string): string;
  quote(inner: string): string;
  readonly rule: string;
}

const html = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const PLAIN: Marks = {
  escape: (text) => text,
  strong: (inner) => inner,
  emphasis: (inner) => inner,
  deleted: (inner) => inner,
  code: (text) => text,
  block: (text) => text,
  link: (inner, address) => (inner === address ? inner : `${inner} (${address})`),
  heading: (inner) => inner,
  quote: (inner) => inner.replaceAll(/^/gm, "> "),
  rule: "---",
};

/** The HTML that Telegram understands. */
const TELEGRAM: Marks = {
  escape: html,
  strong: (inner) => `<b>${inner}</b>`,
  emphasis: (inner) => `<i>${inner}</i>`,
  deleted: (inner) => `<s>${inner}</s>`,
  code: (text) => `<code>${html(text)}</code>`,
  block: (text, language) =>
    /^[\w+#.-]{1,40}$/.test(language)
      ? `<pre><code class="language-${language}">${html(text)}</code></pre>`
      : `<pre>${html(text)}</pre>`,
  link: (inner, address, isOther) =>
    `<a href="${html(address)}">${inner}</a>${isOther ? ` (${html(address)})` : ""}`,
  heading: (inner) => `<b>${inner}</b>`,
  quote: (inner) => `<blockquote>${inner}</blockquote>`,
  rule: "———",
};

const slack = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const SLACK: Marks = {
  escape: slack,
  strong: (inner) => `*${inner}*`,
  emphasis: (inner) => `_${inner}_`,
  deleted: (inner) => `~${inner}~`,
  // A mark inside would end it.
  code: (text) => `\`${slack(text.replaceAll("`", "'"))}\``,
  block: (text) => `\`\`\`\n${slack(text.replaceAll("```", "'''"))}\n\`\`\``,
  link: (inner, address, isOther) =>
    `<${slack(address).replaceAll("|", "%7C")}|${inner.replaceAll("|", "¦")}>${isOther ? ` (${slack(address)})` : ""}`,
  heading: (inner) => `*${inner}*`,
  quote: (inner) => inner.replaceAll(/^/gm, "> "),
  rule: "———",
};

/** For the HTML half of a mail. */
export const MAIL_HTML: Marks = {
  ...TELEGRAM,
  strong: (inner) => `<strong>${inner}</strong>`,
  emphasis: (inner) => `<em>${inner}</em>`,
  block: (text) => `<pre>${html(text)}</pre>`,
  heading: (inner) => `<h3>${inner}</h3>`,
  rule: "<hr>",
};

export const MARKS: Readonly<Record<TextFormat, Marks>> = {
  plain: PLAIN,
  mail: PLAIN,
  telegram: TELEGRAM,
  slack: SLACK,
};

/** Escapes a stranger's words, so that none of them is a mark of Markdown. */
export const escapeMarkdown = (text: string): string => text.replaceAll(/[\\`*_~[\]<>#|]/g, "\\$&");
