/** Reading changes nothing, but what is asked can carry something out. */
import { foldedWords } from "../../../kernel/kit.ts";
import { standing } from "../answers/matches.ts";
import type { Scalar } from "../answers/records.ts";
import type { Said } from "../said.ts";
import { hasHidden } from "../values/names.ts";
import type { Leaf } from "./leaves.ts";
import { isAddress, isPlainAddress } from "./roles.ts";

/** Few enough not to say anything. */
const SMALL_NUMBER = 100;
const FEW_CHOICES = 32;
/** So much may be told in one call by what says nothing alone: three numbers of pages, or twenty switches. */
const MOST_BITS = 22;
/** Numbers of pages that are asked for of one owner, call after call. */
const MOST_PAGES = 12;
/** Words of the person in another order: more of them, or the same again and again, could be letters of something. */
const MOST_WORDS = 16;
const MOST_SEARCHED = 8_000_000;

interface Spoken {
  readonly owner: string;
  readonly text: string;
  readonly asked: unknown;
}

/** `isTheirs`: whether the person named a destination. */
export function createReadingCheck(
  { isOutside, owner }: { readonly isOutside: boolean; readonly owner: string },
  said: Said,
  heard: readonly Spoken[],
  isTheirs: (destination: string) => boolean,
): (leaf: Leaf) => "destination" | "content" | undefined {
  const own = heard.filter((one) => one.owner === owner);
  const others = heard.filter((one) => one.owner !== owner);
  let left = MOST_BITS;
  const isLittle = (bits: number) => {
    left -= bits;
    return left >= 0;
  };
  // What is found at both may be taken from either, and what is too long to look through may have anything in it.
  const isLong = heard.reduce((sum, { text }) => sum + text.length, 0) > MOST_SEARCHED;
  const isBack = (value: Scalar) => {
    const stands = standing(value);
    const isTelling = String(value).length > 3 && !hasHidden(String(value));
    return isTelling && !isLong && own.some(stands) && !others.some(stands);
  };
  const isPage = (value: number) => {
    if (!isSmall(value)) return false;
    const asked = new Set(own.flatMap((one) => smallIn(one.asked)).filter((one) => !said.hasNumber(one)));
    return asked.has(value) || asked.size < MOST_PAGES;
  };
  return ({ value, role, property, leadsOut }) => {
    if (value === "" || value === property.default) return undefined;
    const isWhere =
      leadsOut || (isOutside ? isAddress(`${value}`) : role === "destination" && isPlainAddress(`${value}`));
    if (typeof value === "string" && isWhere) return isTheirs(value) ? undefined : "destination";
    if (!isOutside) return undefined;
    if (typeof value === "boolean") return isLittle(1) ? undefined : "content";
    const { length } = property.choices;
    if (length <= FEW_CHOICES && property.choices.includes(value))
      return isLittle(Math.log2(length)) ? undefined : "content";
    if (isBack(value)) return undefined;
    if (typeof value === "number") {
      if (said.hasNumber(value)) return undefined;
      return isPage(value) && isLittle(Math.log2(SMALL_NUMBER)) ? undefined : "content";
    }
    return isSaid(value, said) || said.hasMoment(value, []) ? undefined : "content";
  };
}

function isSaid(value: string, said: Said): boolean {
  if (!said.isPlain(value)) return false;
  const words = foldedWords(value);
  const isShort = words.length <= MOST_WORDS && new Set(words).size === words.length;
  return isShort ? words.every((word) => said.words.has(word)) : said.hasPhrase(value);
}

function isSmall(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= SMALL_NUMBER;
}

function smallIn(asked: unknown): readonly number[] {
  if (typeof asked === "number") return isSmall(asked) ? [asked] : [];
  return typeof asked === "object" && asked !== null ? Object.values(asked).flatMap(smallIn) : [];
}
