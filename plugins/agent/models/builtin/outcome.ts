/** The answer once tools have run: what came out, as a person would put it, or why nothing did. */

import { sayName, trimEnd } from "../../../../kernel/kit.ts";
import type { ToolCall } from "../../../../kernel/plugin.ts";
import type { ModelMessage, ModelTool } from "../model.ts";
import { intentOf } from "./intent.ts";
import { bestNotes, sayNote, sayNotes, sayRemembered } from "./memory.ts";
import { isRecord, type Params, parseJson, parseRecord, textOf } from "./schema.ts";
import { noMatch } from "./talk.ts";
import { capitalise, clip } from "./words.ts";

export type ToolMessage = Extract<ModelMessage, { role: "tool" }>;

/** A tool's output without the wrapper that marks it as data, and whether the loop found instructions in it. */
export function unwrap(output: string): { readonly text: string; readonly isFlagged: boolean } {
  const start = output.indexOf("<tool-output");
  const body = output.indexOf(">\n", start) + 2;
  const end = output.lastIndexOf("\n</tool-output>");
  if (start < 0 || body < 2 || end < 0) return { text: output, isFlagged: false };
  return { text: output.slice(body, end), isFlagged: output.slice(0, start).trim() !== "" };
}

export function answerFrom(result: ToolMessage, question: string, tools: readonly ModelTool[]): string {
  const { call, failed } = result;
  const { text, isFlagged } = unwrap(result.output);
  if (failed) return explainFailure(call.name, text);
  const answer =
    answerOwn(call, parseRecord(text), question, tools) ??
    (renderOutput(text, parseRecord(call.params)) || `**${call.name}** is done. It returned nothing.`);
  const caution = "This output contains text that reads like instructions. I show it and do not follow it.";
  return isFlagged ? `${answer}\n\n${caution}` : answer;
}

/** The agent's own tools answer in a person's words. */
function answerOwn(call: ToolCall, data: Params, question: string, tools: readonly ModelTool[]) {
  const tool = call.name;
  if (tool === "memory_write") return sayRemembered(textOf(parseRecord(call.params)["text"]));
  if (tool === "memory_remove") return "I have forgotten that.";
  if (tool === "memory_read") return sayNote(textOf(data["text"]));
  if (tool === "memory_tree" && Array.isArray(data["documents"])) {
    const paths = data["documents"].filter(isRecord).map(({ path }) => `- ${textOf(path)}`);
    if (paths.length === 0) return 'I have no notes yet. Start with "remember that …".';
    return `I have ${paths.length === 1 ? "one note" : `${paths.length} notes`}:\n\n${paths.join("\n")}`;
  }
  if (tool !== "memory_search") return undefined;
  // A general question needs a note about most of it; for one about the user, any that shares a word will do.
  const notes = bestNotes(question, data["results"]);
  const isMine = /\b(?:my|i|our|we)\b/i.test(question.slice(0, 1000)) || intentOf(question).type === "recall";
  if ((notes[0]?.share ?? 0) > (isMine ? 0 : 0.5)) return sayNotes(notes);
  return isMine ? 'I have no note about that. Say "remember that …" and I will know.' : noMatch(tools);
}

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/denied|not approved|rejected/i, "The call was not approved, so nothing was done."],
  [/rate limit|too many requests|HTTP 429/i, "It was used too often. Try again later."],
  [/request failed|ENOTFOUND|EAI_AGAIN|ECONN|ENETUNREACH/i, "It could not be reached. Check the network."],
  [/time ?out|timed out|deadline/i, "It took too long. Try again."],
  [/HTTP 5\d\d|unavailable/i, "Its service has a problem. Try again later."],
  [/HTTP 40[13]|unauthori[sz]ed|credential|api key/i, "`postern tool auth` sets the credential it needs."],
  [/not found|no such|unknown/i, "Check the spelling and try again."],
];

function explainFailure(tool: string, output: string): string {
  const message = clip(renderOutput(output).replace(/\s+/g, " "), 600);
  const reason = message === "" ? "It gave no reason." : `It said: ${trimEnd(message, ".")}.`;
  const advice = ADVICE.find(([pattern]) => pattern.test(message))?.[1];
  return [`I called **${tool}**, but it failed.`, reason, advice].filter(Boolean).join(" ");
}

const MOST = { rows: 20, depth: 4, characters: 4000, fields: 9 };

/** `asked` are the parameters of the call: they have the user's own word for a unit. */
export function renderOutput(output: string, asked: Params = {}): string {
  const value = parseJson(output.trim());
  if (value === undefined) return clip(output.trim(), MOST.characters);
  return (isRecord(value) ? sayKnown(value, asked) : undefined) ?? render(value, 0);
}

/** Sentences for what people ask every day, by the shape of the result, whichever tool gave it. */
function sayKnown(fields: Params, asked: Params): string | undefined {
  const has = (...names: readonly string[]) => names.every((name) => typeof fields[name] === "number");
  const say = (name: string, { [name]: value } = fields) => sayValue(value);
  const low = (name: string, from = fields) => say(name, from).toLowerCase();
  if (has("value", "result") && "from" in fields && "to" in fields)
    return `${say("value")} ${textOf(asked["from"]) || say("from")} is ${round(Number(fields["result"]))} ${say("to")}.`;
  if (has("european_aqi", "pm2_5", "pm10"))
    return (
      `The air at ${say("lat")}, ${say("lon")} is ${low("aqi_label")}: the European air quality index is ` +
      `${say("european_aqi")}, with ${say("pm2_5")} µg/m³ of PM2.5 and ${say("pm10")} µg/m³ of PM10.`
    );
  const [degrees, speed] = fields["units"] === "imperial" ? ["°F", "mph"] : ["°C", "m/s"];
  const place = ["city", "country"]
    .map((name) => textOf(fields[name]))
    .filter(Boolean)
    .join(", ");
  if (place !== "" && has("temperature", "feels_like", "humidity", "wind_speed"))
    return (
      `It is ${say("temperature")} ${degrees} in ${place} and feels like ${say("feels_like")} ${degrees}: ` +
      `${low("description")}, ${say("humidity")} % humidity and a wind of ${say("wind_speed")} ${speed}.`
    );
  const days = Array.isArray(fields["entries"]) ? fields["entries"].slice(0, MOST.rows).filter(isRecord) : [];
  if (place === "" || !days.some(({ temp_max }) => typeof temp_max === "number")) return undefined;
  const lines = days.map((day) => {
    const range = `${say("temp_min", day)} to ${say("temp_max", day)} ${degrees}`;
    const rain = `${say("precipitation_probability_max", day)} % chance of rain`;
    return `- ${say("date", day)}: ${low("description", day)}, ${range}, ${rain}`;
  });
  return `The forecast for ${place}:\n\n${lines.join("\n")}`;
}

function render(value: unknown, depth: number): string {
  if (!isNested(value)) return clip(sayValue(value), MOST.characters);
  const all = Object.entries(value).filter(([, one]) => one !== null && one !== "");
  if (all.length === 0) return depth === 0 ? "The answer is empty." : "none";
  if (depth > MOST.depth) return "…";
  const isShort = ([, one]: readonly [string, unknown]) => !isNested(one) && String(one).length <= 80;
  const isList = Array.isArray(value);
  if (!isList && all.length <= MOST.fields && all.every(isShort)) return sentence(all);
  const lines = all.slice(0, MOST.rows).map(([name, one]) => {
    const text = render(one, depth + 1).replaceAll("\n", "\n  ");
    const label = `**${capitalise(sayName(name))}**:${text.includes("\n") ? "\n  " : " "}`;
    return `- ${isList ? "" : label}${text}`;
  });
  return lines
    .concat(all.length > lines.length ? `- … and ${all.length - lines.length} more` : [])
    .join("\n");
}

/** "The time is half past nine.", "2030-01-01: 1234 days.", "Order id A-1: shipped, carrier DHL." */
function sentence(fields: readonly (readonly [string, unknown])[]): string {
  const [[key, value] = ["", ""]] = fields;
  if (fields.length === 1 && typeof value === "string")
    return `The ${sayName(key)} is ${trimEnd(value, ".")}.`;
  const clause = ([name, said]: readonly [string, unknown]) => {
    if (/^(?:name|title|goal|city|country|date|description|summary|status|text|message)$/i.test(name))
      return sayValue(said);
    // "12 pieces" rather than "pieces 12".
    return typeof said === "number" && /^[a-z]+s$/.test(name)
      ? `${said} ${name}`
      : `${sayName(name)} ${sayValue(said)}`;
  };
  const isSubject = ([name]: readonly [string, unknown]) =>
    /^(?:name|title|city|country|date|id|\w+_id)$/i.test(name);
  const [subjects, rest] = [fields.filter(isSubject), fields.filter((field) => !isSubject(field))];
  const parts = [subjects, rest].map((some) => some.map(clause).join(", ")).filter(Boolean);
  return `${capitalise(trimEnd(parts.join(": "), "."))}.`;
}

function sayValue(value: unknown): string {
  if (typeof value === "number") return String(Number(value.toPrecision(12)));
  // A stranger's object may not even turn into a text.
  return value === true ? "yes" : value === false ? "no" : isNested(value) ? "…" : String(value ?? "–");
}

/** Two decimals, or four digits where the value is smaller than one. */
function round(value: number): string {
  const rounded = Number(Math.abs(value) < 1 ? value.toPrecision(4) : value.toFixed(2));
  return rounded.toLocaleString("en", { maximumFractionDigits: 20 });
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
