/** Whether the person asked for the action of a call: its values may all be theirs, and what is done with them not. */
import { LRUCache } from "lru-cache";
import { foldedWords, stem, wordsOfName } from "../../../kernel/kit/words.ts";
import { readMoment } from "../person/dates.ts";
import { readNumber } from "../person/numbers.ts";
import { type Said, stepsIn } from "../person/utterances.ts";
import requests from "../words/requests.json" with { type: "json" };
import tools from "../words/tools.json" with { type: "json" };
import verbs from "../words/verbs.json" with { type: "json" };
import { roleOf } from "./param-roles.ts";
import { type Leaf, leavesOf } from "./param-values.ts";

const stemsOf = (words: string): readonly string[] => words.split(" ").flatMap(foldedWords).map(stem);
/** The verb of a tool, with what people say for it, also in German, French, Spanish and Italian. */
const VERBS = new Map(
  Object.entries(verbs).map(([verb, alike]) => [stem(verb), new Set(stemsOf(`${verb} ${alike}`))] as const),
);
const MONEY = new Set(stemsOf(requests.money));
const PAYING = new Set(stemsOf(requests.paying));
const FILLER = new Set(stemsOf(tools.filler));
const AGAIN = requests.again.split(" ");
const TAKING = new Set(stemsOf(requests.taking));
const MAX_NAMES = 1000;

/** There are few tools, and many outputs of each. */
function cachedByName<Value extends object>(make: (tool: string, owner: string) => Value) {
  const known = new LRUCache<string, Value>({ max: MAX_NAMES });
  return (tool: string, owner: string): Value => {
    const key = `${tool}\n${owner}`;
    const found = known.get(key) ?? make(tool, owner);
    known.set(key, found);
    return found;
  };
}

/** The words of a tool's name, without those of its server. */
const ownWords = cachedByName((tool, owner) => {
  const words = wordsOfName(tool).map(stem);
  const server = wordsOfName(owner.replace(/^(?:server|tool|hosts) /, "")).map(stem);
  const isOfServer = server.length < words.length && server.every((word, at) => word === words[at]);
  return isOfServer ? words.slice(server.length) : words;
});

/** Returns the subjects of a tool: `search_calendar_events` is about calendars and events. */
export const subjectsOf = cachedByName(
  (tool, owner): ReadonlySet<string> =>
    new Set(ownWords(tool, owner).filter((word) => !FILLER.has(word) && !VERBS.has(word))),
);

const STEMS = new WeakMap<Said, ReadonlySet<string>>();

/** The stems of what they asked for. */
export function wantedBy(said: Said): ReadonlySet<string> {
  const known = STEMS.get(said) ?? new Set([...said.asked].map(stem));
  STEMS.set(said, known);
  return known;
}

export interface Action {
  readonly name: string;
  readonly owner: string;
}

/** True where the person asked for this kind of action: what they pointed to, they pointed to for something. */
export function isAskedFor({ name, owner }: Action, said: Said): boolean {
  const wanted = wantedBy(said);
  const words = ownWords(name, owner);
  // To send a message is not to send money.
  if (words.some((word) => MONEY.has(word)) && PAYING.isDisjointFrom(wanted) && !said.hasPrice) return false;
  const alike = words.flatMap((word) => VERBS.get(word) ?? []);
  if (alike.length > 0) return alike.some((stems) => !stems.isDisjointFrom(wanted));
  // It is not known which of its words says what it does: "show me the user" asks for no `ban_user`.
  const telling = words.filter((word) => !FILLER.has(word));
  return telling.length > 0 && telling.every((word) => wanted.has(word));
}

/** True where the tool's name says that something is taken away, refused or ended by it. */
export const takesAway = ({ name, owner }: Action): boolean =>
  ownWords(name, owner).some((word) => TAKING.has(word));

const VERB_WORDS = new Map(
  Object.entries(verbs).map(([verb, alike]) => [stem(verb), foldedWords(`${verb} ${alike}`)] as const),
);
const ALL_VERBS = new Set([...VERB_WORDS.values()].flat());

/** Such a step names nothing itself: "delete them afterwards". */
const MAX_NAMELESS = 3;

/**
 * Returns a check for a call that takes something away: may the person have meant these words of theirs for that? A document that is to
 * be written into is not to be deleted although others are.
 */
export function takenIn({ name, owner }: Action, said: Said): (phrase: string) => boolean {
  const own = new Set(ownWords(name, owner).flatMap((word) => VERB_WORDS.get(word) ?? []));
  const steps = said.texts
    .flatMap((text) => stepsIn(text, (word) => ALL_VERBS.has(word)))
    .map(foldedWords)
    .map((words) => ({ words: ` ${words.join(" ")} `, length: words.length, verb: words[0] ?? "" }));
  const isOwn = ({ verb }: { readonly verb: string }) => own.has(verb);
  if (!steps.some(isOwn) || steps.some((step) => isOwn(step) && step.length <= MAX_NAMELESS))
    return () => true;
  const isOthers = ({ verb }: { readonly verb: string }) => !own.has(verb) && ALL_VERBS.has(verb);
  return (phrase) => {
    const naming = steps.filter(({ words }) => words.includes(` ${phrase} `));
    return naming.length === 0 || !naming.every(isOthers);
  };
}

/** True where the person named a call without values: `empty_trash` by "empty the trash". */
function isNamed({ name, owner }: Action, said: Said): boolean {
  const wanted = wantedBy(said);
  return isAskedFor({ name, owner }, said) && [...subjectsOf(name, owner)].every((word) => wanted.has(word));
}

type Made = Parameters<typeof leavesOf>[0] & Action;

interface Earlier extends Pick<Action, "owner"> {
  readonly tool?: string;
  readonly asked: unknown;
  readonly isPast?: boolean;
}

/** True where this very call is wanted: it was asked for, and not done before unless it is to be done again. */
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
  // The calls before it were asked for or approved.
  if (earlier.length > 0) return true;
  // A call that does not say which one could do it to all.
  return told.size === 0 ? isNamed(called, said) && !hasChoice(called) : isAskedFor(called, said);
}

/** The values of a call, however they are ordered and written; another day does not make it another call. */
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

/** Each earlier call is read once. */
const TOLD = new WeakMap<object, ReadonlySet<string>>();

function toldBy(called: Made, asked: unknown): ReadonlySet<string> {
  const isKnown = typeof asked === "object" && asked !== null;
  const told = (isKnown && TOLD.get(asked)) || tellingOf(leavesOf({ ...called, params: asked }));
  if (isKnown) TOLD.set(asked, told);
  return told;
}

const WORDS = "words ";

/** True where one says the same as the other, or the same with more words to it. */
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
