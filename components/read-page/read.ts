/** From a server's response to what the model reads: decides what kind of thing was sent, and reads it. */
import { hostOf } from "./address.ts";
import { readArticle } from "./article.ts";
import { decode } from "./charset.ts";
import { isJsonFeed, isXmlFeed, readJsonFeed, readXmlFeed } from "./feed.ts";
import type { Params } from "./params.ts";
import { find, paginate } from "./passages.ts";
import { PDF_AS_TEXT, readPdf } from "./pdf.ts";

export interface Received {
  readonly status: number;
  /** The final address, after redirects. */
  readonly url: string;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** An error for the model: what was there in place of a text. */
export class Refusal extends Error {}

interface Extract {
  readonly kind: "page" | "feed" | "json" | "pdf" | "text";
  readonly title: string;
  readonly content: string;
  readonly author?: string;
  readonly published?: string;
  readonly language?: string;
  readonly site?: string;
  readonly notes?: readonly string[];
}

/** The output; `sources` is how a tool says what an answer rests on. */
export interface Output extends Omit<Extract, "notes"> {
  readonly url: string;
  readonly page: number;
  readonly pages: number;
  readonly note?: string;
  readonly sources: readonly [{ readonly url: string; readonly title: string }];
}

export function read(received: Received, params: Params): Output {
  const { notes = [], content, ...about } = interpret(received);
  const title = about.title || hostOf(received.url);
  const pages = paginate(content);
  const { shown, page, said } = select(content, pages, params);
  const note = [...notes, ...said].join(" ");
  return {
    ...about,
    url: received.url,
    title,
    page,
    pages: pages.length,
    ...(note !== "" && { note }),
    content: shown,
    sources: [{ url: received.url, title }],
  };
}

function select(content: string, pages: readonly string[], { page = 1, find: words }: Params) {
  if (words !== undefined) {
    const passages = find(content, words);
    if (passages.length > 0) {
      const said = [`Only the passages with "${words}" are shown.`];
      return { shown: passages.join("\n\n"), page: 1, said };
    }
  }
  const shown = pages[page - 1];
  if (shown === undefined)
    throw new Refusal(
      `There is no page ${page}: the text has ${pages.length === 1 ? "one page" : `${pages.length} pages`}.`,
    );
  const said = [
    ...(words === undefined ? [] : [`The words "${words}" do not occur; this is the text from the start.`]),
    ...(page < pages.length ? [`It goes on: ask for page ${page + 1}.`] : []),
  ];
  return { shown, page, said };
}

function interpret(received: Received): Extract {
  const { status, url, body } = received;
  const type = received.contentType.toLowerCase().split(";")[0]?.trim() ?? "";
  const isFound = status >= 200 && status <= 299;
  if (isFound && body.byteLength === 0) throw new Refusal(`${hostOf(url)} sent an empty response.`);
  if (isFound && type === PDF_AS_TEXT) return readDocument(new TextDecoder().decode(body));
  const binary = isFound ? recognise(body, type) : undefined;
  if (binary !== undefined)
    throw new Refusal(`The address leads to ${binary} of ${size(body)}, which is not read here.`);
  const text = decode(body, received.contentType);
  if (!isFound) throw new Refusal(failure(received, type, text));
  if (type === "application/json" || type.endsWith("+json")) return readJson(text, url);
  if (isXmlFeed(text)) return { kind: "feed", ...readXmlFeed(text, url) };
  if (isHtml(type, text)) return readHtml(text, url);
  if (type === "" && /^\s*[[{]/.test(text)) return readJson(text, url);
  return { kind: "text", title: "", content: text.replaceAll("\r\n", "\n").trim() };
}

function readHtml(text: string, url: string): Extract {
  const { obstacle, ...article } = readArticle(text, url);
  if (obstacle !== undefined)
    throw new Refusal(`${article.title === "" ? "" : `"${article.title}": `}${obstacle}`);
  if (article.content === "")
    throw new Refusal(`The page ${article.title === "" ? "" : `"${article.title}" `}has no text.`);
  return { kind: "page", ...article };
}

function readDocument(text: string): Extract {
  const { obstacle, ...document } = readPdf(text);
  if (obstacle !== undefined) throw new Refusal(`The PDF document ${obstacle}.`);
  return { kind: "pdf", ...document };
}

function readJson(text: string, url: string): Extract {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "text", title: "", content: text.trim(), notes: ["It says it is JSON, but it is not."] };
  }
  if (isJsonFeed(value)) return { kind: "feed", ...readJsonFeed(value, url) };
  return { kind: "json", title: "", content: JSON.stringify(value, undefined, 2) };
}

const isHtml = (type: string, text: string): boolean =>
  type === "text/html" ||
  type === "application/xhtml+xml" ||
  ((type === "" || type === "application/octet-stream" || type.endsWith("xml")) &&
    /^\s*(<!--[\s\S]*?-->\s*)*<(!doctype html|html|head|body)\b/i.test(text.slice(0, 2000)));

/** The page that comes with an error often says more than its number. */
function failure({ status, url }: Received, type: string, text: string): string {
  const page = isHtml(type, text) ? readArticle(text, url) : undefined;
  const said = page?.obstacle ?? page?.title ?? "";
  return `${hostOf(url)} answered with status ${status}${STATUSES[status] ?? ""}${said === "" ? "." : `: ${said}`}`;
}

const STATUSES: Readonly<Record<number, string>> = {
  401: " (a login is needed)",
  403: " (it refuses this reader)",
  404: " (there is no such page)",
  410: " (the page is gone)",
  429: " (too many requests: wait before you ask again)",
  451: " (withheld for legal reasons)",
  503: " (the site is not available now)",
};

/** By the first bytes, which servers get wrong less often than the type. */
const SIGNATURES: readonly (readonly [start: string, what: string])[] = [
  ["%PDF-", "a PDF document"],
  ["PK\u0003\u0004", "an archive or an office document (ZIP)"],
  ["\u001f\u008b", "an archive (gzip)"],
  ["7z\u00bc\u00af", "an archive (7z)"],
  ["Rar!", "an archive (RAR)"],
  ["\u0089PNG", "a picture (PNG)"],
  ["\u00ff\u00d8\u00ff", "a picture (JPEG)"],
  ["GIF8", "a picture (GIF)"],
  ["\u007fELF", "a program"],
  ["MZ\u0090", "a program"],
  ["\u0000asm", "a program (WebAssembly)"],
];

const MEDIA: Readonly<Record<string, string>> = {
  image: "a picture",
  audio: "a recording",
  video: "a film",
  font: "a font",
};

function recognise(body: Uint8Array, type: string): string | undefined {
  const start = String.fromCharCode(...body.subarray(0, 8));
  const known = SIGNATURES.find(([signature]) => start.startsWith(signature))?.[1];
  if (known !== undefined) return known;
  const media = type === "image/svg+xml" ? "a picture (SVG)" : MEDIA[type.split("/")[0] ?? ""];
  if (media !== undefined) return media;
  // Text in an encoding of two bytes has zeros too, but says so in its first two.
  const isWide = /^(\u00ff\u00fe|\u00fe\u00ff)/.test(start);
  return !isWide && body.subarray(0, 1024).includes(0) ? "a file that is not text" : undefined;
}

function size({ byteLength }: Uint8Array): string {
  return byteLength < 1e6 ? `${Math.ceil(byteLength / 1e3)} kB` : `${(byteLength / 1e6).toFixed(1)} MB`;
}
