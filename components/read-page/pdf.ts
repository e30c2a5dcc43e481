/** The text of a PDF document, page by page. Nothing in it runs, and pictures are not read. */
import { Characters, type Dict, PdfFile, type Value } from "./pdf-file.ts";
import { wide } from "./pdf-font.ts";
import { PageReader } from "./pdf-text.ts";

const MAX_PAGES = 2_000;
const MAX_TREE = 20_000;
const MAX_TEXT = 1 << 20;
/** A file can be made whose every step is slow. What was read until then is better than nothing at all. */
const MAX_MS = 20_000;
/** The work that is done between two looks at the clock. */
const CLOCK_STEPS = 1_000;
const MAX_UNKNOWN_SHARE = 0.2;

export interface PdfDocument {
  readonly title: string;
  readonly author?: string;
  readonly published?: string;
  readonly language?: string;
  readonly content: string;
  readonly notes: readonly string[];
  /** Why there is no text: the rest of a sentence about the document. */
  readonly obstacle?: string;
}

interface Page {
  readonly contents: readonly Value[];
  readonly resources: Dict | undefined;
}

export function readPdf(bytes: Uint8Array, now: () => number = Date.now): PdfDocument {
  const began = now();
  let steps = 0;
  let isLate = false;
  const isInTime = (more = 1) => {
    steps += more;
    if (steps >= CLOCK_STEPS) {
      steps = 0;
      isLate ||= now() - began > MAX_MS;
    }
    return !isLate;
  };
  const file = new PdfFile(bytes, isInTime);
  if (file.isEncrypted) return nothing("is protected by a password or against copying, and cannot be read");
  const catalog = file.fromTrailer("/Root") ?? file.findType("/Catalog");
  const pages = pagesOf(file, catalog?.get("/Pages"));
  if (pages.length === 0) return nothing(isLate || file.isCut ? TOO_LARGE : "cannot be read: it is damaged");
  const mayGoOn = (more?: number) => isInTime(more) && !file.isCut;
  const reader = new PageReader(file, mayGoOn);
  const written: string[] = [];
  let length = 0;
  let read = 0;
  for (const { contents, resources } of pages) {
    if (length > MAX_TEXT || !mayGoOn()) break;
    const text = reader.read(contents, resources);
    read++;
    if (text === "") continue;
    length += text.length;
    written.push(`[Page ${read}]\n\n${text}`);
  }
  const isCut = read < pages.length || pages.length >= MAX_PAGES || !mayGoOn();
  if (written.length === 0)
    return nothing(
      reader.unknown > 0
        ? "cannot be read: its fonts do not say which letters they draw"
        : isCut
          ? TOO_LARGE
          : "has no text: its pages are probably pictures",
    );
  const info = file.fromTrailer("/Info");
  const about = (name: string) => textOf(file.resolve(info?.get(name)));
  const language = textOf(file.resolve(catalog?.get("/Lang")));
  return {
    title: about("/Title"),
    ...some("author", about("/Author")),
    ...some("published", dateOf(about("/CreationDate"))),
    ...some("language", language),
    content: written.join("\n\n"),
    notes: [
      ...(isCut ? [`The document is too large: only its first ${read} pages were read.`] : []),
      ...(reader.unknown > reader.drawn * MAX_UNKNOWN_SHARE
        ? ["A part of its text cannot be read: a font does not say which letters it draws."]
        : []),
    ],
  };
}

const TOO_LARGE = "is too large to be read";

const nothing = (obstacle: string): PdfDocument => ({ title: "", content: "", notes: [], obstacle });

function some<Name extends string>(name: Name, value: string): { [key in Name]?: string } {
  return value === "" ? {} : ({ [name]: value } as { [key in Name]?: string });
}

/** In their order; what a page does not say of itself, the one above it says. */
function pagesOf(file: PdfFile, root: Value | undefined): Page[] {
  const pages: Page[] = [];
  const seen = new Set<Dict>();
  const open: { node: Value | undefined; resources: Dict | undefined }[] = [
    { node: root, resources: undefined },
  ];
  for (let next = open.pop(); next !== undefined && pages.length < MAX_PAGES; next = open.pop()) {
    const dict = file.dict(next.node);
    if (dict === undefined || seen.has(dict) || seen.size >= MAX_TREE) continue;
    seen.add(dict);
    const resources = file.dict(dict.get("/Resources")) ?? next.resources;
    const kids = file.list(dict.get("/Kids"));
    for (const node of kids.slice(0, MAX_TREE).toReversed()) open.push({ node, resources });
    if (kids.length > 0 || dict.get("/Type") === "/Pages") continue;
    const contents = file.resolve(dict.get("/Contents"));
    pages.push({ contents: Array.isArray(contents) ? contents : [contents ?? null], resources });
  }
  return pages;
}

function textOf(value: Value | undefined): string {
  if (!(value instanceof Characters)) return "";
  const { bytes } = value;
  const text = bytes.startsWith("\u00fe\u00ff")
    ? wide(bytes.slice(2))
    : bytes.startsWith("\u00ef\u00bb\u00bf")
      ? new TextDecoder().decode(Uint8Array.from(bytes.slice(3), (byte) => byte.charCodeAt(0)))
      : bytes;
  return text
    .replace(/[\s\0]+/g, " ")
    .trim()
    .slice(0, 200);
}

/** "D:20240131120000+01'00'" */
function dateOf(written: string): string {
  const [, year, month = "01", day = "01"] = /^D:(\d{4})(\d{2})?(\d{2})?/.exec(written) ?? [];
  return year === undefined ? "" : `${year}-${month}-${day}`;
}
