/** Passes on what the server behind a tool asks. The words are a stranger's, so the message names who asks. */
import {
  type InputRequest,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { visible } from "../../../kernel/kit/text.ts";
import type { Question, Reply } from "../../../kernel/plugin.ts";
import type { Abilities } from "../protocol/client.ts";

export const canAsk = ({ form, url }: Abilities, questions: readonly Question[]): boolean =>
  questions.every((question) => (question.url === undefined ? form : url));

export function askQuestions(server: string, questions: readonly Question[]): Record<string, InputRequest> {
  return Object.fromEntries(
    questions.map(({ message, schema, url }, at) => {
      const words = `The MCP server ${server} asks: ${visible(message)}`;
      return [
        keyAt(at),
        url === undefined
          ? inputRequired.elicit({
              message: words,
              requestedSchema: (schema ?? { type: "object", properties: {} }) as never,
            })
          : inputRequired.elicitUrl({ message: words, url }),
      ];
    }),
  );
}

/** A question without an answer counts as cancelled. */
export function readReplies({ mcpReq }: ServerContext, keys: readonly string[]): readonly Reply[] {
  return keys.map((key, at) => {
    const answer = inputResponse(mcpReq.inputResponses, keyAt(at));
    if (answer.kind !== "elicit") return { key, action: "cancel" };
    return { key, action: answer.action, content: answer.content };
  });
}

export const cancelAll = (questions: readonly Question[]): readonly Reply[] =>
  questions.map(({ key }) => ({ key, action: "cancel" }));

// Our own keys, since a stranger's may be anything.
const keyAt = (at: number): string => `question_${at + 1}`;
