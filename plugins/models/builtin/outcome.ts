/** Says what came out once tools have run, as a person would put it, or why nothing did. */
import { isRecord, tryJson, tryRecord } from "../../../kernel/kit/text.ts";
import { ROUTINE_PROPOSE } from "../../../kernel/kit/tools.ts";
import { capitalise, sayName, trimEnd } from "../../../kernel/kit/words.ts";
import type { ToolCall } from "../../../kernel/plugin.ts";
import type { ModelMessage, ModelTool } from "../services.ts";
import { intentOf } from "./intent.ts";
import { bestNotes, sayNote, sayNotes, sayRemembered } from "./memory.ts";
import { type Params, textOf } from "./schema.ts";
import { clip, noMatch } from "./talk.ts";
import { sayWeb } from "./web.ts";

type ToolMessage = Extract<ModelMessage, { role: "tool" }>;
type Field = readonly [name: string, value: unknown];

/** A tool's output without the wrapper that marks it as data, and whether the loop found instructions in it. */
export function unwrap(output: string) {
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
    answerOwn(call, tryRecord(text), question, tools) ??
    sayWeb(call, tryRecord(text)) ??
    (renderOutput(text, tryRecord(call.params)) || `**${call.name}** is done. It returned nothing.`);
  if (!isFlagged) return answer;
  return `${answer}\n\nThis output contains text that reads like instructions. I show it and do not follow it.`;
}

/** The agent's own tools answer in a person's words. */
function answerOwn({ name, params }: ToolCall, data: Params, question: string, tools: readonly ModelTool[]) {
  if (name === "memory_write") return sayRemembered(textOf(tryRecord(params)["text"]));
  if (name === "memory_remove") return "I have forgotten that.";
  if (name === "memory_read") return sayNote(textOf(data["text"]));
  if (name === ROUTINE_PROPOSE && data["schedule"])
    return `It is set up: ${textOf(data["schedule"])} (${textOf(data["tz"])}).`;
  if (name === "task_delegate") return textOf(data["answer"]) || undefined;
  if (name === "memory_tree" && Array.isArray(data["documents"])) {
    const paths = data["documents"].filter(isRecord).map(({ path }) => `- ${textOf(path)}`);
    if (paths.length === 0) return 'I have no notes yet. Start with "remember that …".';
    return `I have ${paths.length === 1 ? "one note" : `${paths.length} notes`}:\n\n${paths.join("\n")}`;
  }
  if (name !== "memory_search") return undefined;
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

const MAX = { rows: 20, depth: 4, characters: 4000, fields: 9 };

/** `asked` has the parameters of the call, which have the user's own word for a unit. */
export function renderOutput(output: string, asked: Params = {}): string {
  const value = tryJson(output.trim());
  if (value === undefined) return clip(output.trim(), MAX.characters);
  return (isRecord(value) ? sayKnown(value, asked) : undefined) ?? render(value, 0);
}

/** Sentences for what people ask every day, by the numbers that a result has, whichever tool gave it. */
const SENTENCES: Readonly<Record<string, string>> = {
  "value result": "{value} {from} is {result} {to}.",
  "european_aqi pm2_5 pm10":
    "The air at {lat}, {lon} is {aqi_label}: the European air quality index is {european_aqi}, with {pm2_5} µg/m³ of PM2.5 and {pm10} µg/m³ of PM10.",
  "temperature feels_like humidity wind_speed":
    "It is {temperature} {degrees} in {place} and feels like {feels_like} {degrees}: {description}, {humidity} % humidity and a wind of {wind_speed} {speed}.",
};
const DAY =
  "- {date}: {description}, {temp_min} to {temp_max} {degrees}, {precipitation_probability_max} % chance of rain";

function sayKnown(fields: Params, asked: Params): string | undefined {
  const [degrees, speed] = fields["units"] === "imperial" ? ["°F", "mph"] : ["°C", "m/s"];
  const place = [fields["city"], fields["country"]].map(textOf).filter(Boolean).join(", ");
  const put = (text: string, from: Params) =>
    text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      if (name === "result") return round(Number(from[name]));
      if (name === "from") return textOf(asked["from"]) || sayValue(from["from"]);
      const said = sayValue({ ...from, degrees, speed, place }[name]);
      return name === "description" || name === "aqi_label" ? said.toLowerCase() : said;
    });
  const fits = ([needed, text]: readonly [string, string]) =>
    needed.split(" ").every((name) => typeof fields[name] === "number") &&
    (!text.includes("{place}") || place !== "") &&
    (!text.includes("{to}") || ("from" in fields && "to" in fields));
  const known = Object.entries(SENTENCES).find(fits)?.[1];
  if (known) return put(known, fields);
  const days = Array.isArray(fields["entries"]) ? fields["entries"].slice(0, MAX.rows).filter(isRecord) : [];
  if (place === "" || !days.some(({ temp_max }) => typeof temp_max === "number")) return undefined;
  return `The forecast for ${place}:\n\n${days.map((day) => put(DAY, day)).join("\n")}`;
}

function render(value: unknown, depth: number): string {
  if (!isNested(value)) return clip(sayValue(value), MAX.characters);
  const all = Object.entries(value).filter(([, one]) => one !== null && one !== "");
  if (all.length === 0) return depth === 0 ? "The answer is empty." : "none";
  if (depth > MAX.depth) return "…";
  const isShort = ([, one]: Field) => !isNested(one) && String(one).length <= 80;
  const isList = Array.isArray(value);
  if (!isList && all.length <= MAX.fields && all.every(isShort)) return sentence(all);
  const lines = all.slice(0, MAX.rows).map(([name, one]) => {
    const text = render(one, depth + 1).replaceAll("\n", "\n  ");
    const label = `**${capitalise(sayName(name))}**:${text.includes("\n") ? "\n  " : " "}`;
    return `- ${isList ? "" : label}${text}`;
  });
  const more = all.length - lines.length;
  return lines.concat(more > 0 ? `- … and ${more} more` : []).join("\n");
}

/** "The time is half past nine.", "2030-01-01: 1234 days.", "Order id A-1: shipped, carrier DHL." */
function sentence(fields: readonly Field[]): string {
  const [[key, value] = ["", ""]] = fields;
  if (fields.length === 1 && typeof value === "string")
    return `The ${sayName(key)} is ${trimEnd(value, ".")}.`;
  const clause = ([name, said]: Field) => {
    if (/^(?:name|title|goal|city|country|date|description|summary|status|text|message)$/i.test(name))
      return sayValue(said);
    // "12 pieces" rather than "pieces 12".
    const isCount = typeof said === "number" && /^[a-z]+s$/.test(name);
    return isCount ? `${said} ${name}` : `${sayName(name)} ${sayValue(said)}`;
  };
  const isSubject = ([name]: Field) => /^(?:name|title|city|country|date|id|\w+_id)$/i.test(name);
  const groups = [fields.filter(isSubject), fields.filter((field) => !isSubject(field))];
  const parts = groups.map((some) => some.map(clause).join(", ")).filter(Boolean);
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

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;
