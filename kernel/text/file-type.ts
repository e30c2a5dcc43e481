/** Tells the type of a file from its bytes, since a declared type may be wrong or a trick, and cleans file names. */

const SIGNATURES: readonly (readonly [mime: string, bytes: string, at?: number])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF87a"],
  ["image/gif", "GIF89a"],
  ["image/webp", "WEBP", 8],
  ["application/pdf", "%PDF-"],
  ["audio/wav", "WAVE", 8],
  ["audio/mpeg", "ID3"],
];

/** The type that the first bytes show; undefined where they show none of those that matter here. */
export function sniff(data: Uint8Array): string | undefined {
  const head = Buffer.from(data.subarray(0, 16)).toString("latin1");
  return SIGNATURES.find(([, bytes, at = 0]) => head.startsWith(bytes, at))?.[0];
}

const IMAGES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** The type of an image that models and browsers take; undefined where it is none. */
export function sniffImage(data: Uint8Array): string | undefined {
  const seen = sniff(data);
  return seen !== undefined && IMAGES.has(seen) ? seen : undefined;
}

export const UNKNOWN = "application/octet-stream";

// A map: a stranger's file may be called "x.constructor".
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ["csv", "text/csv"],
  ["gif", "image/gif"],
  ["htm", "text/html"],
  ["html", "text/html"],
  ["jpeg", "image/jpeg"],
  ["jpg", "image/jpeg"],
  ["json", "application/json"],
  ["jsonl", "application/jsonl"],
  ["md", "text/markdown"],
  ["mp3", "audio/mpeg"],
  ["pdf", "application/pdf"],
  ["png", "image/png"],
  ["txt", "text/plain"],
  ["wav", "audio/wav"],
  ["webp", "image/webp"],
  ["xml", "application/xml"],
  ["yaml", "application/yaml"],
  ["yml", "application/yaml"],
]);

export function mimeOfName(name: string | undefined): string {
  const extension = name?.slice(name.lastIndexOf(".") + 1).toLowerCase() ?? "";
  return EXTENSIONS.get(extension) ?? UNKNOWN;
}

// Beside text/* and whatever is written in JSON or XML.
const TEXTS: ReadonlySet<string> = new Set([
  "application/javascript",
  "application/json",
  "application/jsonl",
  "application/sql",
  "application/toml",
  "application/typescript",
  "application/x-ndjson",
  "application/x-sh",
  "application/x-yaml",
  "application/xml",
  "application/yaml",
]);

/** True for types that are text, which every model can be shown. */
export function isTextual(mime: string): boolean {
  const [bare = ""] = mime.split(";", 1);
  return bare.startsWith("text/") || TEXTS.has(bare) || bare.endsWith("+json") || bare.endsWith("+xml");
}

/** The text of a file that is one: a model reads it as it is. */
export function textOfFile(mime: string, data: Uint8Array): string | undefined {
  if (!isTextual(mime)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(data);
  } catch {
    return undefined;
  }
}

const MAX_NAME_BYTES = 255;

// Control characters, marks that turn the direction of a text, halves of characters, breaks of lines.
const UNSHOWABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/** Makes a stranger's file name harmless: the last part of a path, without characters that cannot be shown. */
export function cleanFileName(given: string): string {
  const name = (given.split(/[/\\]/).at(-1) ?? "").replaceAll(UNSHOWABLE, "").trim();
  return /^\.*$/.test(name) ? "file" : cutName(name);
}

function cutName(name: string): string {
  let bytes = 0;
  let kept = "";
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > MAX_NAME_BYTES) break;
    kept += character;
  }
  return kept;
}
