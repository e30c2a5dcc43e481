/** What a server asks a person: a stranger's words, bounded and freed of what nobody sees, and the answer in its own form. */
import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import { withoutHidden } from "../../../kernel/mask/visible.ts";
import type { Question, Reply } from "../../../kernel/plugin.ts";
import { cleaned, isShallow } from "../tools/definition.ts";

const MOST_QUESTIONS = 8;
const LONGEST_KEY = 200;
const LONGEST_MESSAGE = 4000;
const LONGEST_URL = 2000;
const LARGEST_SCHEMA = 16 * 1024;
const DEEPEST_SCHEMA = 8;
const MOST_FIELDS = 32;

/** The message says why nobody can be asked. */
export class Unaskable extends Error {}

/** Of an `input_required` answer, by the server's own keys. */
export function readRequests(requests: unknown): readonly Question[] {
  const entries = Object.entries((requests ?? {}) as Readonly<Record<string, unknown>>);
  if (entries.length === 0) throw new Unaskable("it asks for something without saying what");
  if (entries.length > MOST_QUESTIONS)
    throw new Unaskable(`it asks ${entries.length} things at once; ${MOST_QUESTIONS} are the most`);
  return entries.map(([key, request]) => {
    const { method, params } = (request ?? {}) as { method?: unknown; params?: unknown };
    if (method !== "elicitation/create")
      throw new Unaskable(
        `it asks for ${withoutHidden(String(method)).slice(0, 60)}, which servers are not given here`,
      );
    if (key.length > LONGEST_KEY || withoutHidden(key) !== key)
      throw new Unaskable("its question has no usable name");
    return readQuestion(key, params as ElicitRequest["params"]);
  });
}

export function readQuestion(key: string, params: ElicitRequest["params"]): Question {
  const { message, mode, url, requestedSchema } = params as Readonly<Record<string, unknown>>;
  const said = clip(withoutHidden(String(message ?? "")), LONGEST_MESSAGE);
  if (mode === "url") {
    const page = typeof url === "string" && url.length <= LONGEST_URL ? URL.parse(url) : null;
    if (page === null || !["https:", "http:"].includes(page.protocol))
      throw new Unaskable("it wants a page to be visited whose address is none");
    return { key, message: said, url: page.href };
  }
  if (requestedSchema === undefined) return { key, message: said };
  return { key, message: said, schema: readSchema(requestedSchema) };
}

function readSchema(schema: unknown): Readonly<Record<string, unknown>> {
  const refuse = (why: string) => new Unaskable(`its question cannot be shown: ${why}`);
  if (!isShallow(schema, DEEPEST_SCHEMA)) throw refuse("it nests too deeply");
  const text = JSON.stringify(schema) ?? "";
  if (text.length > LARGEST_SCHEMA) throw refuse("it is too long");
  const clean = cleaned(schema) as { type?: unknown; properties?: unknown };
  const { type, properties = {} } = clean;
  if (type !== "object" || typeof properties !== "object" || properties === null)
    throw refuse("the answer would not be an object");
  if (Object.keys(properties).length > MOST_FIELDS) throw refuse(`it has more than ${MOST_FIELDS} fields`);
  return clean as Readonly<Record<string, unknown>>;
}

/** What was said to it, as the protocol has it. */
export function toResult(reply: Reply | undefined): ElicitResult {
  if (reply === undefined) return { action: "cancel" };
  const { action, content } = reply;
  return action === "accept" && content !== undefined
    ? { action, content: content as NonNullable<ElicitResult["content"]> }
    : { action };
}

function clip(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`.toWellFormed();
}
