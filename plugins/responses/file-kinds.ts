/** What a file is by its name, and which files are texts. */

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
