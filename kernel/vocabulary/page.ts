/** A long list, handed out one page at a time, the newest first. */
import { Fault } from "../fault.ts";

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Pass as `before` to go on; absent at the end. */
  readonly next?: string;
}

const MAX_ITEMS = 200;
const DEFAULT_ITEMS = 50;

export function pageSize(limit: number | undefined): number {
  return Math.max(1, Math.min(MAX_ITEMS, Math.floor(limit ?? DEFAULT_ITEMS)));
}

/** From one row more than asked for: the page, and where to go on. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  most: number,
  read: (row: Row) => Item,
  cursor: (row: Row) => string,
): Page<Item> {
  const shown = rows.slice(0, most);
  const last = shown.at(-1);
  return {
    items: shown.map(read),
    next: rows.length > most && last !== undefined ? cursor(last) : undefined,
  };
}

export function readNumber(before: string): number {
  if (!/^\d{1,15}$/.test(before)) throw badCursor();
  return Number(before);
}

export function badCursor(): Fault {
  return new Fault("invalid", "bad_cursor", "`before` is not a cursor from this list.", {
    param: "before",
  });
}
