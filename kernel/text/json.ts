/** Reads text and JSON that somebody else wrote, where it is nothing to complain about that it is neither. */

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The text of UTF-8; undefined for other bytes. `keepsMark`: a byte order mark at its beginning is part of it. */
export function tryUtf8(data: Uint8Array, keepsMark = false): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: keepsMark }).decode(data);
  } catch {
    return undefined;
  }
}

export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The object in the text; an empty one where there is none. */
export function tryRecord(text: string): Record<string, unknown> {
  const value = tryJson(text);
  return isRecord(value) ? value : {};
}
