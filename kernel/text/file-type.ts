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

/** More than any camera's; a screen that shows an image needs four bytes for each pixel. */
const MAX_PIXELS = 150_000_000;

/** Why an image is not taken although it is one: a few bytes may say that they are a picture of gigabytes. */
export function imageProblem(data: Uint8Array): string | undefined {
  const [width = 0, height = 0] =
    sizeOfImage(Buffer.from(data.buffer, data.byteOffset, data.byteLength)) ?? [];
  if (width * height <= MAX_PIXELS) return undefined;
  return `has ${width.toLocaleString("en")} × ${height.toLocaleString("en")} pixels, and an image may have ${MAX_PIXELS / 1e6} million`;
}

/** As its header says; undefined where it does not. */
function sizeOfImage(data: Buffer): readonly [width: number, height: number] | undefined {
  if (data.length < 30) return undefined;
  switch (sniffImage(data)) {
    case "image/png":
      return [data.readUInt32BE(16), data.readUInt32BE(20)];
    case "image/gif":
      return [data.readUInt16LE(6), data.readUInt16LE(8)];
    case "image/webp":
      return sizeOfWebp(data);
    case "image/jpeg":
      return sizeOfJpeg(data);
    default:
      return undefined;
  }
}

function sizeOfWebp(data: Buffer): readonly [width: number, height: number] {
  const kind = data.toString("latin1", 12, 16);
  if (kind === "VP8X") return [data.readUIntLE(24, 3) + 1, data.readUIntLE(27, 3) + 1];
  const bits = data.readUInt32LE(21);
  // The lossless kind has two numbers of 14 bits, which is few enough in any case.
  return kind === "VP8L"
    ? [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1]
    : [data.readUInt16LE(26) & 0x3fff, data.readUInt16LE(28) & 0x3fff];
}

/** The first frame's: segments follow each other until one begins a frame. */
function sizeOfJpeg(data: Buffer): readonly [width: number, height: number] | undefined {
  for (let at = 2; at + 9 < data.length; ) {
    if (data[at] !== 0xff) return undefined;
    const marker = data[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [data.readUInt16BE(at + 7), data.readUInt16BE(at + 5)];
    // Fill bytes and markers without a length.
    const isBare = marker === 0xff || marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    at += marker === 0xff ? 1 : isBare ? 2 : 2 + data.readUInt16BE(at + 2);
  }
  return undefined;
}

export const UNKNOWN = "application/octet-stream";

// A map: a stranger's file may be called "x.constructor".
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ["csv", "text/csv"],
  ["eml", "message/rfc822"],
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

const TEXTUAL =
  /^(?:text\/.*|.*\+(?:json|xml)|application\/(?:javascript|jsonl?|sql|toml|typescript|x-ndjson|x-sh|xml|(?:x-)?yaml))$/;

/** True for types that are text, which every model can be shown. */
export function isTextual(mime: string): boolean {
  const [bare = ""] = mime.split(";", 1);
  return TEXTUAL.test(bare);
}

const MAX_NAME_BYTES = 255;

// Control characters, marks that turn the direction of a text, halves of characters, breaks of lines.
const UNSHOWABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/** Makes a stranger's file name harmless: the last part of a path, without characters that cannot be shown. */
export function cleanFileName(given: string): string {
  const name = (given.split(/[/\\]/).at(-1) ?? "").replaceAll(UNSHOWABLE, "").trim();
  if (/^\.*$/.test(name)) return "file";
  // A stream waits for the rest of a letter that is cut in the middle, and so leaves it out.
  return new TextDecoder().decode(Buffer.from(name).subarray(0, MAX_NAME_BYTES), { stream: true });
}
