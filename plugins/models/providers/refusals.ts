/** Learns which settings a server refuses, of those that an answer can do without. */

import { tryRecord } from "../../../kernel/kit/text.ts";
import type { Generation } from "../../../kernel/kit/turns.ts";
import { callErrorOf, refusalText } from "./explain.ts";

/** Settings that an answer can do without. */
export interface Hints extends Omit<Generation, "maxOutputTokens"> {
  /** The limit of an answer by its older name, which every local server reads. */
  readonly maxTokens?: number;
  /** The limit by its newer name, once the older one was refused. */
  readonly maxCompletionTokens?: number;
  readonly parallelCalls?: boolean;
  /** The count of tokens is asked for. */
  readonly usage?: boolean;
  /** The end of the system text is marked as a place up to which to cache. */
  readonly cacheMark?: boolean;
  /** Thoughts of this turn go back. */
  readonly thoughts?: boolean;
  /** Thoughts are asked for sealed, so that they can go back. */
  readonly sealedThoughts?: boolean;
  /** The model is asked to summarise what it thinks: it leaves that out otherwise, and its words between calls with it. */
  readonly shownThoughts?: boolean;
  /** The model has to call a tool. */
  readonly forcedCall?: boolean;
}

export type Hint = keyof Hints;

/** The names by which servers refuse each of them. */
const NAMES: Readonly<Record<Hint, string>> = {
  temperature: "temperature",
  topP: "top_p",
  seed: "seed",
  stop: "stop|stop_sequences",
  maxTokens: "max_tokens|max_output_tokens",
  maxCompletionTokens: "max_completion_tokens",
  reasoningEffort: "reasoning_effort|reasoning|thinking|effort",
  reasoningSummary: "reasoning[. _]summar\\w+|summar\\w+|reasoning",
  cacheMark: "prompt_cache_breakpoint",
  cacheKey: "prompt_cache\\w*|cache_control",
  safetyIdentifier: "safety_identifier|user_id",
  parallelCalls: "parallel_tool\\w*|disable_parallel_tool\\w*",
  usage: "stream_options",
  thoughts: "reasoning_content|reasoning",
  sealedThoughts: "reasoning[._]encrypted_content|encrypted content|include",
  shownThoughts: "thinking|display",
  forcedCall: "tool_choice",
};
const PATTERNS = Object.entries(NAMES).map(
  ([hint, names]) => [hint as Hint, new RegExp(`(?<!\\w)(?:${names})(?!\\w)`, "i")] as const,
);

/** Hints whose value the caller chose: a value that is out of range is reported to the caller. */
const VALUES: ReadonlySet<Hint> = new Set([
  "temperature",
  "topP",
  "seed",
  "stop",
  "maxTokens",
  "maxCompletionTokens",
]);
const UNKNOWN =
  /unknown|unrecogni[sz]ed|unexpected|unsupported|not support|not permitted|not allowed|cannot find|extra_forbidden/i;
const WRONG_VALUE = /(?:unsupported|invalid)[ _]value/i;
/** Servers name the thinking first that does not go with a forced call, and have many words for a seal that is no longer good. */
const FORCED =
  /forc\w{1,10} tool|tool_choice.{0,80}(?:forc|think|reason)|(?:think|reason).{0,80}tool_choice/i;
const UNREADABLE =
  /bound to a different|invalid `?signature|cannot be modified|\brs_\w|encrypted.content.{0,60}(?:verif|decrypt|pars)/i;

/** What some servers want in every answer that goes back. */
const NEEDS = {
  /** The thoughts of all answers, those of earlier turns too: DeepSeek, Kimi. */
  allThoughts: /reasoning_content.{0,80}(?:missing|passed back|required)|missing.{0,20}reasoning_content/i,
  /** A seal on the first call of each: Gemini. */
  seals: /missing.{0,10}thought_?signature/i,
};
export type Need = keyof typeof NEEDS;
export const ALL_NEEDS = Object.keys(NEEDS) as Need[];

/** Returns what a refusal says is missing. */
export const missingNeed = (error: unknown): Need | undefined =>
  ALL_NEEDS.find((need) => NEEDS[need].test(refusalText(error)));

export interface RefusedHint {
  readonly hint: Hint;
  /** False if the server knows the setting, and refused only this value. */
  readonly isUnknown: boolean;
}

/** Returns the hint that a refusal is about, of those that were sent. */
export function refusedHint(error: unknown, sent: Hints): RefusedHint | undefined {
  const text = refusalText(error);
  if (text === "") return undefined;
  if (sent.forcedCall && FORCED.test(text)) return { hint: "forcedCall", isUnknown: true };
  // These thoughts are meant, not all.
  if (sent.thoughts && UNREADABLE.test(text)) return { hint: "thoughts", isUnknown: false };
  const { error: refusal } = tryRecord(callErrorOf(error).responseBody ?? "");
  const { param } = Object(refusal) as { readonly param?: unknown };
  const isUnknown = UNKNOWN.test(text);
  const named = typeof param === "string" ? firstNamed(param, sent) : undefined;
  const hint = named ?? firstNamed(text, sent, isUnknown ? undefined : VALUES);
  if (hint === undefined || (!isUnknown && VALUES.has(hint))) return undefined;
  return { hint, isUnknown: isUnknown && !WRONG_VALUE.test(text) };
}

/** The first one named: what follows may be a list of all that would be right. Of two at one place it is the longer name. */
function firstNamed(text: string, sent: Hints, except?: ReadonlySet<Hint>): Hint | undefined {
  const found = PATTERNS.flatMap(([hint, pattern]) => {
    const match = sent[hint] === undefined || except?.has(hint) ? null : pattern.exec(text);
    return match === null ? [] : [{ hint, at: match.index, length: match[0].length }];
  });
  return found.sort((one, other) => one.at - other.at || other.length - one.length)[0]?.hint;
}
