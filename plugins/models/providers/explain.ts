/** A provider's failure as a fault whose code says whether another try makes sense. */
import { Fault, type ModelName, reason } from "../../../kernel/plugin.ts";
import type { Format } from "../services.ts";

/** The provider does not answer in the format that was asked for. */
export const FORMAT_REFUSED = "model_format_refused";

/** The conversation is longer than the model's server takes. */
export const TOO_LONG = "too_long";

// Bounds how much of a refusal is searched: some servers repeat the whole request after it.
const MAX_SEARCHED_LENGTH = 2000;
const FORMAT = /response_format|json_schema|json_object|output_config|output_format|text\.format|grammar/i;

const LENGTH =
  /context_length_exceeded|maximum context length|context (?:window|limit|size)|prompt is too long|token count.{0,40}exceeds|exceeded model token limit/i;

interface CallError {
  readonly statusCode?: number;
  readonly responseBody?: string;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

export function explain(error: unknown, { provider, name }: ModelName, format?: Format): Fault {
  const { statusCode, responseHeaders, responseBody, cause } = callErrorOf(error);
  const who = `The model ${name} (${provider})`;
  const words = textOf(error);
  const fault = (code: string, message: string, retryAfterSecs?: number) =>
    new Fault("turn", code, message, { cause: error, retryAfterSecs });
  if (statusCode === 429) {
    const wait = retryAfter(responseHeaders) ?? resetAfter(responseHeaders) ?? retryDelay(responseBody);
    const until = wait === undefined ? "" : ` (try again in ${inTime(wait)})`;
    return fault("model_limited", `${who} is rate limited${until}: ${words}`, wait);
  }
  if (statusCode !== undefined && statusCode >= 500)
    return fault("model_error", `${who} reported an error: ${words}`, retryAfter(responseHeaders));
  if (statusCode === 401 || statusCode === 403)
    return fault("model_unauthorized", `${who} rejected the API key: ${words}. Check the API key.`);
  if (format !== undefined && FORMAT.test(refusalText(error)))
    return fault(FORMAT_REFUSED, `${who} refused the format of the answer: ${words}`);
  if (LENGTH.test(refusalText(error)))
    return fault(TOO_LONG, `The conversation is too long for ${name} (${provider}): ${words}`);
  if (statusCode === 404)
    return fault(
      "model_refused",
      `${who} was not found: ${words.replace(/\.$/, "")}. Choose another model, or check its name and its server's URL.`,
    );
  // Redirects included: none is followed, and another try would meet the same.
  if (statusCode !== undefined && statusCode >= 300)
    return fault("model_refused", `${who} refused the request: ${words}`);
  // The package did not even send it.
  if (error instanceof Error && /^AI_(?:Unsupported|InvalidPrompt|InvalidArgument)/.test(error.name))
    return fault("model_refused", `${who} does not take this: ${words}`);
  const root = rootCause(cause ?? error);
  if (/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|CONNECT_TIMEOUT/.test(root))
    return fault("model_unreachable", `${who} cannot be reached: ${root}. Is its server running?`);
  return fault(
    "model_cut",
    `${who} stopped in the middle of its answer: ${words}${root === words ? "" : ` (${root})`}`,
  );
}

export function callErrorOf(error: unknown): CallError {
  return (typeof error === "object" && error !== null ? error : {}) as CallError;
}

/** Returns the text of a refused request; empty for every other failure. */
export function refusalText(error: unknown, ...others: readonly number[]): string {
  const { statusCode = 0, responseBody = "" } = callErrorOf(error);
  if (![400, 422, ...others].includes(statusCode)) return "";
  return `${textOf(error)} ${responseBody}`.slice(0, MAX_SEARCHED_LENGTH);
}

function textOf(error: unknown): string {
  if (error instanceof Error) return reason(error);
  if (typeof error === "object" && error !== null && "message" in error) return String(error.message);
  return typeof error === "string" ? error : JSON.stringify(error);
}

function rootCause(error: unknown): string {
  let at = error;
  while (at instanceof Error && at.cause !== undefined) at = at.cause;
  const { code } = Object(at) as { readonly code?: unknown };
  const words = textOf(at);
  return typeof code === "string" && !words.includes(code) ? `${code} ${words}` : words;
}

/** Seconds, from either form in which servers send it. */
function retryAfter(headers: CallError["responseHeaders"]): number | undefined {
  const millis = Number(headers?.["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(millis)) return Math.max(0, millis / 1000);
  const given = headers?.["retry-after"];
  const seconds = given === undefined ? undefined : secondsUntil(given);
  return seconds === undefined ? undefined : Math.max(0, seconds);
}

/** Seconds until limits that are used up are reset: each header with "remaining" has one with "reset". */
function resetAfter(headers: CallError["responseHeaders"] = {}): number | undefined {
  const waits = Object.entries(headers).flatMap(([name, value]) => {
    if (!/ratelimit.{0,40}reset/.test(name) || headers[name.replace("reset", "remaining")] !== "0") return [];
    return secondsUntil(value) ?? [];
  });
  return waits.length === 0 ? undefined : Math.max(0, ...waits);
}

/** From "6m0s", "20ms", seconds, a moment in Unix time, or a date. */
function secondsUntil(value: string): number | undefined {
  const number = Number(value);
  // Seconds, then seconds since 1970, then milliseconds since then.
  if (Number.isFinite(number))
    return number < 1e9 ? number : number / (number < 1e11 ? 1 : 1000) - Date.now() / 1000;
  const spans = /^(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?(?:([\d.]+)ms)?$/.exec(value);
  if (spans !== null) {
    const [hours, minutes, seconds, millis] = spans.slice(1).map((span) => Number(span ?? 0));
    const sum = (hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0) + (millis ?? 0) / 1000;
    return Number.isFinite(sum) ? sum : undefined;
  }
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : (date - Date.now()) / 1000;
}

/** Google says it in the body. */
function retryDelay(body = ""): number | undefined {
  const [, seconds] = /"retryDelay":\s*"([\d.]{1,12})s"/.exec(body.slice(0, MAX_SEARCHED_LENGTH)) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}

const inTime = (seconds: number) =>
  seconds < 120 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
