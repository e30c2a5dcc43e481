/** What a stranger calls a file, and what kind it says it is: kept only as far as it can do no harm. */

const LONGEST_BYTES = 255;

// Control characters, marks that turn the direction of a text, halves of characters, breaks of lines.
const UNSHOWABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/** The last part of a path, without what cannot be shown. */
export function cleanFileName(given: string): string {
  const name = (given.split(/[/\\]/).at(-1) ?? "").replaceAll(UNSHOWABLE, "").trim();
  return /^\.*$/.test(name) ? "file" : cut(name);
}

function cut(name: string): string {
  let bytes = 0;
  let kept = "";
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > LONGEST_BYTES) break;
    kept += character;
  }
  return kept;
}

const UNKNOWN = "application/octet-stream";

const MIME = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,62}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}$/;

const BEGINNINGS: readonly (readonly [mime: string, bytes: string, at?: number])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF8"],
  ["image/webp", "WEBP", 8],
  ["application/pdf", "%PDF-"],
  ["audio/wav", "WAVE", 8],
  ["audio/mpeg", "ID3"],
];

const ENDINGS: Readonly<Record<string, string>> = {
  csv: "text/csv",
  htm: "text/html",
  html: "text/html",
  json: "application/json",
  jsonl: "application/jsonl",
  md: "text/markdown",
  mp3: "audio/mpeg",
  txt: "text/plain",
  xml: "application/xml",
};

/** What the bytes show comes first, then what the caller says, then the name: clients often say nothing. */
export function mimeOf(bytes: Uint8Array, declared: string, name: string): string {
  const head = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  const shown = BEGINNINGS.find(([, text, at = 0]) => head.startsWith(text, at));
  if (shown !== undefined) return shown[0];
  const said = (declared.split(";")[0] ?? "").trim().toLowerCase();
  if (said !== UNKNOWN && MIME.test(said)) return said;
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return (Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined) ?? UNKNOWN;
}
