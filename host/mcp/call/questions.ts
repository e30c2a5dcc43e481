/** What a server asks a person: a stranger's words, bounded and freed of what nobody sees, and the answer in its own form. */
import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import { refuseQuestions, withoutHidden } from "../../../kernel/kit.ts";
import type { Question, Reply } from "../../../kernel/plugin.ts";
import { cleaned, isShallow } from "../tools/definition.ts";

const LONGEST_KEY = 200;
const LONGEST_MESSAGE = 4000;
const LONGEST_URL = 2000;
const DEEPEST_SCHEMA = 8;

/** The message says why nobody can be asked. */
export class Unaskable extends Error {}

/** Of an `input_required` answer, by the server's own keys. */
export function readRequests(requests: unknown): readonly Question[] {
  const entries = Object.entries((requests ?? {}) as Readonly<Record<string, unknown>>);
  const questions = entries.map(([key, request]) => {
    const { method, params } = (request ?? {}) as { method?: unknown; params?: unknown };
    if (method !== "elicitation/create")
      throw new Unaskable(
        `it asks for ${withoutHidden(String(method)).slice(0, 60)}, which servers are not given here`,
      );
    if (key.length > LONGEST_KEY || withoutHidden(key) !== key)
      throw new Unaskable("its question has no usable name");
    return read(key, params as ElicitRequest["params"]);
  });
  return askable(questions);
}

/** Of a server that waits for the answer with its call open. */
export function readQuestion(key: string, params: ElicitRequest["params"]): readonly Question[] {
  return askable([read(key, params)]);
}

function askable(questions: readonly Question[]): readonly Question[] {
  const why = refuseQuestions(questions);
  if (why !== undefined) throw new Unaskable(why);
  return questions;
}

function read(key: string, params: ElicitRequest["params"]): Question {
  const { message, mode, url, requestedSchema } = params as Readonly<Record<string, unknown>>;
  const said = clip(withoutHidden(String(message ?? "")), LONGEST_MESSAGE);
  if (mode === "url") {
    const page = typeof url === "string" && url.length <= LONGEST_URL ? URL.parse(url) : null;
    if (page === null) throw new Unaskable("it asks to visit an address that is no web page");
    return { key, message: said, url: page.href };
  }
  if (requestedSchema === undefined) return { key, message: said };
  return { key, message: said, schema: readSchema(requestedSchema) };
}

function readSchema(schema: unknown): Readonly<Record<string, unknown>> {
  if (!isShallow(schema, DEEPEST_SCHEMA)) throw new Unaskable("its question nests too deeply");
  const clean = cleaned(schema) as Readonly<Record<string, unknown>> | null;
  if (clean?.["type"] !== "object") throw new Unaskable("the answer to its question would not be an object");
  return clean;
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
