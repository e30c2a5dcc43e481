/** From bytes to text: the encoding is what the byte order mark, the header or the page itself says, in this order. */
import { getBOMEncoding, legacyHookDecode, normalizeEncoding } from "@exodus/bytes/encoding.js";

/** Pages name their encoding at the very beginning. */
const PRESCAN_BYTES = 4096;
const IN_META = /<meta[^>]{1,500}?charset\s*=\s*["']?\s*([\w:.-]+)/i;
const IN_XML = /^\s*<\?xml[^>]{1,200}?encoding\s*=\s*["']([\w:.-]+)["']/i;

export function decode(bytes: Uint8Array, contentType: string): string {
  const encoding =
    getBOMEncoding(bytes) ?? named(/charset\s*=\s*["']?([\w:.-]+)/i.exec(contentType)) ?? inside(bytes);
  if (encoding !== undefined && encoding !== "utf-8") return legacyHookDecode(bytes, encoding);
  if (encoding === "utf-8") return new TextDecoder().decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // Browsers assume this for a page that does not declare its encoding.
    return legacyHookDecode(bytes, "windows-1252");
  }
}

function inside(bytes: Uint8Array): string | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, PRESCAN_BYTES));
  const found = named(IN_XML.exec(start)) ?? named(IN_META.exec(start));
  // It cannot be, or these bytes would not have been read as letters.
  return found?.startsWith("utf-16") ? "utf-8" : found;
}

function named(match: RegExpExecArray | null): string | undefined {
  const encoding = normalizeEncoding(match?.[1] ?? "");
  return encoding === null || encoding === "replacement" ? undefined : encoding.toLowerCase();
}
