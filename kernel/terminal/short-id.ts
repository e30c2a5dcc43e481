/** Ids as people read and type them: the beginning of one is enough where no other thing of the kind has it. */
import { Fault } from "../fault.ts";
import type { Page } from "../vocabulary/page.ts";

const SHORT_LENGTH = 8;
/** A shorter beginning could be a slip of the hand, and some commands delete. */
const MIN_LENGTH = 4;
const MAX_PAGES = 100;
const MAX_NAMED = 5;

const UUID = /^[\da-f]{8}-[\da-f]{4}-/;

/** Shortens UUIDs to beginnings that tell those of one list apart. Other ids are short anyway. */
export function createShortener(ids: readonly string[]): (id: string) => string {
  let length = SHORT_LENGTH;
  const isUnique = () => new Set(ids.map((id) => id.slice(0, length))).size === new Set(ids).size;
  while (!isUnique()) length++;
  return (id) => (UUID.test(id) ? trimDash(id.slice(0, length)) : id);
}

// Ids that were made within the same minute begin alike, so more is shown where only one is.
const ALONE_LENGTH = 13;

/** The beginning of an id that stands alone. */
export const shortId = (id: string): string => (UUID.test(id) ? id.slice(0, ALONE_LENGTH) : id);

const trimDash = (text: string) => (text.endsWith("-") ? text.slice(0, -1) : text);

export interface Findable<Item> {
  /** What it is, as in "thread". */
  readonly what: string;
  find(id: string): Promise<Item | undefined>;
  list(before: string | undefined): Promise<Page<Item>>;
  /** Tells candidates apart. */
  title?(item: Item): string;
}

/** Finds what an id or the beginning of one names; undefined where it names nothing. A beginning that several have is refused. */
export async function findByPrefix<Item extends { readonly id: string }>(
  given: string,
  { what, find, list, title = () => "" }: Findable<Item>,
): Promise<Item | undefined> {
  const asked = given.trim().toLowerCase();
  const exact = await find(asked);
  if (exact !== undefined || asked.length < MIN_LENGTH) return exact;
  const matching: Item[] = [];
  let before: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { items, next } = await list(before);
    matching.push(...items.filter(({ id }) => id.startsWith(asked)));
    if (next === undefined || next === null) break;
    before = next;
  }
  const [only, ...others] = matching;
  if (others.length === 0) return only;
  const named = matching.slice(0, MAX_NAMED).map((item) => `\n  ${item.id}  ${title(item)}`.trimEnd());
  const more = matching.length > MAX_NAMED ? `\n  and ${matching.length - MAX_NAMED} more` : "";
  const message = `${matching.length} ${what}s begin with ${asked}. Give more of the id:${named.join("")}${more}`;
  throw new Fault("invalid", "ambiguous_id", message, { usage: true });
}
