/** The text of an HTML page, of a chapter of an EPUB or of a mail: what a browser would show of it. */
import { decoderOf } from "./archive.ts";
import { createFlow, type Flow } from "./flow.ts";
import { createParser, type Tags, without } from "./markup.ts";
import type { Passages } from "./passages.ts";

const HIDDEN: ReadonlySet<string> = new Set([
  ...["canvas", "head", "noscript", "object", "script", "style", "svg", "template", "title"],
]);
const BLOCKS: ReadonlySet<string> = new Set([
  ...["address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl"],
  ...["dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "li", "main"],
  ...["nav", "ol", "p", "pre", "section", "summary", "table", "ul"],
]);
const HEADING = /^h[1-6]$/;
const NOT_SHOWN = /(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)/i;

export function htmlTags(flow: Flow): Tags {
  let preformatted = 0;
  let mark = "";
  const block = () => {
    flow.paragraph(mark);
    mark = "";
  };
  const isHidden: Parameters<typeof without>[0] = (name, attribute) =>
    HIDDEN.has(name) || attribute("hidden") !== undefined || NOT_SHOWN.test(attribute("style") ?? "");
  return without(isHidden, {
    open(name) {
      if (name === "tr") flow.openRow();
      else if (name === "br") flow.write("\n");
      else if (BLOCKS.has(name) || HEADING.test(name)) block();
      if (name === "li") mark = "- ";
      if (name === "pre") preformatted++;
    },
    text(text) {
      flow.write(preformatted > 0 ? text : text.replaceAll(/\s+/g, " "));
    },
    close(name) {
      if (name === "pre") preformatted--;
      if (name === "td" || name === "th") flow.endCell();
      else if (name === "tr") flow.endRow();
      else if (HEADING.test(name)) flow.heading(Number(name[1]));
      else if (BLOCKS.has(name)) block();
    },
  });
}

const CHUNK_BYTES = 64 * 1024;

/** `decode`: how its bytes become text, where the page itself is not to be asked. */
export function readHtml(data: Uint8Array, passages: Passages, decode = decoderOf(data)): void {
  const flow = createFlow(passages);
  const parser = createParser(htmlTags(flow), true);
  for (let at = 0; at < data.length; at += CHUNK_BYTES)
    parser.write(decode(data.subarray(at, at + CHUNK_BYTES)));
  parser.end(decode());
  flow.end();
}
