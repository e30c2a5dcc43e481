/** Recognises a file's kind and what models read of it; refuses the others in words. */
import {
  type DocumentKind,
  documentKind,
  imageProblem,
  isTextual,
  mimeOfName,
  type ReadDocument,
  sniffImage,
  textOfDocument,
} from "../../../../kernel/kit/files.ts";
import { type Attachment, Fault } from "../../../../kernel/plugin.ts";

export interface TakenFile extends Pick<Attachment, "kind" | "mime" | "text"> {
  /** Set if the bytes are not the text themselves. */
  readonly text8?: Uint8Array;
}

type ReadDocuments = (
  kind: DocumentKind,
  data: Uint8Array,
) => Promise<ReadDocument | { readonly problem: string }>;

const ACCEPTED =
  "Attach PNG, JPEG, GIF or WebP images, documents (PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, mails), or text such as Markdown, CSV, JSON and source code";

/** `name`: as it is called in a refusal. */
export async function takeFile(name: string, data: Uint8Array, read: ReadDocuments): Promise<TakenFile> {
  if (data.byteLength === 0) throw refusal(name, "empty_file", "is empty");
  const image = sniffImage(data);
  const problem = imageProblem(data);
  if (problem !== undefined) throw refusal(name, "image_too_large", problem);
  if (image !== undefined) return { kind: "image", mime: image };
  const kind = documentKind(name, data);
  // Whoever has HTML may mean its source.
  if (kind !== undefined && kind !== "html") {
    const found = await read(kind, data);
    if ("problem" in found) throw refusal(name, "unreadable_document", found.problem);
    return asText(found.mime, textOfDocument(found));
  }
  if (isLocked(data)) throw refusal(name, "unreadable_document", LOCKED);
  const decoded = nameOf(data) === undefined ? decodeText(data) : undefined;
  if (decoded === undefined)
    throw refusal(
      name,
      "unsupported_file",
      `cannot be attached: it is ${nameOf(data) ?? "neither an image nor a document nor text"}. ${ACCEPTED}`,
    );
  const said = mimeOfName(name);
  const mime = isTextual(said) ? said : "text/plain";
  if (decoded.text.trim() === "") throw refusal(name, "empty_file", "is empty");
  return decoded.isPlain
    ? { kind: "file", mime, text: { bytes: data.byteLength } }
    : asText(mime, decoded.text);
}

/** What a model reads of a file. */
export async function textOfFile(name: string, data: Uint8Array, read: ReadDocuments): Promise<string> {
  const { text, text8 } = await takeFile(name, data, read);
  if (text === undefined) throw refusal(name, "no_text", "is an image and has no text");
  return new TextDecoder().decode(text8 ?? data);
}

function asText(mime: string, text: string): TakenFile {
  const text8 = Buffer.from(text);
  return { kind: "file", mime, text: { bytes: text8.byteLength }, text8 };
}

function refusal(name: string, code: string, what: string): Fault {
  return new Fault("invalid", code, `"${name}" ${what}.`, { param: "file" });
}

const OLD_OFFICE = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/** Files that people try, so that they are told what they have. */
const OTHERS: readonly (readonly [bytes: string, at: number, name: string])[] = [
  ["PK\x05\x06", 0, "an empty ZIP archive"],
  [OLD_OFFICE, 0, "an old document of Word, Excel or PowerPoint: save it as .docx, .xlsx or .pptx"],
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

const LOCKED = "is protected by a password. Remove it, and attach the file again";

/** Office keeps a document with a password in a file of its old kind. */
function isLocked(data: Uint8Array): boolean {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return bytes.indexOf(OLD_OFFICE, 0, "latin1") === 0 && bytes.includes("EncryptedPackage", 0, "utf16le");
}

function nameOf(data: Uint8Array): string | undefined {
  const head = Buffer.from(data.subarray(0, 32)).toString("latin1");
  const found = OTHERS.find(([bytes, at]) => head.startsWith(bytes, at));
  // A text may begin with two or three of these letters.
  const isShort = found !== undefined && found[0].length < 4 && !/[^ -~]/.test(found[0]);
  return isShort && decodeText(data) !== undefined ? undefined : found?.[2];
}

const MARKS = [
  { bytes: [0xef, 0xbb, 0xbf], encoding: "utf-8" },
  { bytes: [0xff, 0xfe], encoding: "utf-16le" },
  { bytes: [0xfe, 0xff], encoding: "utf-16be" },
];

/** The text of a file's bytes, in whatever encoding; undefined where they are no text. `isPlain`: they are UTF-8 as they are. */
function decodeText(data: Uint8Array): { readonly text: string; readonly isPlain: boolean } | undefined {
  const mark = MARKS.find(({ bytes }) => bytes.every((byte, at) => data[at] === byte));
  const text = decode(data, mark?.encoding ?? "utf-8");
  if (text !== undefined) return hasControls(text) ? undefined : { text, isPlain: mark === undefined };
  if (mark !== undefined || accentsIn(data) > MAX_ACCENTS) return undefined;
  const western = new TextDecoder("windows-1252").decode(data);
  return hasControls(western) ? undefined : { text: western, isPlain: false };
}

function decode(data: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(data);
  } catch {
    return undefined;
  }
}

// Tabs, line and page breaks, and the escapes of coloured logs. No text has others, and nearly every other file has.
const USUAL_CONTROLS: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x1b]);
const DELETE = 0x7f;

function hasControls(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === DELETE || (code < 0x20 && !USUAL_CONTROLS.has(code))) return true;
  }
  return false;
}

// Old Western programs write mostly ASCII, with an accent now and then.
const MAX_ACCENTS = 0.3;

function accentsIn(data: Uint8Array): number {
  let accents = 0;
  for (const byte of data) if (byte >= 0x80) accents++;
  return accents / data.byteLength;
}
