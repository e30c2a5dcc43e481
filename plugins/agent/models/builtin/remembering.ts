/** Requests to remember, to recall and to forget, as calls of the memory tools. */

import type { ModelTool } from "../model.ts";
import { type ToolMessage, unwrap } from "./conversation.ts";
import { intentOf } from "./intent.ts";
import { parseJson } from "./json.ts";
import { answerFromNotes, bestNotes, notePath } from "./recall.ts";
import { call, type Reply, say } from "./reply.ts";

const LONGEST_QUERY = 1000;
const NO_MEMORY = "I have no memory to look into: it is not among my tools.";

export function remember(fact: string, tools: readonly ModelTool[]): Reply {
  return call(tools, "memory_write", { path: notePath(fact), text: fact }) ?? say(NO_MEMORY);
}

export function recall(question: string, tools: readonly ModelTool[]): Reply {
  return call(tools, "memory_search", { query: question.slice(0, LONGEST_QUERY) }) ?? say(NO_MEMORY);
}

/** What is remembered, by name. */
export function recallAll(tools: readonly ModelTool[]): Reply {
  return call(tools, "memory_tree", {}) ?? say(NO_MEMORY);
}

/** What the user wants forgotten, once the search for it is back: only the note that says all of it. */
export function forgetFound(
  results: readonly ToolMessage[],
  question: string,
  tools: readonly ModelTool[],
): Reply | undefined {
  const intent = intentOf(question);
  const [result] = results;
  if (intent.type !== "forget" || result?.call.name !== "memory_search" || result.failed) return undefined;
  const notes = bestNotes(intent.fact, parseJson(unwrap(result.output).text));
  const [note] = notes;
  if (!note) return say("I have no note about that, so there is nothing to forget.");
  if (note.share < 1 || notes.length > 1)
    return say(`${answerFromNotes(notes)}\n\nTell me in the same words which one to forget.`);
  return call(tools, "memory_remove", { path: note.path }) ?? say("I cannot delete notes here.");
}
