/**
 * May this call run without asking, given where its values come from? Nothing is asked while all that was read in the
 * conversation is the person's. Once somebody else's words are in it, a value counts as theirs unless it can be traced to the person.
 */

import { wordsOfName } from "../../kernel/kit.ts";
import type { JsonSchema } from "../../kernel/plugin.ts";
import { isExcerpt, listedIn, sourceOf } from "./answers/matches.ts";
import { isPointedTo } from "./answers/pointing.ts";
import { type AnswerRecord, listsThings, type Scalar } from "./answers/records.ts";
import { isChosen, isSwitched } from "./called/choices.ts";
import { type Leaf, leavesOf } from "./called/leaves.ts";
import { createReadingCheck } from "./called/reading.ts";
import { isAddress, namesRecipient, type Role } from "./called/roles.ts";
import { isAskedFor, subjectsOf } from "./called/verbs.ts";
import { isWanted } from "./called/wanted.ts";
import type { Said } from "./said.ts";
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
  /** Of an earlier run of what is done again and again. */
  readonly isPast?: boolean;
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
  const check = called.writes
    ? checkChange(called, leaves, said, heard)
    : createReadingCheck(called, said, heard, (value) => isDestination(value, said));
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

function checkChange(called: Called, leaves: readonly Leaf[], said: Said, heard: readonly Heard[]): Check {
  const isAsked = isAskedFor(called, said);
  const texts = leaves.flatMap(({ value }) => (typeof value === "string" ? [value] : []));
  const listing = new Set([...new Set(heard.map(({ tool, owner }) => tool ?? owner))].filter(listsThings));
  const lists = isAsked ? heard.filter(({ tool, owner }) => listing.has(tool ?? owner)) : [];
  const isTheirs = (leaf: Leaf) => isPersons(leaf, said, texts);
  const contents = leaves.flatMap(({ role, value }) => (role === "content" ? [String(value)] : []));
  const listsFor = (leaf: Leaf) => areAbout(called, leaf, lists);
  const isMeant = (leaf: Leaf) =>
    isPointedTo(leaf.value, (record) => holds(record, leaf), { lists: listsFor(leaf), said, contents });
  const isBegun = (leaf: Leaf) =>
    said.beginnings.some((begin) =>
      isOnlyOne(
        String(leaf.value),
        begin,
        listsFor(leaf).flatMap((one) => listedIn(one).records),
      ),
    );
  // What was read at the person's word may be kept where the person said.
  const isKept = (leaf: Leaf) => {
    if (!isAsked || !STORE.test(called.name) || ADMITS.test(called.name)) return false;
    const targets = leaves.filter(({ role }) => role !== "content");
    if (targets.length === 0 || !targets.every((target) => isTheirs(target) || isMeant(target))) return false;
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
        return isMeant(leaf) ? undefined : "change";
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
  if (role === "destination" || isAddress(value))
    return (isDestination(value, said) && !isOnlySender(leaf, said)) || isChosen(leaf, said);
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

/** The mail of somebody was to be read, and not answered. */
function isOnlySender({ name, value }: Leaf, said: Said): boolean {
  return (
    namesRecipient(name) && said.isSender(String(value)) && !ANSWERS.some((word) => said.asked.has(word))
  );
}

const ANSWERS =
  `reply answer respond back her him them they sender author forward antworte antworten beantworte zuruck ihm ihr ihnen reponds repondre lui
  responde responder rispondi rispondere`.split(/\s+/);

/** What lists files says nothing about which mail is meant, and nobody lists what is at somebody else's. */
function areAbout(called: Called, leaf: Leaf, lists: readonly Heard[]): readonly Heard[] {
  const subjects = subjectsOf(called.name, called.owner).union(subjectsOf(leaf.name, ""));
  const isAbout = (tool: string, owner: string) => {
    if (owner !== called.owner && ELSEWHERE.test(owner)) return false;
    return subjects.size === 0 ? owner === called.owner : !subjects.isDisjointFrom(subjectsOf(tool, owner));
  };
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
