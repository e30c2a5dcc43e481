/** What a file is that somebody attaches, and what models read of it; refuses the others in words. */

import { isTextual, mimeOfName, sniff, sniffImage } from "../../../../kernel/kit.ts";
import { type Attachment, Fault } from "../../../../kernel/plugin.ts";
import type { PdfText } from "./pdf.ts";
import { decodeText } from "./text.ts";

export interface TakenFile extends Pick<Attachment, "kind" | "mime" | "text"> {
  /** Where the bytes are not the text themselves. */
  readonly text8?: Uint8Array;
}

const ACCEPTED =
  "Attach PNG, JPEG, GIF or WebP images, PDF documents, or text such as Markdown, CSV, JSON and source code.";

/** `name`: as it is called in a refusal. */
export async function takeFile(
  name: string,
  data: Uint8Array,
  readPdf: (data: Uint8Array) => Promise<PdfText>,
): Promise<TakenFile> {
  if (data.byteLength === 0) throw refusal(name, "empty_file", "is empty");
  const image = sniffImage(data);
  if (image !== undefined) return { kind: "image", mime: image };
  if (sniff(data) === "application/pdf") {
    const read = await readPdf(data);
    if ("problem" in read) throw refusal(name, "unreadable_pdf", read.problem);
    return asText("application/pdf", read.text);
  }
  const decoded = nameOf(data) === undefined ? decodeText(data) : undefined;
  if (decoded === undefined)
    throw refusal(
      name,
      "unsupported_file",
      `cannot be attached: it is ${nameOf(data) ?? "neither an image nor a PDF nor text"}`,
      ACCEPTED,
    );
  const said = mimeOfName(name);
  const mime = isTextual(said) ? said : "text/plain";
  if (decoded.text.trim() === "") throw refusal(name, "empty_file", "is empty");
  return decoded.isPlain
    ? { kind: "file", mime, text: { bytes: data.byteLength } }
    : asText(mime, decoded.text);
}

function asText(mime: string, text: string): TakenFile {
  const text8 = Buffer.from(text);
  return { kind: "file", mime, text: { bytes: text8.byteLength }, text8 };
}

function refusal(name: string, code: string, what: string, advice?: string): Fault {
  return new Fault("invalid", code, [`"${name}" ${what}.`, ...(advice ? [advice] : [])].join(" "), {
    param: "file",
  });
}

/** Files that people try, so that they are told what they have. */
const OTHERS: readonly (readonly [bytes: string, at: number, name: string])[] = [
  ["PK\x03\x04", 0, "a ZIP archive, or a document of Word, Excel, PowerPoint or LibreOffice"],
  ["PK\x05\x06", 0, "an empty ZIP archive"],
  ["\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0, "an old document of Word, Excel or PowerPoint"],
  ["\x1f\x8b", 0, "a gzip archive"],
  ["7z\xbc\xaf\x27\x1c", 0, "a 7-Zip archive"],
  ["Rar!\x1a\x07", 0, "a RAR archive"],
  ["ftypheic", 4, "a HEIC image"],
  ["ftypheix", 4, "a HEIC image"],
  ["ftypmif1", 4, "a HEIF image"],
  ["ftypavif", 4, "an AVIF image"],
  ["ftyp", 4, "a video or sound"],
  ["\x1aE\xdf\xa3", 0, "a video"],
  ["WAVE", 8, "sound"],
  ["ID3", 0, "sound"],
  ["OggS", 0, "sound or a video"],
  ["fLaC", 0, "sound"],
  ["BM", 0, "a BMP image"],
  ["II*\x00", 0, "a TIFF image"],
  ["MM\x00*", 0, "a TIFF image"],
  ["\x7fELF", 0, "a program"],
  ["MZ\x90\x00", 0, "a program"],
  ["\x00asm", 0, "a program"],
  ["SQLite format 3\x00", 0, "a database"],
];

function nameOf(data: Uint8Array): string | undefined {
  const head = Buffer.from(data.subarray(0, 32)).toString("latin1");
  const found = OTHERS.find(([bytes, at]) => head.startsWith(bytes, at));
  // A text may begin with two or three of these letters.
  const isShort = found !== undefined && found[0].length < 4 && !/[^ -~]/.test(found[0]);
  return isShort && decodeText(data) !== undefined ? undefined : found?.[2];
}
