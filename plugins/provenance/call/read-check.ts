/** Checks calls that only read: they change nothing, but their values can carry something out. */
import { foldedWords } from "../../../kernel/kit/words.ts";
import type { Scalar } from "../outputs/records.ts";
import { contains } from "../outputs/search.ts";
import { hasHidden } from "../person/identifiers.ts";
import type { Said } from "../person/utterances.ts";
import type { Spending } from "./leak-budget.ts";
import { isAddress, isPlainAddress } from "./param-roles.ts";
import type { Leaf } from "./param-values.ts";

/** Smaller numbers are few enough not to carry anything. */
const MAX_SMALL_NUMBER = 100;
const MAX_CHOICES = 32;
/** The cost of an owner's own value that goes back, once somebody else has said something too. */
export const BACK_BITS = 2;
/** The cost of one of the days and times that the person named. */
export const MOMENT_BITS = 3;
/** The cost of another value of the only one who has said anything, where it goes back to them. */
const BACK_CHANGED_BITS = 1;
/** So many different page numbers may be asked of one owner, over all calls. */
const MAX_PAGES = 12;
/** The person's words in another order: more of them, or repeated ones, could spell something. */
const MAX_WORDS = 16;
const MAX_SEARCHED = 8_000_000;

interface CheckedCall {
  readonly isOutside: boolean;
  readonly owner: string;
  isGiven?(address: string): boolean;
}

interface Spoken {
  readonly owner: string;
  readonly text: string;
  readonly asked: unknown;
  readonly isMade?: boolean | undefined;
}

/** True for a value that says where a call goes. */
export function isPlace({ value, role, leadsOut, property }: Leaf, isOutside: boolean): boolean {
  if (typeof value === "boolean" || value === "" || value === property.default) return false;
  // Some read a number as an IP address.
  if (typeof value === "number") return leadsOut;
  return leadsOut || (isOutside ? isAddress(value) : role === "destination" && isPlainAddress(value));
}

/**
 * `isTheirs` says whether the person named a destination, and `isGiven` whether a tool that may read any page may go there because
 * somebody else did.
 */
export function createReadingCheck(
  { isOutside, owner, isGiven }: CheckedCall,
  said: Said,
  heard: readonly Spoken[],
  isTheirs: (destination: string, isLink: boolean) => boolean,
  spending: Spending,
): (leaf: Leaf) => "destination" | "content" | undefined {
  const isOwn = (one: Spoken) => one.owner === owner && !one.isMade;
  const own = heard.filter(isOwn);
  const others = heard.filter((one) => !isOwn(one));
  // A value that both have may come from either, and what is too long to search may hold anything.
  const isLong = heard.reduce((sum, { text }) => sum + text.length, 0) > MAX_SEARCHED;
  const isBack = (value: Scalar) => {
    const isIn = contains(value);
    const isTelling = String(value).length > 3 && !hasHidden(String(value));
    // Marks and capitals that are not the owner's could carry something.
    const written = [String(value), JSON.stringify(value).slice(1, -1)];
    const isAsWritten = ({ text }: Spoken) => written.some((one) => text.includes(one));
    return isTelling && !isLong && own.some((one) => isIn(one) && isAsWritten(one)) && !others.some(isIn);
  };
  const isPage = (value: number) => {
    if (!isSmall(value)) return false;
    const asked = new Set(own.flatMap((one) => smallIn(one.asked)).filter((one) => !said.hasNumber(one)));
    return asked.has(value) || asked.size < MAX_PAGES;
  };
  const isAllowed = (leaf: Leaf): boolean => {
    const { at, value, property } = leaf;
    if (value === "" || value === property.default || typeof value === "boolean")
      return spending.take(at, value, 1);
    const { length } = property.choices;
    if (length <= MAX_CHOICES && property.choices.includes(value))
      return spending.take(at, value, Math.log2(length));
    if (isBack(value))
      return others.length > 0
        ? spending.take(at, value, BACK_BITS)
        : spending.take(at, value, 0, BACK_CHANGED_BITS);
    if (typeof value === "number") {
      if (said.hasNumber(value)) return spending.takeSaid(leaf, said);
      return isPage(value) && spending.takePage(leaf, Math.log2(MAX_SMALL_NUMBER));
    }
    if (isSaid(value, said)) return spending.takeSaid(leaf, said);
    return said.hasMoment(value, []) && spending.take(at, value, MOMENT_BITS);
  };
  return (leaf) => {
    const { at, leadsOut, role } = leaf;
    if (isPlace(leaf, isOutside)) {
      const value = String(leaf.value);
      // The choice among a page's links is counted in links, not in bits.
      if (isGiven?.(value)) return spending.take(at, value, 0, 0) ? undefined : "content";
      if (!isTheirs(value, leadsOut)) {
        // A file's name may look like a host; one that its owner said goes back where no address is expected.
        const isName = role === "selector" && !leadsOut && !isPlainAddress(value) && isBack(value);
        return isName && spending.take(at, value, BACK_BITS) ? undefined : "destination";
      }
      return !isOutside || spending.takeSaid(leaf, said) ? undefined : "content";
    }
    return !isOutside || isAllowed(leaf) ? undefined : "content";
  };
}

export function isSaid(value: string, said: Said): boolean {
  if (!said.isPlain(value)) return false;
  const words = foldedWords(value);
  const isShort = words.length <= MAX_WORDS && new Set(words).size === words.length;
  return isShort ? words.every((word) => said.words.has(word)) : said.hasPhrase(value);
}

/** True for a value that gives a tool nothing of what others said. */
export function isLittle({ value, property }: Leaf, said: Said): boolean {
  if (value === "" || value === property.default || typeof value === "boolean") return true;
  if (property.choices.includes(value)) return true;
  return typeof value === "number" ? isSmall(value) || said.hasNumber(value) : isSaid(value, said);
}

function isSmall(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= MAX_SMALL_NUMBER;
}

function smallIn(asked: unknown): readonly number[] {
  if (typeof asked === "number") return isSmall(asked) ? [asked] : [];
  return typeof asked === "object" && asked !== null ? Object.values(asked).flatMap(smallIn) : [];
}
