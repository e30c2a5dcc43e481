/** Parses the body of a request (§2.2) into a job, or throws a fault that names the field. */
import { parseJson } from "../../../kernel/kit/http.ts";
import { type Check, compileCheck, describeMistake, type Mistake } from "../../../kernel/kit/schema.ts";
import { Fault } from "../../../kernel/plugin.ts";
import type { NewJob } from "../../jobs/services.ts";
import { parseTemplate, render } from "../integrations/template.ts";

const MAX_NAME_LENGTH = 256;
// Code that walks metadata later, down to JSON.stringify, recurses: 64 KB of brackets would overflow its stack.
const MAX_DEPTH = 32;

interface Body {
  readonly message: string;
  // Many serialisers write an absent optional field as null.
  readonly conversation_id?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
}

// Operators read names before they pair them: hidden or text-reversing characters could deceive them.
const NAME = {
  pattern: `^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff]{1,${MAX_NAME_LENGTH}}$`,
  refusal: `must be a string of 1 to ${MAX_NAME_LENGTH} characters, none of them a control or invisible character`,
};

const FIELDS = {
  message: {
    type: "string",
    pattern: "\\S",
    refusal: "must be a string that is not blank",
    // SQLite's text functions end at the first NUL, so a message with one could not be found again.
    allOf: [{ type: "string", pattern: "^[^\\u0000]*$", refusal: "must not contain NUL characters" }],
  },
  conversation_id: { type: ["string", "null"], ...NAME },
  metadata: { type: ["object", "null"] },
};

const checkMessage = compileCheck({ type: "object", required: ["message"], properties: FIELDS });
const checkNamedMessage = compileCheck({
  type: "object",
  required: ["user_id", "message"],
  properties: { user_id: { type: "string", ...NAME }, ...FIELDS },
});
const checkEvent = compileCheck({ type: "object" });

const utf8 = new TextDecoder("utf-8", { fatal: true });

type Submission = Omit<NewJob, "user">;

export function parseNamedMessage(bytes: Buffer): Submission & { readonly userId: string } {
  const body = parse<Body & { readonly user_id: string }>(bytes, checkNamedMessage);
  return { userId: body.user_id, ...submissionOf(body) };
}

/** Parses a message of an integration, whose user is fixed: a user in the body is ignored. */
export function parseMessage(bytes: Buffer): Submission {
  return submissionOf(parse<Body>(bytes, checkMessage));
}

/** Parses an event in its sender's own form: the template makes the message, and the event becomes metadata. */
export function parseEvent(bytes: Buffer, template: string): Submission {
  const event = parse<Readonly<Record<string, unknown>>>(bytes, checkEvent);
  refuseDepth(event, "");
  const { text: message, spans } = render(parseTemplate(template), event);
  return { channel: "webhook", message, spans, metadata: event };
}

function submissionOf(body: Body): Submission {
  const { message, conversation_id: conversation, metadata } = body;
  if (metadata) refuseDepth(metadata, "metadata");
  return {
    channel: "webhook",
    message,
    conversation: conversation || undefined,
    metadata: metadata ?? undefined,
  };
}

function parse<Parsed>(bytes: Buffer, check: Check): Parsed {
  let body: unknown;
  try {
    body = parseJson(utf8.decode(bytes));
  } catch {
    throw new Fault("invalid", "invalid_json", "The body is not JSON in UTF-8.");
  }
  const [mistake] = check(body);
  if (mistake !== undefined) throw invalid(mistake);
  return body as Parsed;
}

function refuseDepth(value: object, path: string): void {
  if (isDeeper(value, MAX_DEPTH))
    throw invalid({ path, problem: `must not be nested deeper than ${MAX_DEPTH} levels` });
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function invalid(mistake: Mistake): Fault {
  const words = `${describeMistake(mistake, "The body")}.`;
  return mistake.path === ""
    ? new Fault("invalid", "invalid_body", words)
    : new Fault("invalid", "invalid_field", words, { param: mistake.path });
}
