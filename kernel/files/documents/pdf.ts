/** The text of a PDF, page by page. */
import { Unreadable } from "./passages.ts";

export interface PdfDocument {
  readonly pages: readonly string[];
  /** How many pages there are: more than were read if they have too much text. */
  readonly count: number;
  /** As the file says it, like the following; empty if it says nothing. */
  readonly title: string;
  readonly author: string;
  readonly created: string;
  readonly language: string;
}

/** Lines are the library's own; paragraphs follow from where on the page each piece of text is. */
export type PdfForm = "lines" | "paragraphs";

/** In heights of a character: from how much on a gap is a blank, and a step leads to another line or another paragraph. */
const BLANK_GAP = 0.17;
const LINE_STEP = 0.5;
const PARAGRAPH_STEP = 1.75;

interface Pdfjs {
  getDocument(options: object): { readonly promise: Promise<Opened> };
}

interface Opened {
  readonly numPages: number;
  getMetadata(): Promise<{ readonly info: Readonly<Record<string, unknown>> }>;
  getPage(number: number): Promise<{
    getTextContent(): Promise<{ readonly items: readonly (Piece | object)[] }>;
    cleanup(): void;
  }>;
}

/** Characters that a page draws in one go. */
interface Piece {
  readonly str: string;
  readonly hasEOL: boolean;
  readonly width: number;
  readonly transform: readonly [a: number, b: number, c: number, d: number, x: number, y: number];
}

/** `library`: the file of pdf.js, which is looked up outside: nothing can be looked up in here. */
export async function readPdf(
  data: Uint8Array,
  library: string,
  form: PdfForm,
  maxLength: number,
): Promise<PdfDocument> {
  const { getDocument } = (await import(library)) as Pdfjs;
  try {
    const document = await getDocument({
      data: new Uint8Array(data),
      isEvalSupported: false,
      disableFontFace: true,
      useSystemFonts: false,
      verbosity: 0,
    }).promise;
    const write = form === "lines" ? writeLines : writeParagraphs;
    const pages: string[] = [];
    let length = 0;
    for (let number = 1; number <= document.numPages && length < maxLength; number++) {
      const page = await document.getPage(number);
      const { items } = await page.getTextContent();
      const text = write(items.filter((item) => "str" in item)).toWellFormed();
      page.cleanup();
      length += text.length;
      pages.push(text);
    }
    if (pages.every((page) => page.trim() === "")) throw new Unreadable("pictures");
    const { info } = await document.getMetadata();
    const said = (name: string) => (typeof info[name] === "string" ? info[name] : "");
    return {
      count: document.numPages,
      pages,
      title: said("Title"),
      author: said("Author"),
      created: said("CreationDate"),
      language: said("Language"),
    };
  } catch (error) {
    throw (error as Error).name === "PasswordException" ? new Unreadable("password") : error;
  }
}

function writeLines(pieces: readonly Piece[]): string {
  return pieces.map(({ str, hasEOL }) => (hasEOL ? `${str}\n` : str)).join("");
}

/** Where the last piece ended, how high it was, and which way it went. */
interface End {
  readonly x: number;
  readonly y: number;
  readonly height: number;
  readonly along: number;
  readonly across: number;
}

function writeParagraphs(pieces: readonly Piece[]): string {
  const written: string[] = [];
  let end: End | undefined;
  let isAfterBlank = true;
  for (const { str, width, transform } of pieces) {
    const [a, b, , , x, y] = transform;
    const height = Math.hypot(a, b) || 1;
    // The library reports some gaps as a blank piece, which says nothing about where the next piece begins.
    if (str.trim() === "") {
      if (str !== "" && !isAfterBlank) written.push(" ");
      isAfterBlank ||= str !== "";
      continue;
    }
    const gap = end === undefined ? "" : gapBetween(end, x, y, height);
    if (gap !== "" && !(gap === " " && (isAfterBlank || /^\s/.test(str)))) written.push(gap);
    written.push(str);
    isAfterBlank = /\s$/.test(str);
    const [along, across] = [a / height, b / height];
    end = { x: x + width * along, y: y + width * across, height, along, across };
  }
  return (
    written
      .join("")
      // In a table of contents, dots lead to the number of the page.
      .replace(/(?: ?[.:·]){6,} ?/g, " … ")
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .trim()
  );
}

function gapBetween(end: End, x: number, y: number, height: number): string {
  const [dx, dy] = [x - end.x, y - end.y];
  // A small number above the line belongs to it.
  const measure = Math.max(height, end.height);
  const forward = (dx * end.along + dy * end.across) / measure;
  const up = (dy * end.along - dx * end.across) / measure;
  if (Math.abs(up) > LINE_STEP) return up > 0 || -up > PARAGRAPH_STEP ? "\n\n" : "\n";
  return Math.abs(forward) > BLANK_GAP ? " " : "";
}
