/**
 * Rules that a person made from a question: "up to 20 EUR a day", "anything in ann/". One is for one parameter of one tool, and its limit
 * stands in their own words: it is offered by them, or typed with the answer.
 */

import type { ParamRule, RuleOffer } from "../../../kernel/kit/turns.ts";
import { trimEnd, wordsOfName } from "../../../kernel/kit/words.ts";
import type { Scalar } from "../outputs/records.ts";
import { contains, type SaidText } from "../outputs/search.ts";
import { readNumber } from "../person/numbers.ts";
import params from "../words/params.json" with { type: "json" };
import requests from "../words/requests.json" with { type: "json" };
import type { Leaf } from "./param-values.ts";

/** A rule that allows values of a call, and what they come to. */
export interface Use {
  readonly rule: ParamRule;
  readonly places: ReadonlySet<string>;
  /** In hundredths, as rules count. */
  readonly amount: number;
}

interface Said {
  readonly texts: readonly string[];
}

interface Heard extends SaidText {
  readonly isMade?: boolean | undefined;
}

export const HUNDREDTHS = 100;

const AMOUNTS = new Set(params.money.split(" "));
const UNITS = new Set(params.unit.split(" "));
const lastWord = (name: string): string => wordsOfName(name).at(-1) ?? "";
const lastName = (name: string): string => name.split(".").at(-1) ?? "";

/** What rules allow of these values. Of an amount all are counted, also where the person said some of them. */
export function usesOf(
  rules: readonly ParamRule[],
  leaves: readonly Leaf[],
  heard: readonly Heard[],
): readonly Use[] {
  return rules.flatMap((rule) => {
    const own = leaves.filter(({ name, isRest }) => name === rule.param && !isRest);
    if (rule.kind === "within") {
      const isThere = (leaf: Leaf) => isInside(leaf, rule.limit) && isListed(leaf.value, heard);
      const inside = own.filter(isThere).map(({ at }) => at);
      return inside.length === 0 ? [] : [{ rule, places: new Set(inside), amount: 0 }];
    }
    const units = unitsOf(leaves);
    const isUnit = units.every(({ value }) => value === rule.unit) && units.length === (rule.unit ? 1 : 0);
    const amounts = own.map(({ value }) => (typeof value === "number" && value > 0 ? value : Number.NaN));
    const amount = amounts.reduce((sum, one) => sum + Math.ceil(one * HUNDREDTHS - ROUNDING), 0);
    const isFit =
      own.length > 0 && isUnit && !isMultiplied(leaves, own) && amount <= Number(rule.limit) * HUNDREDTHS;
    return isFit ? [{ rule, places: new Set([...own, ...units].map(({ at }) => at)), amount }] : [];
  });
}

/** 0.07 * 100 is a little more than 7. */
const ROUNDING = 1e-6;

/** The price of one thing says nothing of what fifty of them come to. */
const isMultiplied = (leaves: readonly Leaf[], own: readonly Leaf[]): boolean =>
  leaves.some(
    (leaf) =>
      typeof leaf.value === "number" && leaf.value !== 1 && leaf.role === "content" && !own.includes(leaf),
  );

/** A value that a model makes up below the person's place could carry something there. */
function isListed(value: Scalar, heard: readonly Heard[]): boolean {
  const isIn = contains(value);
  return heard.some((one) => !one.isMade && isIn(one));
}

/** Whatever is an amount of something else has a unit of its own. */
function unitsOf(leaves: readonly Leaf[]): readonly Leaf[] {
  return leaves.filter(({ name }) => UNITS.has(lastWord(lastName(name))) || /currency/i.test(lastName(name)));
}

/** Letters, digits and plain marks, and never a name that begins with a dot. */
const STEP = /^[\p{L}\p{N}_][\p{L}\p{N}_. +-]{0,200}$/u;
const LOCAL_PART = /^[a-z0-9][a-z0-9._+-]{0,63}$/;

function isInside({ value, role }: Leaf, limit: string): boolean {
  if (typeof value !== "string" || role === "content") return false;
  if (limit.startsWith("@")) return value.endsWith(limit) && LOCAL_PART.test(value.slice(0, -limit.length));
  return (
    value.startsWith(limit) &&
    value
      .slice(limit.length)
      .split("/")
      .every((step) => STEP.test(step) && !/\.\.|[. ]$/.test(step))
  );
}

/** A rule that would have answered one of these doubts: in the person's words, and never from somebody else's alone. */
export function offerFor(
  doubted: readonly Leaf[],
  leaves: readonly Leaf[],
  said: Said,
): RuleOffer | undefined {
  for (const leaf of doubted) {
    if (!PLAIN_NAME.test(leaf.name)) continue;
    const offer = amountOffer(leaf, doubted, leaves, said) ?? withinOffer(leaf, said);
    if (offer) return offer;
  }
  return undefined;
}

/** Both are shown in our own words, and may be a stranger's. */
const PLAIN_NAME = /^[\w.-]{1,60}$/;
const PLAIN_UNIT = /^[A-Za-z]{2,5}$|^[€$£¥]$/;

function amountOffer(
  leaf: Leaf,
  doubted: readonly Leaf[],
  leaves: readonly Leaf[],
  { texts }: Said,
): RuleOffer | undefined {
  const { name, role, value } = leaf;
  if (role !== "content" || typeof value !== "number" || value <= 0) return undefined;
  if (!AMOUNTS.has(lastWord(lastName(name))) || isMultiplied(leaves, [leaf])) return undefined;
  const [first, ...others] = unitsOf(leaves);
  if (others.length > 0) return undefined;
  const unit = first === undefined ? undefined : String(first.value);
  const words = CURRENCIES.find((known) => known.has((unit ?? "").toLowerCase())) ?? new Set([unit ?? ""]);
  if (unit !== undefined) {
    const isTheirs = texts.some((text) => tokensOf(text).some((token) => words.has(token)));
    if (!PLAIN_UNIT.test(unit) || (doubted.includes(first as Leaf) && !isTheirs)) return undefined;
  }
  const limit = texts
    .flatMap((text) => [...text.toLowerCase().matchAll(UP_TO)])
    .findLast(([, before = "", , after = ""]) =>
      [before, after].every((word) => unit === undefined || words.has(word) || !isCurrency(word)),
    )?.[2];
  const most = limit === undefined ? undefined : readNumber(limit);
  return {
    ...{ kind: "amount", param: name },
    ...(most !== undefined && most > 0 && most < MAX_LIMIT && { limit: String(most) }),
    ...(unit !== undefined && { unit }),
  };
}

const MAX_LIMIT = 1e9;
const CURRENCIES = requests.currencies.split("|").map((words) => new Set(words.split(" ")));
const isCurrency = (word: string): boolean => CURRENCIES.some((known) => known.has(word));
const UP_TO = new RegExp(
  `(?<!\\p{L})(?:${requests.upTo}) ([€$£¥]?) ?(\\d[\\d.,]{0,12}(?<!\\D)) ?([€$£¥]|\\p{L}{0,12})`,
  "gu",
);
const tokensOf = (text: string): readonly string[] => text.toLowerCase().match(/\p{L}+|[€$£¥]/gu) ?? [];

/** The folder, owner or domain that it is directly in, if they wrote that. */
function withinOffer({ name, role, value, leadsOut }: Leaf, { texts }: Said): RuleOffer | undefined {
  if (role === "content" || typeof value !== "string" || value.length > MAX_PLACE) return undefined;
  const [at, slash] = [value.lastIndexOf("@"), value.lastIndexOf("/")];
  const limit = at > 0 ? value.slice(at) : value.slice(0, slash + 1);
  const isPlace =
    at > 0 ? slash === -1 : !leadsOut && /[\p{L}\p{N}]/u.test(limit) && !/:|%|\\|\.\./.test(limit);
  if (!isPlace || !isInside({ value, role } as Leaf, limit)) return undefined;
  const isTheirs = texts.some((text) => stands(text, limit));
  return isTheirs ? { kind: "within", param: name, limit } : undefined;
}

const MAX_PLACE = 300;

/** True where a word of theirs begins with it, or is it: a domain by itself, "ann/" or anything below it. */
function stands(text: string, limit: string): boolean {
  return text
    .split(/[\s"'“”„‘’`«»()<>,;]+/u)
    .some((word) => (limit.startsWith("@") ? trimEnd(word, ".!?:") === limit : word.startsWith(limit)));
}
