/** What a server asks during a call, as questions to a person, and the replies as it wants them. */
import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import { refuseQuestions } from "../../../kernel/kit/display.ts";
import { withoutHidden } from "../../../kernel/kit/text.ts";
import type { Question, Reply } from "../../../kernel/plugin.ts";
import { cleaned, clip, isShallow } from "../tools/definition.ts";

const MAX_KEY_LENGTH = 200;
const MAX_MESSAGE_LENGTH = 4000;
const MAX_URL_LENGTH = 2000;
const MAX_SCHEMA_DEPTH = 8;

export class Unaskable extends Error {}

export function readRequests(requests: unknown): readonly Question[] {
  const entries = Object.entries((requests ?? {}) as Readonly<Record<string, unknown>>);
  const questions = entries.map(([key, request]) => {
    const { method, params } = (request ?? {}) as { method?: unknown; params?: unknown };
    if (method !== "elicitation/create")
      throw new Unaskable(
        `it asks for ${withoutHidden(String(method)).slice(0, 60)}, which is not supported`,
      );
    if (key.length > MAX_KEY_LENGTH || withoutHidden(key) !== key)
      throw new Unaskable("its question has no usable name");
    return read(key, params as ElicitRequest["params"]);
  });
  const why = refuseQuestions(questions);
  if (why !== undefined) throw new Unaskable(why);
  return questions;
}

function read(key: string, params: ElicitRequest["params"]): Question {
  const { message, mode, url, requestedSchema } = params as Readonly<Record<string, unknown>>;
  const text = clip(withoutHidden(String(message ?? "")), MAX_MESSAGE_LENGTH);
  if (mode === "url") {
    const page = typeof url === "string" && url.length <= MAX_URL_LENGTH ? URL.parse(url) : null;
    if (page === null) throw new Unaskable("it asks to visit an address that is not a web page");
    return { key, message: text, url: page.href };
  }
  if (requestedSchema === undefined) return { key, message: text };
  if (!isShallow(requestedSchema, MAX_SCHEMA_DEPTH)) throw new Unaskable("its question nests too deeply");
  const schema = cleaned(requestedSchema) as Readonly<Record<string, unknown>> | null;
  if (schema?.["type"] !== "object") throw new Unaskable("the answer to its question would not be an object");
  return { key, message: text, schema };
}

export function toResult(reply: Reply | undefined): ElicitResult {
  if (reply === undefined) return { action: "cancel" };
  const { action, content } = reply;
  return action === "accept" && content !== undefined
    ? { action, content: content as NonNullable<ElicitResult["content"]> }
    : { action };
}
