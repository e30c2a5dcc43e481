/** What a person is told about a call that is held: one sentence for each value, with who said it. The one home of these words. */
import {
  type Doubt,
  type ExplainedValue,
  MAX_DOUBTS,
  type Origin,
  visibleLine,
  wordsOfName,
} from "../../kernel/kit.ts";
import { isAddress } from "./called/roles.ts";
import type { Rule } from "./ruling.ts";
import type { Source } from "./sources.ts";

const LONGEST_VALUE = 80;
const LONGEST_EXCERPT = 200;
const LONGEST_NAME = 120;

export interface Found {
  readonly tool: string;
  readonly rule: Rule;
  readonly param: string;
  readonly value: string;
  /** Who said it, where it can be found. */
  readonly source: Source | undefined;
  /** Who spoke last, where it cannot. */
  readonly last: Source | undefined;
}

export function describe(found: Found): Doubt {
  const { rule, param, value, source } = found;
  const excerpt = source && excerptOf(source.text, value);
  const named = namedIn(found);
  return {
    rule,
    param,
    value: shownValue(value),
    ...(source && { origin: shortOrigin(source.origin) }),
    ...(excerpt !== undefined && { excerpt }),
    sentence: sentenceOf(found, shownValue(value)),
    ...(named !== undefined && { source: named }),
  };
}

/** The same of a value that need not be asked about. */
export function describeFlow({
  source,
  value,
  ...flow
}: Pick<ExplainedValue, "param" | "role" | "value" | "from"> & {
  readonly source: Source | undefined;
}): ExplainedValue {
  const excerpt = source && excerptOf(source.text, value);
  return {
    ...flow,
    value: shownValue(value),
    ...(source && { origin: shortOrigin(source.origin) }),
    ...(excerpt !== undefined && { excerpt }),
    sentence: source
      ? `from ${nameOf(source)}`
      : flow.from === "person"
        ? "the user said it"
        : "the model wrote it",
  };
}

export function shownValue(value: string): string {
  return shorten(value, LONGEST_VALUE);
}

/** For a receipt, which keeps no values. */
export function withoutValue(found: Found): Doubt {
  const { rule, param, source } = found;
  const named = namedIn(found);
  return {
    rule,
    param,
    value: "",
    ...(source && { origin: shortOrigin(source.origin) }),
    sentence: sentenceOf(found, "…"),
    ...(named !== undefined && { source: named }),
  };
}

/** Nobody reads a hundred: the last one says how many there are. */
export function bound(doubts: readonly Doubt[], tool: string): readonly Doubt[] {
  const more = doubts.slice(MAX_DOUBTS - 1);
  const [first] = more;
  if (first === undefined || more.length === 1) return doubts;
  const sentence = `${tool}: ${more.length} more values are not from you`;
  return [...doubts.slice(0, MAX_DOUBTS - 1), { rule: first.rule, param: "", value: "", sentence }];
}

/** For the model, where nobody is asked. */
export function refusalOf(doubts: readonly Doubt[]): string {
  const why = doubts.map(({ sentence }) => `- ${sentence}`).join("\n");
  return `The call was not made, because it has values that the user did not give:\n${why}\nTell the user, and let them say it themselves.`;
}

/** The values may all be theirs, and what is done with them not. */
const isUnasked = ({ rule, param }: Found) => rule === "change" && param === "";

function sentenceOf(found: Found, shown: string): string {
  const { tool, rule, param, value, source } = found;
  if (isUnasked(found)) return `${tool}: you did not ask for this, or not again`;
  const what = `${tool} ${PLACED[rule](param, shown)}: this ${nounOf(rule, param, value)}`;
  const named = namedIn(found);
  if (source) return `${what} comes from ${named}, not from you`;
  return `${what} is not something you said${named === undefined ? "" : `, and ${named} was read before`}`;
}

/** Who said it or, where that cannot be found, who spoke last. */
function namedIn(found: Found): string | undefined {
  const { source, last } = found;
  if (isUnasked(found)) return undefined;
  if (source) return nameOf(source);
  return last && (last.place === undefined ? nameOf(last) : shorten(last.place, LONGEST_NAME));
}

const PLACED: Readonly<Record<Rule, (param: string, value: string) => string>> = {
  destination: (_, value) => `to ${value}`,
  content: (param, value) => `would send out “${value}” (${param})`,
  change: (param, value) => `with ${param} “${value}”`,
};

/** What the value is, in a word or two. */
function nounOf(rule: Rule, param: string, value: string): string {
  if (/^[^\s@]+@[^\s@]+$/.test(value)) return "address";
  if (isAddress(value)) return "link";
  const digits = value.replace(/[\s-]/g, "");
  if (/^[a-z]{0,4}\d[a-z0-9]{7,}$/i.test(digits)) return "account number";
  if (rule === "destination") return wordsOfName(param).join(" ") || "destination";
  return /^-?\d+(?:\.\d+)?$/.test(value) ? "number" : "text";
}

function nameOf({ origin, place }: Source): string {
  const name = shorten(origin.name, LONGEST_NAME);
  switch (origin.kind) {
    case "tool":
      return place === undefined
        ? `the output of ${name}`
        : `${shorten(place, LONGEST_NAME)} (read by ${name})`;
    case "server":
      return place === undefined
        ? `the MCP server ${name}`
        : `${shorten(place, LONGEST_NAME)} (read from the MCP server ${name})`;
    case "caller":
      return `the app that is connected (${name})`;
    case "outside":
      return `outside (${name})`;
    case "file":
      return `the file ${name}`;
    case "memory":
      return `the memory document ${name}, which was written from what others said`;
  }
}

export function shortOrigin({ kind, name }: Origin): Origin {
  return { kind, name: shorten(name, LONGEST_NAME) };
}

/** On one line, with what cannot be seen made visible. */
function shorten(text: string, longest: string["length"]): string {
  const line = visibleLine(text.slice(0, longest * 4).trim());
  return line.length <= longest ? line : `${line.slice(0, longest - 1).trimEnd()}…`.toWellFormed();
}

/** Where the value stands in what they said, with some of what is around it. */
function excerptOf(text: string, value: string): string | undefined {
  const lower = text.toLowerCase();
  const whole = lower.indexOf(value.toLowerCase());
  // One that is written differently there is looked for by its longest word.
  const word = (value.match(/[\p{L}\p{N}]+/gu) ?? []).reduce((a, b) => (b.length > a.length ? b : a), "");
  const at = whole !== -1 ? whole : word.length > 2 ? lower.indexOf(word.toLowerCase()) : -1;
  if (at === -1) return undefined;
  const room = Math.max(20, Math.floor((LONGEST_EXCERPT - Math.min(value.length, LONGEST_EXCERPT)) / 2));
  const [from, to] = [Math.max(0, at - room), Math.min(text.length, at + value.length + room)];
  const piece = text.slice(from, Math.min(to, from + LONGEST_EXCERPT)).toWellFormed();
  return `${from > 0 ? "…" : ""}${visibleLine(piece)}${to < text.length ? "…" : ""}`;
}
