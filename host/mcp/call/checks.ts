/** What a model, a server or a person gives, held against the schema for it. */
import { Fault, type JsonSchema, type Question, type Reply, reason } from "../../../kernel/plugin.ts";
import type { CheckJson } from "../../sandbox/json-check.ts";
import type { Definition } from "../tools/definition.ts";
import { refuseParams } from "./refusal.ts";

/** With the start of a process to check in, which takes longest on a busy machine; the check itself has its own limit. */
export const CHECK_TIMEOUT_MS = 60_000;

export async function check(
  checkJson: CheckJson,
  schema: JsonSchema,
  value: unknown,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    return await checkJson(schema, value, { signal });
  } catch (error) {
    if (error instanceof Fault && error.kind === "invalid") return [error.message];
    throw error;
  }
}

export async function readParams(
  checkJson: CheckJson,
  { schema, exactSchema }: Definition,
  params: string,
  signal = AbortSignal.timeout(CHECK_TIMEOUT_MS),
): Promise<Readonly<Record<string, unknown>>> {
  let value: unknown;
  try {
    value = JSON.parse(params);
  } catch (error) {
    throw refuseParams(`not JSON: ${reason(error)}`);
  }
  const mistakes = await check(checkJson, exactSchema ?? schema, value, signal);
  if (mistakes.length > 0) throw refuseParams(mistakes.join("; "));
  return value as Readonly<Record<string, unknown>>;
}

/** Returns the questions again, with the mistakes, where an answer does not match its schema. */
export async function checkReplies(
  checkJson: CheckJson,
  questions: readonly Question[],
  replies: readonly Reply[],
): Promise<readonly Question[] | undefined> {
  let isWrong = false;
  const again = questions.map(async (question) => {
    const { key, schema, url, message } = question;
    const reply = replies.find((one) => one.key === key);
    if (reply?.action !== "accept" || schema === undefined || url !== undefined) return question;
    const mistakes = await check(
      checkJson,
      schema,
      reply.content ?? {},
      AbortSignal.timeout(CHECK_TIMEOUT_MS),
    );
    if (mistakes.length === 0) return question;
    isWrong = true;
    return { ...question, message: `${message}\n(Not accepted: ${mistakes.join("; ")})` };
  });
  const checked = await Promise.all(again);
  return isWrong ? checked : undefined;
}
