/** The body of `POST /webhook` (§2.2): bytes in, a job to submit out, or a fault that names the field. */
import { Fault, type NewJob } from "../../kernel/plugin.ts";

const LONGEST_NAME = 256;
const LONGEST_KEY = 255;
// What walks metadata later, down to JSON.stringify, recurses: 64 KB of brackets would overflow its stack.
const DEEPEST_METADATA = 32;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;

const utf8 = new TextDecoder("utf-8", { fatal: true });

export function parseSubmission(bytes: Buffer, idempotencyKey: string): NewJob {
  const body = parseObject(bytes);
  const { message, metadata } = body;
  const user = parseName(body, "user_id");
  if (user === undefined) throw invalid("user_id", "is required: a string that names the user");
  if (typeof message !== "string" || message.trim() === "")
    throw invalid("message", "is required: a string that is not blank");
  // SQLite's text functions end at the first NUL, so a message with one could not be found again.
  if (message.includes("\0")) throw invalid("message", "must not contain NUL characters");
  if (!isAbsent(metadata) && !isObject(metadata)) throw invalid("metadata", "must be an object");
  if (isObject(metadata) && isDeeper(metadata, DEEPEST_METADATA))
    throw invalid("metadata", `must not be nested deeper than ${DEEPEST_METADATA} levels`);
  if (idempotencyKey.length > LONGEST_KEY)
    throw invalid("Idempotency-Key", `must not be longer than ${LONGEST_KEY} characters`);
  const conversation = parseName(body, "conversation_id");
  return {
    channel: "webhook",
    user,
    message,
    ...(conversation !== undefined && { conversation }),
    ...(isObject(metadata) && { metadata }),
    ...(idempotencyKey !== "" && { idempotencyKey }),
  };
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  let body: unknown;
  try {
    body = JSON.parse(utf8.decode(bytes));
  } catch {
    throw new Fault("invalid", "invalid_json", "the body is not JSON in UTF-8");
  }
  if (!isObject(body)) throw new Fault("invalid", "invalid_body", "the body must be a JSON object");
  return body;
}

function parseName(body: Record<string, unknown>, field: string): string | undefined {
  const value = body[field];
  if (isAbsent(value)) return undefined;
  if (typeof value !== "string" || value.trim() === "" || value.length > LONGEST_NAME || CONTROL.test(value))
    throw invalid(
      field,
      `must be a string of 1 to ${LONGEST_NAME} characters, none of them a control character`,
    );
  return value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** Many serialisers write an optional field that is not there as null. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(field: string, what: string): Fault {
  return new Fault("invalid", "invalid_field", `"${field}" ${what}`, { param: field });
}
