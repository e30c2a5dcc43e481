/**
 * Rules whether a call may run without asking, given where its values come from. Nothing is asked while the conversation has only
 * the person's words. Once it has somebody else's, a value counts as theirs unless it can be traced to the person.
 */
import { foldedWords, wordsOfName } from "../../kernel/kit/words.ts";
import type { JsonSchema } from "../../kernel/plugin.ts";
import { type Consent, carriedBy } from "./call/carried-consent.ts";
import { isChosen, isSwitched } from "./call/choices.ts";
import type { Ground, Grounds } from "./call/grounds.ts";
import {
  createLeakBudget,
  type EmptyNode,
  emptyNodesOf,
  type LeakBudget,
  type Spending,
} from "./call/leak-budget.ts";
import { isAddress, namesRecipient, type Role } from "./call/param-roles.ts";
import type { Use } from "./call/param-rules.ts";
import { type Leaf, leavesOf } from "./call/param-values.ts";
import { BACK_BITS, createReadingCheck, isPlace, MOMENT_BITS } from "./call/read-check.ts";
import { isAskedFor, isWanted, subjectsOf, takenIn, takesAway } from "./call/requested-action.ts";
import { createResolver, isMomentIn } from "./call/resolved.ts";
import { foreignPart, isOwnAddress } from "./call/web-address.ts";
import { type AnswerRecord, listsThings, type Scalar } from "./outputs/records.ts";
import { isPointedTo } from "./outputs/references.ts";
import { isExcerpt, listedIn, type SaidText, sourceOf } from "./outputs/search.ts";
import { hasHidden } from "./person/identifiers.ts";
import { readNumber } from "./person/numbers.ts";
import type { Said } from "./person/utterances.ts";
import requests from "./words/requests.json" with { type: "json" };

/** Somebody else's words in this conversation, and what they were asked. */
export interface Heard {
  /** The tool or server that said it; its own values may go back to it. */
  readonly owner: string;
  readonly text: string;
  /** The params of the call that it answers. */
  readonly asked: unknown;
  /** The tool that answered; the owner where it is left out. */
  readonly tool?: string;
  /** True where a model of ours may have written some of it: it gives no value to trust. */
  readonly isMade?: boolean | undefined;
  /** True for an earlier run of a routine, which does the same each time. */
  readonly isPast?: boolean;
  /** Its place in the conversation, where it has one. */
  readonly at?: number;
}

export interface Called {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly params: unknown;
  readonly writes: boolean;
  /** True where what it is sent leaves this machine. */
  readonly isOutside: boolean;
  readonly owner: string;
  /** Roles of its params, if the tool declares them. */
  readonly roles?: Readonly<Record<string, Role>> | undefined;
  /** The params of calls of this tool, as it is now, that the person approved. */
  readonly approved?: readonly unknown[];
  /** The places of the values that they agreed to in a plan that has this call for a step. */
  readonly planned?: ReadonlySet<string> | undefined;
  /** What rules of theirs allow in it. */
  readonly uses?: readonly Use[] | undefined;
  /** What they allowed at its owner in this turn. */
  readonly consent?: Consent | undefined;
  /** Tells whether others gave this address without knowing anything of the conversation; only for a tool that may read any public page. */
  isGiven?(address: string): boolean;
}

export type Rule = "destination" | "content" | "change";

export interface Doubt {
  readonly rule: Rule;
  /** The parameter; empty where it is the call as a whole. */
  readonly name: string;
  readonly value: Scalar;
  /** Who said it, where it can be found. */
  readonly source: Heard | undefined;
  /** The part of an address put together by the model that is not the person's. */
  readonly part?: string | undefined;
}

export const MAX_DOUBTS = 20;
/** Two amounts in one turn, and what is chosen with them. */
const AMOUNT_BITS = 8;

/** `budget`: what the calls of the turn may carry out in values that say little. `grounds` gets why values need no question. */
export function judge(
  called: Called,
  said: Said,
  heard: readonly Heard[],
  budget: LeakBudget = createLeakBudget(),
  grounds: Grounds = new Map(),
): readonly Doubt[] {
  const isWeb = called.isGiven !== undefined;
  // If nobody else has said anything, only the address of a page can be in doubt: the model may have put anything into it.
  const isAlone = heard.length === 0;
  if (isAlone && !isWeb) return [];
  const leaves = leavesOf(called).filter((leaf) => !isAlone || isPlace(leaf, true));
  const spending = budget.open(called.name);
  const kept = new Set<Leaf>();
  const texts = leaves.flatMap(({ value }) => (typeof value === "string" ? [value] : []));
  const check = called.writes
    ? checkSpending(
        called,
        said,
        spending,
        kept,
        texts,
        checkChange(called, leaves, texts, said, heard, kept, grounds),
      )
    : createReadingCheck(
        called,
        said,
        heard,
        (value, isLink) => isDestination(value, said, isLink) || (isWeb && isOwnAddress(value, said)),
        spending,
      );
  const isApproved = approvedIn(called);
  const isCarried = carriedBy(called, leaves, said, heard);
  const ruleOf = (leaf: Leaf): Rule | undefined => {
    if (leaf.isRest) return "destination";
    const free = (ground: Ground) => void grounds.set(leaf.at, ground);
    if (isApproved(leaf)) return free("approved");
    if (called.planned?.has(leaf.at)) return free("planned");
    const rule = check(leaf);
    if (rule === undefined && !called.writes) free(called.isGiven?.(String(leaf.value)) ? "link" : "little");
    if (rule === undefined) return undefined;
    const isRuled = called.uses?.some(({ places }) => places.has(leaf.at)) === true;
    if (!isRuled && !isCarried(leaf)) return rule;
    const bits = isRuled && typeof leaf.value === "number" ? AMOUNT_BITS : BACK_BITS;
    return spending.take(leaf.at, leaf.value, bits) ? free(isRuled ? "rule" : "carried") : rule;
  };
  const isHeard = (part: string) => sourceOf(part, heard) !== undefined;
  const doubts: Doubt[] = [];
  for (const leaf of leaves) {
    const rule = ruleOf(leaf);
    if (rule === undefined) continue;
    const whole = sourceOf(leaf.value, heard);
    const isComposed = isWeb && rule === "destination" && whole === undefined;
    const part = isComposed ? foreignPart(leaf.value, said, isHeard) : undefined;
    const source = part === undefined ? whole : sourceOf(part, heard);
    doubts.push({ rule, name: leaf.name, value: leaf.value, source, part });
    // Nobody reads more of them.
    if (doubts.length === MAX_DOUBTS) break;
  }
  const empty = called.isOutside && !isAlone ? firstTooMany(called.params, spending) : undefined;
  if (empty) doubts.push({ rule: "content", name: empty.name, value: empty.shown, source: undefined });
  // What else is in doubt may be trusted for good, which a rule must not turn into a call that nobody asked for.
  const isRuled = grounds.values().some((ground) => ground === "rule");
  if (doubts.length > 0 && !isRuled) return doubts;
  if (called.writes && !called.planned && !isWanted(called, leaves, said, heard))
    doubts.push({ rule: "change", name: "", value: called.name, source: sourceOf(called.name, heard) });
  if (doubts.length > 0) return doubts;
  spending.keep();
  return [];
}

/** The node at which a call says more in empty values than is left to say. */
function firstTooMany(params: unknown, spending: Spending): EmptyNode | undefined {
  for (const node of emptyNodesOf(params)) if (!spending.take(node.at, node.shown, node.bits)) return node;
  return undefined;
}

/** A changing call spends too, although each value that it sends out is the person's. */
function checkSpending(
  called: Called,
  said: Said,
  spending: Spending,
  kept: ReadonlySet<Leaf>,
  texts: readonly string[],
  check: Check,
): Check {
  if (!called.isOutside) return check;
  return (leaf) => {
    const rule = check(leaf);
    if (rule !== undefined) return rule;
    const { at, value, property } = leaf;
    // It goes back to the one who said it: only which part of it was chosen says something.
    if (kept.has(leaf)) return spending.take(at, value, BACK_BITS) ? undefined : "content";
    const isLittle = value === "" || value === property.default || typeof value === "boolean";
    const isListed = property.choices.includes(value);
    if (isLittle || isListed) return spending.take(at, value, 1) ? undefined : "content";
    if (typeof value === "string" && said.hasMoment(value, texts))
      return spending.take(at, value, MOMENT_BITS) ? undefined : "content";
    // A text of the person's may be long, and is sent where they wanted it.
    if (leaf.role === "content" && said.hasPhrase(String(value)) && !/\d$/.test(at)) return undefined;
    return spending.takeSaid(leaf, said) ? undefined : "content";
  };
}

/** Judges a call of which only the action counts: nobody but the person has said anything yet. */
export function judgeAction(called: Called, said: Said): readonly Doubt[] {
  if (isAskedFor(called, said)) return [];
  return [{ rule: "change", name: "", value: called.name, source: undefined }];
}

/** Returns a check: did the person approve this value in this parameter? What they let a mail say is no address to write to. */
export function approvedIn(called: Called): (leaf: Leaf) => boolean {
  const keyOf = ({ name, role, value }: Leaf) => JSON.stringify([name, role, value]);
  const known = new Set(
    (called.approved ?? []).flatMap((params) => leavesOf({ ...called, params }).map(keyOf)),
  );
  return (leaf) => !leaf.isRest && known.has(keyOf(leaf));
}

type Check = (leaf: Leaf) => Rule | undefined;

/** `kept` gets the values that are others', and that the person pointed to. */
function checkChange(
  called: Called,
  leaves: readonly Leaf[],
  texts: readonly string[],
  said: Said,
  heard: readonly Heard[],
  kept: Set<Leaf>,
  grounds: Grounds,
): Check {
  const isAsked = called.planned !== undefined || isAskedFor(called, said);
  const given = heard.filter(({ isMade }) => !isMade);
  const listing = new Set([...new Set(given.map(({ tool, owner }) => tool ?? owner))].filter(listsThings));
  const lists = isAsked ? given.filter(({ tool, owner }) => listing.has(tool ?? owner)) : [];
  const isTheirs = (leaf: Leaf) => isPersons(leaf, said, texts);
  const contents = leaves.flatMap(({ role, value }) => (role === "content" ? [String(value)] : []));
  const isTaken = takesAway(called) ? takenIn(called, said) : undefined;
  const listsFor = (leaf: Leaf) => areAbout(called, leaf, lists);
  const isMeant = (leaf: Leaf, among: readonly Heard[] = lists, isFit = (_: AnswerRecord) => true) =>
    isPointedTo(leaf.value, (record) => holds(record, leaf) && isFit(record), {
      lists: areAbout(called, leaf, among),
      said,
      contents,
      ...(isTaken && { isMeant: isTaken }),
    });
  const isBegun = (leaf: Leaf) => {
    const records = () => listsFor(leaf).flatMap((one) => listedIn(one).records);
    return said.beginnings.some((begin) => isOnlyOne(String(leaf.value), begin, records()));
  };
  const resolver = createResolver(called, said, given);
  const isResolved = (leaf: Leaf) =>
    isAsked &&
    (resolver.isContact(leaf) ||
      resolver.isOnPage(leaf) ||
      resolver.isOfNamed(leaf, (among, isFit) => isMeant(leaf, among, isFit)));
  // Text that the person had the agent read may be kept where the person said.
  const isKept = (leaf: Leaf) => {
    if (!isAsked || !isStore(called.name, leaves) || ADMITS.test(called.name)) return false;
    const targets = leaves.filter(({ role }) => role !== "content");
    if (targets.length === 0 || !targets.every((target) => isTheirs(target) || isMeant(target))) return false;
    const read = given.filter(
      ({ asked, owner }) =>
        (!called.isOutside || owner === called.owner) && textsOf(asked).some((text) => said.hasPhrase(text)),
    );
    return (
      isExcerpt(String(leaf.value), read.flatMap(textsIn)) ||
      isMomentIn(String(leaf.value), texts, read, said)
    );
  };
  return (leaf) => {
    const { role, value } = leaf;
    const isMisplaced =
      role !== "content" && typeof value === "string" && isTaken?.(foldedWords(value).join(" ")) === false;
    const free = (ground: Ground) => void grounds.set(leaf.at, ground);
    if (isTheirs(leaf)) {
      if (isMisplaced) return "change";
      return free(value === leaf.property.default ? "default" : "said");
    }
    switch (role) {
      case "destination":
        if (isBegun(leaf)) return free("begun");
        if (!isResolved(leaf)) return "destination";
        kept.add(leaf);
        return free("resolved");
      case "selector":
        if (isMeant(leaf)) return free("named");
        return isAsked && resolver.isExtreme(leaf) ? free("largest") : "change";
      case "content":
        if (!isKept(leaf)) return "change";
        kept.add(leaf);
        return free("kept");
    }
  };
}

/** What is in a thing, without what others noted about it: a comment on a draft is not part of the draft. */
function textsIn(answer: Heard): readonly SaidText[] {
  const noted = listedIn(answer).records.flatMap((record) =>
    record.flatMap(([field, value]) => (NOTED.test(lastWord(field)) ? [String(value)] : [])),
  );
  return noted.length === 0
    ? [answer]
    : listedIn(answer).records.map((record) => ({
        text: record
          .flatMap(([field, value]) => (NOTED.test(lastWord(field)) ? [] : [String(value)]))
          .join("\n"),
      }));
}

const NOTED = /^(?:comments?|notes?|notices?|reviews?|remarks?|repl(?:y|ies)|feedback|annotations?)$/;

const STORE =
  /(?:^|_)(?:create|append|write|add|save|put)_(?:[a-z]{1,20}_){0,3}(?:files?|notes?|documents?|docs?|lists?)$/;
const DIARY = /(?:^|_)(?:create|add)_(?:[a-z]{1,20}_)?(?:events?|appointments?|reminders?)$/;

/** An entry in the person's calendar is a note of theirs while it invites nobody. */
function isStore(name: string, leaves: readonly Leaf[]): boolean {
  return STORE.test(name) || (DIARY.test(name) && leaves.every(({ role }) => role !== "destination"));
}

/** A list of who may come in is no note of the person's. */
const ADMITS = /user|member|allow|block|white|mail|share|public|access|permission|key|host|ip_/;

export function isPersons(leaf: Leaf, said: Said, beside: readonly string[]): boolean {
  const { name, role, value, property } = leaf;
  if (value === property.default) return true;
  if (typeof value === "boolean") return isSwitched(leaf, said);
  if (typeof value === "number")
    return role === "selector"
      ? said.hasLabelled(`${value}`, name)
      : said.hasNumber(value) || isChosen(leaf, said);
  if (value.trim() === "") return value.length < 3;
  if (role === "destination" || isAddress(value))
    return (isDestination(value, said, leaf.leadsOut) && !isOnlySender(leaf, said)) || isChosen(leaf, said);
  if (said.hasMoment(value, beside) || isChosen(leaf, said)) return true;
  const number = readNumber(value);
  if (number !== undefined)
    return said.hasLabelled(value, name) || (role === "content" && said.hasNumber(number));
  return said.hasPhrase(value);
}

/** True for one or several destinations that the person wrote, also with the owner's name: "Ann <ann@example.com>". */
function isDestination(value: string, said: Said, isLink: boolean): boolean {
  if (said.hasName(value, isLink)) return true;
  const several = value.split(/[,;] ?/);
  if (several.length > 1) {
    const isDistinct = new Set(several.map((one) => one.toLowerCase())).size === several.length;
    return isDistinct && several.length < 50 && several.every((one) => isDestination(one, said, isLink));
  }
  const [, name, address] = /^(\S[^<>]{0,200}) <([^<>\s]{3,200})>$/.exec(value) ?? [];
  return address !== undefined && said.hasName(address) && said.hasPhrase(name ?? "");
}

/** True where somebody's mail was to be read, and not answered. */
function isOnlySender({ name, value }: Leaf, said: Said): boolean {
  return (
    namesRecipient(name) && said.isSender(String(value)) && !REPLY_WORDS.some((word) => said.asked.has(word))
  );
}

const REPLY_WORDS = requests.reply.split(" ");

/** The lists that can say which one is meant: a list of files says nothing about mails, nor does one owner about another's. */
function areAbout(called: Called, leaf: Leaf, lists: readonly Heard[]): readonly Heard[] {
  const subjects = subjectsOf(called.name, called.owner).union(subjectsOf(leaf.name, ""));
  const isAbout = (tool: string, owner: string) => {
    if (owner !== called.owner && ELSEWHERE.test(owner)) return false;
    return subjects.size === 0 ? owner === called.owner : !subjects.isDisjointFrom(subjectsOf(tool, owner));
  };
  // There may be thousands of lists, and of few tools.
  const known = new Map<string, Map<string, boolean>>();
  return lists.filter(({ owner, tool = owner }) => {
    const tools = known.get(owner) ?? new Map<string, boolean>();
    known.set(owner, tools);
    const is = tools.get(tool) ?? isAbout(tool, owner);
    tools.set(tool, is);
    return is;
  });
}

const ELSEWHERE = /^(?:server|hosts|caller|outside|file|memory) /;

/** True where the record has the value in the field that the parameter is named after: `file_id` is a file's `id`. */
function holds(record: AnswerRecord, { name, value }: Leaf): boolean {
  const last = lastWord(name);
  return record.some(([field, one]) => {
    if (String(one) !== String(value)) return false;
    const own = lastWord(field);
    return own === last || (last !== "id" && (own === "name" || own === "title" || own === ""));
  });
}

function lastWord(name: string): string {
  return wordsOfName(name).at(-1) ?? "";
}

function isOnlyOne(value: string, begin: string, records: readonly AnswerRecord[]): boolean {
  if (value.length > 64 || isAddress(value) || hasHidden(value)) return false;
  const fitting = new Set(
    records.flatMap((record) =>
      record.flatMap(([, field, isListed]) =>
        !isListed && typeof field === "string" && field.toLowerCase().startsWith(begin) ? [field] : [],
      ),
    ),
  );
  return fitting.size === 1 && fitting.has(value);
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
