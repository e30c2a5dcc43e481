/** What bytes are: by looking at them, by their name, and which of them are texts. */

export const UNKNOWN = "application/octet-stream";

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

const TEXTS: ReadonlySet<string> = new Set([
  "application/javascript",
  "application/json",
  "application/jsonl",
  "application/ld+json",
  "application/toml",
  "application/typescript",
  "application/x-ndjson",
  "application/x-sh",
  "application/x-yaml",
  "application/xml",
  "application/yaml",
]);

/** The text of a file that is one: a model reads it as it is. */
export function textOfFile(mime: string, data: Uint8Array): string | undefined {
  if (!mime.startsWith("text/") && !TEXTS.has(mime)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(data);
  } catch {
    return undefined;
  }
}
