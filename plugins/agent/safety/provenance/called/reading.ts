/** Checks calls that only read: they change nothing, but their values can carry something out. */
import { foldedWords } from "../../../../../kernel/kit.ts";
import { contains } from "../answers/matches.ts";
import type { Scalar } from "../answers/records.ts";
import type { Said } from "../said.ts";
import { hasHidden } from "../values/names.ts";
import type { Leaf } from "./leaves.ts";
import { isAddress, isPlainAddress } from "./roles.ts";

/** Smaller numbers are few enough not to carry anything. */
const MAX_SMALL_NUMBER = 100;
const MAX_CHOICES = 32;
/** The values of one call that carry little may carry so much together: three page numbers, or twenty switches. */
const MAX_BITS = 22;
/** So many different page numbers may be asked of one owner, over all calls. */
const MAX_PAGES = 12;
/** The person's words in another order: more of them, or repeated ones, could spell something. */
const MAX_WORDS = 16;
const MAX_SEARCHED = 8_000_000;

interface Spoken {
  readonly owner: string;
  readonly text: string;
  readonly asked: unknown;
}

/** `isTheirs` says whether the person named a destination. */
export function createReadingCheck(
  { isOutside, owner }: { readonly isOutside: boolean; readonly owner: string },
  said: Said,
  heard: readonly Spoken[],
  isTheirs: (destination: string) => boolean,
): (leaf: Leaf) => "destination" | "content" | undefined {
  const own = heard.filter((one) => one.owner === owner);
  const others = heard.filter((one) => one.owner !== owner);
  let left = MAX_BITS;
  const isLittle = (bits: number) => {
    left -= bits;
    return left >= 0;
  };
  // A value that both have may come from either, and what is too long to search may hold anything.
  const isLong = heard.reduce((sum, { text }) => sum + text.length, 0) > MAX_SEARCHED;
  const isBack = (value: Scalar) => {
    const isIn = contains(value);
    const isTelling = String(value).length > 3 && !hasHidden(String(value));
    return isTelling && !isLong && own.some(isIn) && !others.some(isIn);
  };
  const isPage = (value: number) => {
    if (!isSmall(value)) return false;
    const asked = new Set(own.flatMap((one) => smallIn(one.asked)).filter((one) => !said.hasNumber(one)));
    return asked.has(value) || asked.size < MAX_PAGES;
  };
  return ({ value, role, property, leadsOut }) => {
    if (value === "" || value === property.default) return undefined;
    const isWhere =
      leadsOut || (isOutside ? isAddress(`${value}`) : role === "destination" && isPlainAddress(`${value}`));
    if (typeof value === "string" && isWhere) return isTheirs(value) ? undefined : "destination";
    if (!isOutside) return undefined;
    if (typeof value === "boolean") return isLittle(1) ? undefined : "content";
    const { length } = property.choices;
    if (length <= MAX_CHOICES && property.choices.includes(value))
      return isLittle(Math.log2(length)) ? undefined : "content";
    if (isBack(value)) return undefined;
    if (typeof value === "number") {
      if (said.hasNumber(value)) return undefined;
      return isPage(value) && isLittle(Math.log2(MAX_SMALL_NUMBER)) ? undefined : "content";
    }
    return isSaid(value, said) || said.hasMoment(value, []) ? undefined : "content";
  };
}

function isSaid(value: string, said: Said): boolean {
  if (!said.isPlain(value)) return false;
  const words = foldedWords(value);
  const isShort = words.length <= MAX_WORDS && new Set(words).size === words.length;
  return isShort ? words.every((word) => said.words.has(word)) : said.hasPhrase(value);
}

function isSmall(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= MAX_SMALL_NUMBER;
}

function smallIn(asked: unknown): readonly number[] {
  if (typeof asked === "number") return isSmall(asked) ? [asked] : [];
  return typeof asked === "object" && asked !== null ? Object.values(asked).flatMap(smallIn) : [];
}
