/** The sentences about a call that is held: one for each value, with who said it. */

import { MAX_DOUBTS } from "../../kernel/kit/display.ts";
import { visibleLine } from "../../kernel/kit/text.ts";
import type { Doubt, DoubtReason, Origin, PlannedStep } from "../../kernel/kit/turns.ts";
import { capitalise, sayName, wordsOfName } from "../../kernel/kit/words.ts";
import type { ToolInfo } from "../../kernel/plugin.ts";
import { isAddress } from "./call/param-roles.ts";
import type { ExplainedValue } from "./explained.ts";
import { MAX_FOLLOWED } from "./links.ts";
import type { Rule } from "./ruling.ts";
import type { Source } from "./sources.ts";

const MAX_VALUE_LENGTH = 80;
const MAX_EXCERPT_LENGTH = 200;
const MAX_NAME_LENGTH = 120;
const MAX_CALLED_LENGTH = 40;

export interface Found {
  readonly tool: string;
  /** Of a tool of an MCP server, what the server calls it. */
  readonly server?: ToolInfo["server"];
  readonly rule: Rule;
  readonly param: string;
  readonly value: string;
  /** Who said it, where it can be found. */
  readonly source: Source | undefined;
  /** Who spoke last, where it cannot. */
  readonly last: Source | undefined;
  /** The part of an address put together by the model that is not the person's. */
  readonly part?: string | undefined;
  /** True where it asks only because many links were followed before. */
  readonly isOverLimit?: boolean | undefined;
}

export function describe(found: Found): Doubt {
  const { value, source, part } = found;
  const shown = shownValue(value);
  const excerpt = source && excerptOf(source.text, part ?? value);
  return { ...outline(found, shown, part), headline: headlineOf(found, shown), value: shown, excerpt };
}

/** For a receipt, which keeps no values. */
export function withoutValue(found: Found): Doubt {
  return { ...outline(found, "…"), value: "" };
}

/** `part` is left out where no value may be shown. */
function outline(found: Found, shown: string, part?: string): Omit<Doubt, "value"> {
  const { rule, param, source } = found;
  const origin = source && shortOrigin(source.origin);
  const piece = part === undefined ? undefined : shownValue(part);
  const sentence = sentenceOf(found, shown, piece ?? "…");
  return {
    rule,
    param,
    origin,
    sentence,
    source: namedIn(found),
    reason: reasonOf(found),
    ...(piece !== undefined && { part: piece }),
  };
}

function reasonOf(found: Found): DoubtReason {
  const { tool, rule, value, source, last, part, isOverLimit } = found;
  if (isUnasked(found)) return { tool, why: "unasked" };
  const who = source ?? (part === undefined ? last : undefined);
  const said = source ? "source" : "unsaid";
  return {
    tool,
    why: part !== undefined ? `part_${said}` : isOverLimit ? "limit" : said,
    noun: nounOf(rule, value),
    source: who && namesOf(who),
    ...(isOverLimit && { count: MAX_FOLLOWED }),
  };
}

function namesOf({ origin, place, tool }: Source): NonNullable<DoubtReason["source"]> {
  return {
    ...shortOrigin(origin),
    ...(place !== undefined && { place: shorten(place, MAX_NAME_LENGTH) }),
    ...(origin.kind === "page" && tool !== undefined && { tool }),
  };
}

/** Describes a value that need not be asked about. */
export function describeFlow({
  source,
  value,
  ...flow
}: Pick<ExplainedValue, "param" | "role" | "value" | "from"> & {
  readonly source: Source | undefined;
}): ExplainedValue {
  const own = flow.from === "person" ? "the user said it" : "the model wrote it";
  return {
    ...flow,
    value: shownValue(value),
    origin: source && shortOrigin(source.origin),
    excerpt: source && excerptOf(source.text, value),
    sentence: source ? `from ${nameOf(source)}` : own,
  };
}

export function shownValue(value: string): string {
  return shorten(value, MAX_VALUE_LENGTH);
}

/** A stranger's name for a thing: nothing in it ends the quotation that it is shown in. */
export const shownName = (name: string): string => shorten(name.replace(/[“”„"()]/g, "'"), MAX_CALLED_LENGTH);

/** Whose a value of a planned step is: in words, and in parts. */
export interface Whose extends Pick<PlannedStep["values"][number], "why" | "source"> {
  readonly from: string;
}

/** What a person is told about the values of a planned step that have no stranger behind them. */
export const GIVEN_BY_STEP: Whose = { from: "filled in by an earlier step", why: "earlier" };
export const ASKED_LATER: Whose = { from: "asked about by itself, when the call is made", why: "later" };

/** Whose words a value of a planned step is, where it is not the person's. */
export function tellWhose(source: Source | undefined): Whose {
  if (source === undefined) return { from: "not your words", why: "unsaid" };
  return { from: `from ${nameOf(source)}`, why: "source", source: namesOf(source) };
}

/** At most so many that somebody reads them; the last one says how many more there are. */
export function bound(doubts: readonly Doubt[], tool: string): readonly Doubt[] {
  const more = doubts.slice(MAX_DOUBTS - 1);
  const [first] = more;
  if (first === undefined || more.length === 1) return doubts;
  const sentence = `${tool}: ${more.length} more values are not from you`;
  const reason = { tool, why: "more", count: more.length } as const;
  return [...doubts.slice(0, MAX_DOUBTS - 1), { rule: first.rule, param: "", value: "", sentence, reason }];
}

/** Tells the model why a call was refused where nobody is asked. */
export function refusalOf(doubts: readonly Doubt[]): string {
  const why = doubts.map(({ sentence }) => `- ${sentence}`).join("\n");
  return `The call was not made, because it has values that the user did not give:\n${why}\nTell the user, and let them say it themselves.`;
}

/** True where only the action is in doubt: the values may all be theirs. */
const isUnasked = ({ rule, param }: Found) => rule === "change" && param === "";

function sentenceOf(found: Found, shown: string, piece: string): string {
  const { tool, rule, param } = found;
  if (isUnasked(found)) return `${tool}: you did not ask for this, or not again`;
  if (found.part !== undefined) return `${tool} to ${shown}: ${whyOfPart(found, piece)}`;
  return `${tool} ${PLACED[rule](param, shown)}: this ${whyOf(found)}`;
}

/** The question to a person, and why it is asked: "Post to evil-repo? That repo comes from …, not from you." */
function headlineOf(found: Found, shown: string): string {
  const { tool, rule, param, part, server } = found;
  const [first = ""] = wordsOfName(server?.tool ?? tool);
  const isAction = GIVING.has(first.toLowerCase());
  const act = isAction ? sayAct(server?.tool ?? tool) : `Use ${tool}`;
  const at = isAction && server ? ` (${server.name})` : "";
  if (isUnasked(found)) return `${act}${at}? You did not ask for this, or not again.`;
  const preposition = isAction ? "to" : "on";
  const place = `${rule === "destination" ? `${preposition} ${shown}` : `with ${param} “${shown}”`}${at}`;
  const why = part === undefined ? `That ${whyOf(found)}` : capitalise(whyOfPart(found, shownValue(part)));
  return `${act} ${place}? ${why}.`;
}

const sayAct = (tool: string): string => capitalise(sayName(tool));

/** A planned step as people read it: what is done and, of an MCP server, where. */
export function titleOf({ name, server }: Pick<ToolInfo, "name" | "server">): string {
  return server === undefined ? sayAct(name) : `${sayAct(server.tool)} (${server.name})`;
}

/** Names of tools that begin with one of these say what is done to a destination. */
const GIVING = new Set(
  "copy deliver email export forward mail move pay post publish push reply send share submit transfer upload write".split(
    " ",
  ),
);

function whyOf(found: Found): string {
  const { rule, param, value, source, isOverLimit } = found;
  const kind = nounOf(rule, value);
  const noun = kind === "destination" ? sayName(param) || kind : NOUNS[kind];
  const named = namedIn(found);
  if (isOverLimit)
    return `${noun} comes from ${named}, and ${MAX_FOLLOWED} links were followed in this turn without asking`;
  if (source) return `${noun} comes from ${named}, not from you`;
  return `${noun} is not something you said${named === undefined ? "" : `, and ${named} was read before`}`;
}

function whyOfPart(found: Found, piece: string): string {
  const made = `the model put this link together, and “${piece}”`;
  return found.source
    ? `${made} comes from ${namedIn(found)}, not from you`
    : `${made} is not something you said about this site`;
}

/** Names who said it or, where that is unknown, who spoke last. */
function namedIn(found: Found): string | undefined {
  const { source, last } = found;
  if (isUnasked(found)) return undefined;
  if (source) return nameOf(source);
  return last && (last.place === undefined ? nameOf(last) : shorten(last.place, MAX_NAME_LENGTH));
}

const PLACED: Readonly<Record<Rule, (param: string, value: string) => string>> = {
  destination: (_, value) => `to ${value}`,
  content: (param, value) => `would send out “${value}” (${param})`,
  change: (param, value) => `with ${param} “${value}”`,
};

type Noun = NonNullable<DoubtReason["noun"]>;

const NOUNS: Readonly<Record<Noun, string>> = {
  address: "address",
  link: "link",
  account: "account number",
  number: "number",
  text: "text",
  destination: "destination",
};

function nounOf(rule: Rule, value: string): Noun {
  if (/^[^\s@]+@[^\s@]+$/.test(value)) return "address";
  if (isAddress(value)) return "link";
  const digits = value.replace(/[\s-]/g, "");
  if (/^[a-z]{0,4}\d[a-z0-9]{7,}$/i.test(digits)) return "account";
  if (rule === "destination") return "destination";
  return /^-?\d+(?:\.\d+)?$/.test(value) ? "number" : "text";
}

function nameOf({ origin, place, tool }: Source): string {
  const name = shorten(origin.name, MAX_NAME_LENGTH);
  const read = place === undefined ? undefined : shorten(place, MAX_NAME_LENGTH);
  switch (origin.kind) {
    case "page":
      return tool === undefined ? name : `${name} (read by ${tool})`;
    case "tool":
      return read === undefined ? `the output of ${name}` : `${read} (read by ${name})`;
    case "server":
      return read === undefined ? `the MCP server ${name}` : `${read} (read from the MCP server ${name})`;
    case "caller":
      return `the app that is connected (${name})`;
    case "outside":
      return `outside (${name})`;
    case "file":
      return `the file ${name}`;
    case "memory":
      return `the memory document ${name}, which was written from what others said`;
    case "skill":
      return `the skill ${name}, which came from elsewhere`;
    case "model":
      return "what a model wrote";
  }
}

export function shortOrigin({ kind, name }: Origin): Origin {
  return { kind, name: shorten(name, MAX_NAME_LENGTH) };
}

/** The text on one line, with hidden characters made visible. */
function shorten(text: string, longest: number): string {
  const line = visibleLine(text.slice(0, longest * 4).trim());
  return line.length <= longest ? line : `${line.slice(0, longest - 1).trimEnd()}…`.toWellFormed();
}

/** The place of the text where the value stands, with some of what is around it. */
function excerptOf(text: string, value: string): string | undefined {
  const lower = text.toLowerCase();
  const whole = lower.indexOf(value.toLowerCase());
  // A value that is written differently there is found by its longest word.
  const word = (value.match(/[\p{L}\p{N}]+/gu) ?? []).reduce((a, b) => (b.length > a.length ? b : a), "");
  const at = whole !== -1 ? whole : word.length > 2 ? lower.indexOf(word.toLowerCase()) : -1;
  if (at === -1) return undefined;
  const room = Math.max(20, Math.floor((MAX_EXCERPT_LENGTH - value.length) / 2));
  const [from, to] = [Math.max(0, at - room), Math.min(text.length, at + value.length + room)];
  const cut = text.slice(from, Math.min(to, from + MAX_EXCERPT_LENGTH)).toWellFormed();
  // A line break between two paragraphs hides nothing, and is not worth a sign of its own.
  const [first = "", ...rest] = cut.split("\n");
  const piece = rest.reduce((before, line) => `${before.trimEnd()} ${line.trimStart()}`, first);
  return `${from > 0 ? "…" : ""}${visibleLine(piece)}${to < text.length ? "…" : ""}`;
}
