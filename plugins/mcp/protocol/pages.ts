/** Lists in pages. A cursor names the last entry of a page, so that entries that come or go in between shift nothing. */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

export const PAGE_SIZE = 100;

/** Returns the entries after the cursor, in the order of their keys. */
export function pageOf<Entry>(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => string,
  cursor: string | undefined,
): { readonly page: readonly Entry[]; readonly next: { readonly nextCursor?: string } } {
  const [after] = cursor === undefined ? [] : keysIn(cursor);
  const sorted = entries
    .map((entry) => ({ entry, key: keyOf(entry) }))
    .filter(({ key }) => after === undefined || key > after)
    .sort((one, other) => (one.key < other.key ? -1 : 1));
  const page = sorted.slice(0, PAGE_SIZE);
  const last = page.at(-1);
  return {
    page: page.map(({ entry }) => entry),
    next: sorted.length > PAGE_SIZE && last ? { nextCursor: cursorOf(last.key) } : {},
  };
}

export function cursorOf(...keys: readonly string[]): string {
  return Buffer.from(JSON.stringify(keys)).toString("base64url");
}

export function keysIn(cursor: string): readonly string[] {
  try {
    const keys = JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown[];
    if (keys.length > 0 && keys.every((key) => typeof key === "string")) return keys;
  } catch {}
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid cursor: pass the nextCursor of a page.");
}
