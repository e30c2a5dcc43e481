/** What bytes are, by looking at them, and which of them are texts. */
const SIGNATURES: readonly (readonly [mime: string, from: number, bytes: string])[] = [
  ["image/png", 0, "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", 0, "\xff\xd8\xff"],
  ["image/gif", 0, "GIF87a"],
  ["image/gif", 0, "GIF89a"],
  ["image/webp", 8, "WEBP"],
  ["application/pdf", 0, "%PDF-"],
];

/** The type that the first bytes show; undefined where they show none of those that matter here. */
export function sniff(data: Uint8Array): string | undefined {
  const head = Buffer.from(data.subarray(0, 16)).toString("latin1");
  return SIGNATURES.find(([, from, bytes]) => head.startsWith(bytes, from))?.[0];
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  csv: "text/csv",
  gif: "image/gif",
  html: "text/html",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  md: "text/markdown",
  pdf: "application/pdf",
  png: "image/png",
  txt: "text/plain",
  webp: "image/webp",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
};

export function mimeOfName(name: string | undefined): string {
  const extension = name?.slice(name.lastIndexOf(".") + 1).toLowerCase() ?? "";
  return EXTENSIONS[extension] ?? "application/octet-stream";
}

const TEXTS: ReadonlySet<string> = new Set([
  "application/javascript",
  "application/json",
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
