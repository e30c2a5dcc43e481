/**
 * May this call run without asking, given where its values come from? Nothing is asked while all that was read in the
 * conversation is the person's. Once somebody else's words are in it, a value counts as theirs unless it can be traced to the person.
 */
import type { JsonSchema } from "../../../../kernel/plugin.ts";
import { foldedWords } from "../../memory/terms.ts";
import { wordsOfName } from "../../models/builtin/words.ts";
import { isExcerpt, recordsOf, sourceOf, standing } from "./answers/matches.ts";
import { type AnswerRecord, isOneThing, listsThings, namedRecords, type Scalar } from "./answers/records.ts";
import { isChosen, isSwitched } from "./called/choices.ts";
import { type Leaf, leavesOf } from "./called/leaves.ts";
import { isAddress, isPlainAddress, type Role } from "./called/roles.ts";
import { isAskedFor, isNamed, subjectsOf } from "./called/verbs.ts";
import type { Said } from "./said.ts";
import { readMoment } from "./values/moments.ts";
import { hasHidden } from "./values/names.ts";
import { readNumber } from "./values/numbers.ts";

/** What somebody else said in this conversation, and what they were asked. */
export interface Heard {
  /** Of a tool or a server; values that it said may go back to it. */
  readonly owner: string;
  readonly text: string;
  /** The params of the call that it answers. */
  readonly asked: unknown;
  /** The tool that answered; the owner where it is left out. */
  readonly tool?: string;
}

export interface Called {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly params: unknown;
  /** It changes something. */
  readonly writes: boolean;
  /** What it is sent leaves this machine. */
  readonly isOutside: boolean;
  readonly owner: string;
  /** What its params are for, where the tool says so. */
  readonly roles?: Readonly<Record<string, Role>> | undefined;
}

export type Rule = "destination" | "content" | "change";

export interface Doubt {
  readonly rule: Rule;
  /** The parameter; empty where it is the call as a whole. */
  readonly name: string;
  readonly value: Scalar;
  /** Who said it, where it can be found. */
  readonly source: Heard | undefined;
}

const MOST_DOUBTS = 20;

export function judge(called: Called, said: Said, heard: readonly Heard[]): readonly Doubt[] {
  if (heard.length === 0) return [];
  const leaves = leavesOf(called);
  const check = called.writes ? checkChange(called, leaves, said, heard) : checkReading(called, said, heard);
  const doubts: Doubt[] = [];
  for (const leaf of leaves) {
    const rule = leaf.isRest ? "destination" : check(leaf);
    if (rule === undefined) continue;
    doubts.push({ rule, name: leaf.name, value: leaf.value, source: sourceOf(leaf.value, heard) });
    // Nobody reads more of them, and they ask as much.
    if (doubts.length === MOST_DOUBTS) break;
  }
  if (doubts.length > 0 || !called.writes || isWanted(called, leaves, said, heard)) return doubts;
  return [{ rule: "change", name: "", value: called.name, source: sourceOf(called.name, heard) }];
}

type Check = (leaf: Leaf) => Rule | undefined;

/** The values may all be the person's, and the action still another than theirs. */
function isWanted(called: Called, leaves: readonly Leaf[], said: Said, heard: readonly Heard[]): boolean {
  const earlier = heard.filter(({ tool, owner }) => (tool ?? owner) === called.name);
  const told = tellingOf(leaves);
  const isDone = earlier.some(({ asked }) => tellingOf(leavesOf({ ...called, params: asked })) === told);
  if (isDone) return AGAIN.some((word) => said.asked.has(word));
  // What ran before was asked for or approved.
  if (earlier.length > 0) return true;
  return told === "" ? isNamed(called, said) : isAskedFor(called, said);
}

/** The values of a call, however they are ordered; a day more or less makes it no other. */
function tellingOf(leaves: readonly Leaf[]): string {
  const telling = leaves.filter(
    ({ value, property }) =>
      value !== "" &&
      value !== false &&
      value !== property.default &&
      (typeof value !== "string" || readMoment(value) === undefined),
  );
  return telling
    .map(({ name, value }) => `${name}: ${value}`)
    .toSorted()
    .join("\n");
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

/** Few enough not to say anything. */
const SMALL_NUMBER = 100;
const FEW_CHOICES = 32;

/** Reading changes nothing, but what is asked can carry something out. */
function checkReading({ isOutside, owner }: Called, said: Said, heard: readonly Heard[]): Check {
  const own = heard.filter((one) => one.owner === owner);
  const others = heard.filter((one) => one.owner !== owner);
  // What is found at both may be taken from either.
  const isBack = (value: Scalar) => {
    const stands = standing(value);
    const isTelling = String(value).length > 3 && !hasHidden(String(value));
    return isTelling && own.some(stands) && !others.some(stands);
  };
  return (leaf) => {
    const { value, role, property } = leaf;
    if (value === "" || typeof value === "boolean" || value === property.default) return undefined;
    const isWhere =
      leaf.leadsOut ||
      (isOutside ? isAddress(`${value}`) : role === "destination" && isPlainAddress(`${value}`));
    if (typeof value === "string" && isWhere) return isDestination(value, said) ? undefined : "destination";
    const isChoice = property.choices.length <= FEW_CHOICES && property.choices.includes(value);
    if (!isOutside || isChoice || isBack(value)) return undefined;
    if (typeof value === "number")
      return said.hasNumber(value) || (Number.isInteger(value) && Math.abs(value) <= SMALL_NUMBER)
        ? undefined
        : "content";
    const isTheirs = said.isPlain(value) && foldedWords(value).every((word) => said.words.has(word));
    return isTheirs || said.hasMoment(value, []) ? undefined : "content";
  };
}

function checkChange(called: Called, leaves: readonly Leaf[], said: Said, heard: readonly Heard[]): Check {
  const isAsked = isAskedFor(called, said);
  const texts = leaves.flatMap(({ value }) => (typeof value === "string" ? [value] : []));
  const listing = new Set([...new Set(heard.map(({ tool, owner }) => tool ?? owner))].filter(listsThings));
  const lists = isAsked ? heard.filter(({ tool, owner }) => listing.has(tool ?? owner)) : [];
  const isTheirs = (leaf: Leaf) => isPersons(leaf, said, texts);
  const contents = leaves.flatMap(({ role, value }) => (role === "content" ? [String(value)] : []));
  const meant = new Map<string, readonly AnswerRecord[]>();
  const meantBy = (leaf: Leaf) => {
    const records = lists.filter((one) => isAbout(called, leaf, one)).flatMap(recordsOf);
    return namedRecords(records, said, contents).filter((record) => isOneThing(record, records));
  };
  const isPointedTo = (leaf: Leaf) => {
    const records = meant.get(leaf.name) ?? meantBy(leaf);
    meant.set(leaf.name, records);
    return records.some((record) => holds(record, leaf));
  };
  const isBegun = ({ value }: Leaf) =>
    said.beginnings.some((begin) => isOnlyOne(String(value), begin, lists.flatMap(recordsOf)));
  // What was read at the person's word may be kept where the person said.
  const isKept = (leaf: Leaf) => {
    if (!isAsked || !STORE.test(called.name) || ADMITS.test(called.name)) return false;
    const targets = leaves.filter(({ role }) => role !== "content");
    if (targets.length === 0 || !targets.every((target) => isTheirs(target) || isPointedTo(target)))
      return false;
    const read = heard.filter(
      ({ asked, owner }) =>
        (!called.isOutside || owner === called.owner) && textsOf(asked).some((text) => said.hasPhrase(text)),
    );
    return isExcerpt(String(leaf.value), read);
  };
  return (leaf) => {
    if (isTheirs(leaf)) return undefined;
    switch (leaf.role) {
      case "destination":
        return isBegun(leaf) ? undefined : "destination";
      case "selector":
        return isPointedTo(leaf) ? undefined : "change";
      case "content":
        return isKept(leaf) ? undefined : "change";
    }
  };
}

const STORE =
  /(?:^|_)(?:create|append|write|add|save|put)_(?:[a-z]{1,20}_){0,3}(?:files?|notes?|documents?|docs?|lists?)$/;
/** Who may come in is no list of the person's own. */
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
  if (role === "destination" || isAddress(value)) return isDestination(value, said) || isChosen(leaf, said);
  if (said.hasMoment(value, beside) || isChosen(leaf, said)) return true;
  const number = readNumber(value);
  if (number !== undefined)
    return said.hasLabelled(value, name) || (role === "content" && said.hasNumber(number));
  return said.hasPhrase(value);
}

/** One or several, as the person wrote them; one may have its owner's name beside it. */
function isDestination(value: string, said: Said): boolean {
  if (said.hasName(value)) return true;
  const several = value.split(/[,;]/);
  if (several.length > 1) return several.length < 50 && several.every((one) => isDestination(one, said));
  const [, name, address] = /^([^<>]{1,200})<([^<>\s]{3,200})>$/.exec(value.trim()) ?? [];
  return address !== undefined && said.hasName(address) && said.hasPhrase(name ?? "");
}

/** What lists files says nothing about which mail is meant. */
function isAbout(called: Called, leaf: Leaf, { tool, owner }: Heard): boolean {
  const subjects = subjectsOf(called.name, called.owner).union(subjectsOf(leaf.name, ""));
  const listed = subjectsOf(tool ?? owner, owner);
  return subjects.size === 0 ? owner === called.owner : !subjects.isDisjointFrom(listed);
}

/** In the field that the param is called after: `file_id` is a file's `id`. */
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
      record.flatMap(([, field]) =>
        typeof field === "string" && field.toLowerCase().startsWith(begin) ? [field] : [],
      ),
    ),
  );
  return fitting.size === 1 && fitting.has(value);
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
