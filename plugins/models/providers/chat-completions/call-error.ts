/** Learns a server's dialect while talking with it: compatible servers differ in what they accept. */
import { tryRecord } from "../../../../kernel/kit/text.ts";
import { refusalText } from "../explain.ts";

export type ThoughtField = "reasoning_content" | "reasoning";

export interface Dialect {
  /** Fields that it has refused as unknown; they are left out from then on. */
  readonly refused: Set<string>;
  /** By which name it sends its thoughts, and wants them back. */
  thoughts: ThoughtField | undefined;
  /** False for Ollama, which calls whatever it is shown. */
  readonly readsToolChoice: boolean;
}

/** An answer that is a refusal, in the shape in which `explain` reads those of the packages. */
export class CallError extends Error {
  readonly statusCode: number;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responseBody: string;

  constructor(statusCode: number, responseHeaders: Readonly<Record<string, string>>, responseBody: string) {
    super(wordsOf(responseBody, statusCode));
    this.statusCode = statusCode;
    this.responseHeaders = responseHeaders;
    this.responseBody = responseBody;
  }
}

/** Reads the message of a refusal in any of the usual shapes. */
function wordsOf(text: string, status: number): string {
  const { error, detail, message } = tryRecord(text);
  const words = [error, detail, message].find((value) => value !== undefined);
  if (words !== undefined) return messageOf(words);
  return text.trim() === "" ? `HTTP ${status}` : text.trim().slice(0, 500);
}

export function messageOf(error: unknown): string {
  if (typeof error === "string") return error;
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === "string" ? message : JSON.stringify(error);
}

const UNKNOWN =
  /unknown|unrecogni[sz]ed|unexpected|unsupported|not support|not permitted|not allowed|cannot find|extra_forbidden/i;
const WRONG_VALUE = /(?:unsupported|invalid)[ _]value/i;
/** Fields whose value the caller chose: a value that is out of range is reported to the caller. */
const VALUES = new Set(["temperature", "top_p", "seed", "stop", "max_tokens", "max_completion_tokens"]);

/** The field that a refusal is about, of those that the answer could do without. */
export function refusedField(
  error: unknown,
  optional: readonly string[],
): { readonly name: string; readonly isUnknown: boolean } | undefined {
  const text = refusalText(error);
  if (text === "" || !(error instanceof CallError)) return undefined;
  const { param } = (tryRecord(error.responseBody)["error"] ?? {}) as { readonly param?: unknown };
  const found = optional
    .map((name) => ({ name, at: name === param ? -1 : placeOf(name, text) }))
    .filter(({ at }) => at !== undefined);
  // The first one named: what follows may be a list of all that would be right.
  const [first] = found.sort((one, other) => Number(one.at) - Number(other.at));
  const isUnknown = UNKNOWN.test(text);
  if (first === undefined || (!isUnknown && VALUES.has(first.name))) return undefined;
  return { name: first.name, isUnknown: isUnknown && !WRONG_VALUE.test(text) };
}

/** Returns where a text has this name as a word of its own. */
function placeOf(name: string, text: string): number | undefined {
  return new RegExp(`(?<!\\w)${RegExp.escape(name)}(?!\\w)`).exec(text)?.index;
}
