/** Whether the action is the person's: the values of a call may all be theirs, and what is done with them not. */
import { foldedWords } from "../../../kernel/kit.ts";
import type { Said } from "../said.ts";
import { readMoment } from "../values/moments.ts";
import { readNumber } from "../values/numbers.ts";
import { type Leaf, leavesOf } from "./leaves.ts";
import { roleOf } from "./roles.ts";
import { isAskedFor, isNamed } from "./verbs.ts";

type Made = Parameters<typeof leavesOf>[0] & { readonly name: string; readonly owner: string };

interface Earlier {
  readonly owner: string;
  readonly tool?: string;
  readonly asked: unknown;
  readonly isPast?: boolean;
}

export function isWanted(
  called: Made,
  leaves: readonly Leaf[],
  said: Said,
  heard: readonly Earlier[],
): boolean {
  const earlier = heard.filter(
    ({ tool, owner, isPast = false }) => !isPast && (tool ?? owner) === called.name && owner === called.owner,
  );
  const told = tellingOf(leaves);
  const isDone = earlier.some(({ asked }) => isPart(told, toldBy(called, asked)));
  if (isDone) return AGAIN.some((word) => said.asked.has(word));
  // What ran before was asked for or approved.
  if (earlier.length > 0) return true;
  // Without a word about which one, it could be done to all.
  return told.size === 0 ? isNamed(called, said) && !hasChoice(called) : isAskedFor(called, said);
}

/** What a call says, however it is ordered and written; a day more or less makes it no other. */
function tellingOf(leaves: readonly Leaf[]): ReadonlySet<string> {
  const telling = leaves.filter(
    ({ value, property }) =>
      value !== "" &&
      value !== false &&
      value !== property.default &&
      (typeof value !== "string" || readMoment(value) === undefined),
  );
  return new Set(
    telling.map(({ name, role, value }) => {
      const isWords = role === "content" && typeof value === "string" && readNumber(value) === undefined;
      return `${isWords ? WORDS : ""}${name}: ${foldedWords(String(value)).join("")}`;
    }),
  );
}

/** What a call that was made said is read once. */
const TOLD = new WeakMap<object, ReadonlySet<string>>();

function toldBy(called: Made, asked: unknown): ReadonlySet<string> {
  const isKnown = typeof asked === "object" && asked !== null;
  const told = (isKnown && TOLD.get(asked)) || tellingOf(leavesOf({ ...called, params: asked }));
  if (isKnown) TOLD.set(asked, told);
  return told;
}

const WORDS = "words ";

/** The same, or the same with more words to it. */
function isPart(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  if (one.size === 0 || other.size === 0) return one.size === other.size;
  const isLess = one.isSubsetOf(other) || other.isSubsetOf(one);
  return isLess && [...one.symmetricDifference(other)].every((more) => more.startsWith(WORDS));
}

function hasChoice({ schema, roles = {} }: Made): boolean {
  const { properties } = schema;
  const names = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  return names.some((name) => (Object.hasOwn(roles, name) ? roles[name] : roleOf([name])) !== "content");
}

const AGAIN = [
  "again",
  "twice",
  "repeat",
  "retry",
  "nochmal",
  "nochmals",
  "erneut",
  "encore",
  "otra",
  "ancora",
];
