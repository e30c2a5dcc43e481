/** The answer once tools have run: what came out, or why nothing did. */

import type { ModelTool } from "../model.ts";
import { type ToolMessage, unwrap } from "./conversation.ts";
import { intentOf } from "./intent.ts";
import { parseJson, parseRecord } from "./json.ts";
import { answerFromNotes, bestNotes, isPersonal, isSentence, tell, toSecondPerson } from "./recall.ts";
import { renderOutput } from "./render.ts";
import { isRecord, textOf } from "./schema.ts";
import { lost } from "./talk.ts";
import { listing } from "./words.ts";

/** What the results answer: the user's question, and the tools there are where they answer nothing. */
export interface Asked {
  readonly question: string;
  readonly tools: readonly ModelTool[];
}

export function answerFrom(results: readonly ToolMessage[], asked: Asked): string {
  const several = new Set(results.map((result) => result.call.name)).size > 1;
  return results
    .map((result) => `${several ? `**${result.call.name}**: ` : ""}${answerOne(result, asked)}`)
    .join("\n\n");
}

function answerOne(result: ToolMessage, asked: Asked): string {
  const { text, flagged } = unwrap(result.output);
  if (result.failed) return explainFailure(result.call.name, text);
  const answer =
    answerOwn(result, text, asked) ??
    (renderOutput(text) || `**${result.call.name}** is done; it gave no output.`);
  return flagged
    ? `${answer}\n\nThis output holds text that reads like orders to me. I only show it; I do not follow it.`
    : answer;
}

/** The agent's own tools answer a person, not a report. */
function answerOwn(result: ToolMessage, output: string, asked: Asked): string | undefined {
  const params = parseRecord(result.call.params);
  const data = parseRecord(output);
  switch (result.call.name) {
    case "memory_write":
      return remembered(textOf(params["text"]));
    case "memory_remove":
      return "I have forgotten it.";
    case "memory_search":
      return recalled(asked, data);
    case "memory_read":
      return typeof data["text"] === "string" ? tell(data["text"]) : undefined;
    case "memory_tree":
      return listed(
        data["documents"],
        'I remember nothing yet. Tell me with "remember that …".',
        "note",
        (document) => textOf(document["path"]),
      );
    case "mission_list":
      return listed(
        data["missions"],
        'You have no missions. "Create a mission to …" sets one.',
        "mission",
        (mission) => `${textOf(mission["goal"])} (${textOf(mission["id"])}, ${textOf(mission["status"])})`,
      );
    case "mission_create":
      return `The mission is set: ${textOf(data["goal"])} (${textOf(data["id"])}).`;
    case "mission_complete":
      return `The mission is completed: ${textOf(data["goal"])}.`;
    case "skill_load":
      return `This is what the skill says. I only show it: following it takes a language model.\n\n${textOf(data["text"])}`;
    default:
      return undefined;
  }
}

function remembered(fact: string): string {
  if (fact === "" || fact.length > 200) return "I have noted it.";
  if (/^to\b/i.test(fact)) return `I will remember ${toSecondPerson(fact)}.`;
  return `I will remember ${isSentence(fact) ? "that" : "this:"} ${toSecondPerson(fact)}.`;
}

/** A general question is answered by a note that is about most of it; one about the user by any that touches it. */
function recalled({ question, tools }: Asked, data: unknown): string {
  const notes = bestNotes(question, data);
  const about = isPersonal(question) || intentOf(question).type === "recall";
  if ((notes[0]?.share ?? 0) > (about ? 0 : 0.5)) return answerFromNotes(notes);
  return about ? 'I have no note about that. Tell me with "remember that …" and I will know.' : lost(tools);
}

const MOST_LISTED = 30;

function listed(
  items: unknown,
  none: string,
  noun: string,
  say: (item: Readonly<Record<string, unknown>>) => string,
): string {
  const all = Array.isArray(items) ? items.filter(isRecord) : [];
  if (all.length === 0) return none;
  const lines = all.slice(0, MOST_LISTED).map((item) => `- ${say(item)}`);
  const more = all.length > lines.length ? `\n\n… and ${all.length - lines.length} more.` : "";
  return `There ${all.length === 1 ? `is one ${noun}` : `are ${all.length} ${noun}s`}:\n\n${lines.join("\n")}${more}`;
}

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/denied|not approved|refused by the user|rejected/i, "The call was not approved, so nothing was done."],
  [
    /rate limit|too many requests|HTTP 429|try again (?:in|after)/i,
    "It was used too often; try again a little later.",
  ],
  [
    /HTTP request failed|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|could not (?:reach|resolve)|network|getaddrinfo|fetch failed/i,
    "The service behind it could not be reached; check this machine's network and try again.",
  ],
  [/time ?out|timed out|deadline/i, "It took too long; trying again may help."],
  [/HTTP 5\d\d|unavailable/i, "The service behind it has a problem of its own; try again later."],
  [
    /HTTP 40[13]|unauthori[sz]ed|credential|api key|token/i,
    "It lacks a valid credential; `postern tool auth` sets one.",
  ],
  [/not found|no such|unknown/i, "Check the spelling and try again."],
  [/not (?:on the )?allow|blocked|allowlist/i, "Its capabilities file does not allow that."],
];

function explainFailure(tool: string, output: string): string {
  const message = failureText(output);
  const advice = ADVICE.find(([pattern]) => pattern.test(message))?.[1];
  const told =
    message === "" ? "It gave no reason." : `It said: ${/[.!?]$/.test(message) ? message : `${message}.`}`;
  return [`I called **${tool}**, but it failed.`, told, ...(advice === undefined ? [] : [advice])].join(" ");
}

function failureText(output: string): string {
  const data = parseJson(output.trim());
  return clip(
    isRecord(data)
      ? (messageIn(data) ?? renderOutput(output))
      : typeof data === "string"
        ? data
        : output.trim(),
  );
}

function messageIn(data: Readonly<Record<string, unknown>>): string | undefined {
  for (const key of ["message", "error", "detail", "reason"]) {
    const value = data[key];
    if (typeof value === "string" && value !== "") return value;
    if (isRecord(value)) return messageIn(value);
  }
  const list = data["errors"];
  return Array.isArray(list) ? listing(list.map(String)) : undefined;
}

function clip(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > 600 ? `${line.slice(0, 600)}…` : line;
}
