/** Feeds: RSS, Atom and JSON Feed, as a list of their entries. */
import { Parser } from "htmlparser2";
import { resolve } from "./address.ts";
import { parseHtml } from "./html.ts";
import { fold } from "./markdown.ts";

const MAX_ENTRIES = 100;
const MAX_SUMMARY = 400;
const MAX_FIELD = 100_000;

export interface Feed {
  readonly title: string;
  readonly content: string;
}

interface Entry {
  title: string;
  link: string;
  date: string;
  summary: string;
}

/** In order of preference: the first that an entry has is its summary. */
const SUMMARIES = ["description", "summary", "content", "content:encoded"];
const DATES = ["pubdate", "published", "updated", "dc:date"];

export const isXmlFeed = (text: string): boolean =>
  /^[\s\S]{0,2000}?<(rss|feed|rdf:RDF)[\s>]/i.test(text) && !/^\s*<!doctype html/i.test(text);

export function readXmlFeed(xml: string, url: string): Feed {
  let title = "";
  const entries: Entry[] = [];
  let fields: Map<string, string> | undefined;
  const open: string[] = [];
  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        const name = tag.toLowerCase();
        open.push(name);
        if (name === "item" || name === "entry") fields = new Map();
        const isLink = name === "link" && attributes["href"] !== undefined;
        if (isLink && fields !== undefined && (attributes["rel"] ?? "alternate") === "alternate")
          fields.set("link", attributes["href"] ?? "");
      },
      ontext(text) {
        const name = open.at(-1) ?? "";
        if (fields === undefined) {
          if (name === "title" && open.length <= 3) title += text;
          return;
        }
        const before = fields.get(name) ?? "";
        if (before.length < MAX_FIELD) fields.set(name, before + text);
      },
      onclosetag(tag) {
        open.pop();
        const name = tag.toLowerCase();
        if ((name !== "item" && name !== "entry") || fields === undefined) return;
        if (entries.length <= MAX_ENTRIES) entries.push(toEntry(fields));
        fields = undefined;
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  return write(fold(title).trim(), entries, url);
}

function toEntry(fields: ReadonlyMap<string, string>): Entry {
  const first = (names: readonly string[]) =>
    names.map((name) => fields.get(name)?.trim() ?? "").find((value) => value !== "") ?? "";
  return {
    title: plain(fields.get("title") ?? ""),
    link: (fields.get("link") ?? fields.get("guid") ?? "").trim(),
    date: first(DATES),
    summary: plain(first(SUMMARIES)),
  };
}

export function isJsonFeed(value: unknown): value is JsonFeed {
  const version = (value as JsonFeed | null)?.version;
  return typeof version === "string" && version.startsWith("https://jsonfeed.org/version/");
}

interface JsonFeed {
  readonly version?: unknown;
  readonly title?: unknown;
  readonly items?: unknown;
}

export function readJsonFeed({ title, items }: JsonFeed, url: string): Feed {
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const entries = (Array.isArray(items) ? items : []).map((item: Record<string, unknown> | null): Entry => {
    const field = (name: string) => text(item?.[name]);
    return {
      title: plain(field("title")),
      link: field("url") || field("external_url"),
      date: field("date_published"),
      summary: plain(field("summary") || field("content_text") || field("content_html")),
    };
  });
  return write(plain(text(title)), entries, url);
}

function write(title: string, entries: readonly Entry[], url: string): Feed {
  const lines = entries.slice(0, MAX_ENTRIES).map((entry) => {
    const { date, summary } = entry;
    const name = entry.title || "untitled";
    const address = resolve(entry.link, url);
    const head = address === undefined ? name : `[${name.replace(/[[\]]/g, "\\$&")}](${address})`;
    return `- ${head}${date === "" ? "" : ` (${date})`}${summary === "" ? "" : `: ${summary}`}`;
  });
  const more = entries.length > MAX_ENTRIES ? ["", "There are more entries."] : [];
  return { title, content: [...lines, ...more].join("\n") };
}

/** Summaries hold HTML more often than not. */
function plain(text: string): string {
  const isMarkup = /<[a-z!/]|&[a-z#]/i.test(text);
  const words = fold(isMarkup ? parseHtml(text).body.textContent : text).trim();
  return words.length > MAX_SUMMARY ? `${words.slice(0, MAX_SUMMARY)}…` : words;
}
