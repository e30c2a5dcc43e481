/** What a file of the workspace is: its bytes say whether it is text or an image, its name which kind of text. */
import { isTextual, mimeOfName, sniff, UNKNOWN } from "../../kernel/kit/files.ts";

export const HEAD_BYTES = 8192;
const TEXT = "text/plain";

const TEXTS: ReadonlyMap<string, string> = new Map([
  ["css", "text/css"],
  ["js", "text/javascript"],
  ["mjs", "text/javascript"],
  ["py", "text/x-python"],
  ["rs", "text/x-rust"],
  ["sh", "application/x-sh"],
  ["sql", "application/sql"],
  ["svg", "image/svg+xml"],
  ["toml", "application/toml"],
  ["ts", "application/typescript"],
  ["tsv", "text/tab-separated-values"],
]);

/** The type that the first bytes show. */
export function mimeOfContent(data: Uint8Array): string {
  return sniff(data) ?? (isText(data.subarray(0, HEAD_BYTES)) ? TEXT : UNKNOWN);
}

/** Whether it is UTF-8 without what no text has. The last character may be cut. */
export function isText(data: Uint8Array): boolean {
  if (data.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(data, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** A name cannot make a picture or a document of what is none. */
export function mimeOfFile(path: string, ofContent: string): string {
  if (ofContent !== TEXT) return ofContent;
  const extension = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  const named = TEXTS.get(extension) ?? mimeOfName(path);
  return isTextual(named) ? named : TEXT;
}
