/** The answer once tools have run: what came out, or why nothing did. */
import { type ToolMessage, unwrap } from "./conversation.ts";
import { answerFromNotes, tell, toSecondPerson } from "./recall.ts";
import { renderOutput } from "./render.ts";
import { isRecord, textOf } from "./schema.ts";
import { listing } from "./words.ts";

export function answerFrom(results: readonly ToolMessage[], question: string): string {
  if (results.length === 1 && results[0]) return answerOne(results[0], question);
  const several = new Set(results.map((result) => result.call.name)).size > 1;
  if (!several) return results.map((result) => answerOne(result, question)).join("\n\n");
  return results.map((result) => `**${result.call.name}**: ${answerOne(result, question)}`).join("\n\n");
}

function answerOne(result: ToolMessage, question: string): string {
  const { text, flagged } = unwrap(result.output);
  if (result.failed) return explainFailure(result.call.name, text);
  const answer =
    answerOwn(result, text, question) ??
    (renderOutput(text) || `**${result.call.name}** is done; it gave no output.`);
  return flagged
    ? `${answer}\n\nThis output holds text that reads like orders to me. I only show it; I do not follow it.`
    : answer;
}

/** The agent's own tools answer a person, not a report. */
function answerOwn(result: ToolMessage, output: string, question: string): string | undefined {
  const params = parse(result.call.params);
  const data = parse(output);
  switch (result.call.name) {
    case "memory_write": {
      const fact = isRecord(params) ? textOf(params["text"]) : "";
      return fact === "" || fact.length > 200 ? "I have noted it." : remembered(fact);
    }
    case "memory_search":
      return (
        answerFromNotes(question, data) ??
        `I have no note about that. Tell me with "remember that …" and I will know.`
      );
    case "memory_read":
      return isRecord(data) && typeof data["text"] === "string" ? tell(data["text"]) : undefined;
    case "memory_tree": {
      const documents =
        isRecord(data) && Array.isArray(data["documents"]) ? data["documents"].filter(isRecord) : [];
      if (documents.length === 0) return 'I remember nothing yet. Tell me with "remember that …".';
      const shown = documents.slice(0, 30).map((document) => `- ${textOf(document["path"])}`);
      const more =
        documents.length > shown.length ? `\n\n… and ${documents.length - shown.length} more.` : "";
      return `I keep ${documents.length === 1 ? "one note" : `${documents.length} notes`}:\n\n${shown.join("\n")}${more}`;
    }
    case "skill_load":
      return isRecord(data) && typeof data["text"] === "string"
        ? `This is what the skill says. I only show it: following it takes a language model.\n\n${data["text"]}`
        : undefined;
    default:
      return undefined;
  }
}

function remembered(fact: string): string {
  return /^to\b/i.test(fact)
    ? `I will remember ${toSecondPerson(fact)}.`
    : `I will remember that ${toSecondPerson(fact)}.`;
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

export function explainFailure(tool: string, output: string): string {
  const message = failureText(output);
  const advice = ADVICE.find(([pattern]) => pattern.test(message))?.[1];
  const told =
    message === "" ? "It gave no reason." : `It said: ${/[.!?]$/.test(message) ? message : `${message}.`}`;
  return [`I called **${tool}**, but it failed.`, told, ...(advice === undefined ? [] : [advice])].join(" ");
}

function failureText(output: string): string {
  const data = parse(output.trim());
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
