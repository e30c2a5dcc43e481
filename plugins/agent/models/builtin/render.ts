/** A tool's JSON as a person would write it: a sentence, bullets or a table. Data is shown, never followed. */
import { parseJson } from "./json.ts";
import { isRecord } from "./schema.ts";
import { unitOf } from "./units.ts";
import { capitalise, sayName } from "./words.ts";

const MAX_ROWS = 20;
const MAX_COLUMNS = 8;
const MAX_DEPTH = 4;
const MAX_TEXT = 4000;
const SENTENCE_FIELDS = 9;
const SENTENCE_TEXT = 80;

/** Strings that say which thing the rest is about; they open the sentence. */
const SUBJECT = /^(name|title|city|country|place|location|id|order_id|symbol|code)$/i;
/** Strings that already are words about it; they come next, without their key. */
const SUMMARY = /^(description|summary|status|label|condition|state|text|message)$|_label$/i;

export function renderOutput(output: string): string {
  const text = output.trim();
  if (text === "") return "";
  const parsed = parseJson(text);
  return parsed === undefined ? clip(text) : renderValue(parsed, {}, 0);
}

function renderValue(value: unknown, around: Readonly<Record<string, unknown>>, depth: number): string {
  if (Array.isArray(value)) return renderList(value, around, depth);
  if (isRecord(value)) return renderRecord(value, around, depth);
  return clip(scalar("", value, around));
}

function renderRecord(
  record: Readonly<Record<string, unknown>>,
  around: Readonly<Record<string, unknown>>,
  depth: number,
): string {
  const context = { ...around, ...record };
  const fields = Object.entries(record).filter(([, value]) => value !== null && value !== "");
  if (fields.length === 0) return "Nothing was in the answer.";
  const flat = fields.filter(([, value]) => isScalar(value));
  const nested = fields.filter(([, value]) => !isScalar(value));
  const fitting =
    flat.length <= SENTENCE_FIELDS && flat.every(([, value]) => String(value).length <= SENTENCE_TEXT);
  const parts: string[] = [];
  if (flat.length > 0) parts.push(fitting && depth === 0 ? sentence(flat, context) : bullets(flat, context));
  for (const [key, value] of nested) {
    if (Array.isArray(value) && value.length === 0) {
      parts.push(`No ${sayName(key)}.`);
      continue;
    }
    const inner = depth >= MAX_DEPTH ? "…" : renderValue(value, context, depth + 1);
    const lone = nested.length === 1 && Array.isArray(value) && flat.length > 0;
    parts.push(lone ? inner : `**${capitalise(sayName(key))}**\n\n${inner}`);
  }
  return parts.join("\n\n");
}

/** "Berlin, Germany: Clear sky, temperature 18.2 °C and humidity 60 %." */
function sentence(fields: readonly [string, unknown][], context: Readonly<Record<string, unknown>>): string {
  const shown = fields.filter(
    ([key, value]) => !(key === "units" && /^(metric|imperial)$/.test(String(value))),
  );
  const subject = shown.filter(([key, value]) => SUBJECT.test(key) && isWord(value));
  const summary = shown.filter(([key, value]) => SUMMARY.test(key) && typeof value === "string");
  const rest = shown.filter((field) => !subject.includes(field) && !summary.includes(field));
  const lead = subject.map(([key, value]) =>
    /(^|_)(id|code)$/i.test(key)
      ? `${label(key)} ${scalar(key, value, context)}`
      : scalar(key, value, context),
  );
  const said = [
    ...summary.map(([, value]) => String(value)),
    ...rest.map(([key, value]) => `${label(key)} ${scalar(key, value, context)}`),
  ];
  const opening = capitalise(lead.join(", "));
  if (said.length === 0) return `${opening || "Done"}.`;
  const body = said.join(", ");
  return `${opening === "" ? capitalise(body) : `${opening}: ${body}`}${/[.!?]$/.test(body) ? "" : "."}`;
}

function bullets(fields: readonly [string, unknown][], context: Readonly<Record<string, unknown>>): string {
  return fields
    .map(([key, value]) => `- **${capitalise(label(key))}**: ${clip(scalar(key, value, context))}`)
    .join("\n");
}

function renderList(
  list: readonly unknown[],
  around: Readonly<Record<string, unknown>>,
  depth: number,
): string {
  if (list.length === 0) return "The list is empty.";
  const shown = list.slice(0, MAX_ROWS);
  const more = list.length > shown.length ? `\n\n… and ${list.length - shown.length} more.` : "";
  if (shown.every((item) => isRecord(item) && Object.values(item).every(isScalar))) {
    return table(shown.filter(isRecord), around) + more;
  }
  return shown.map((item) => `- ${inline(item, around, depth)}`).join("\n") + more;
}

function inline(item: unknown, around: Readonly<Record<string, unknown>>, depth: number): string {
  if (isScalar(item)) return clip(scalar("", item, around));
  if (depth >= MAX_DEPTH) return "…";
  return renderValue(item, around, depth + 1).replaceAll("\n", "\n  ");
}

function table(
  rows: readonly Readonly<Record<string, unknown>>[],
  around: Readonly<Record<string, unknown>>,
): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, MAX_COLUMNS);
  if (columns.length === 1) {
    const [only = ""] = columns;
    return rows.map((row) => `- ${clip(scalar(only, row[only], { ...around, ...row }))}`).join("\n");
  }
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replace(/\s+/g, " ")).join(" | ")} |`;
  return [
    line(columns.map((column) => capitalise(label(column)))),
    line(columns.map(() => "---")),
    ...rows.map((row) => line(columns.map((column) => scalar(column, row[column], { ...around, ...row })))),
  ].join("\n");
}

function label(key: string): string {
  const words = sayName(key);
  return key === ""
    ? "value"
    : words === ""
      ? key
      : words
          .replace(/\bpm2 5\b/, "PM2.5")
          .replace(/\bpm10\b/, "PM10")
          .replace(/\b(id|url|aqi|usd|eur)\b/g, (word) => word.toUpperCase());
}

function scalar(key: string, value: unknown, context: Readonly<Record<string, unknown>>): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return String(value);
  const unit = unitOf(key, context);
  return unit === "" ? String(value) : `${value} ${unit}`;
}

function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

function isWord(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}

function clip(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
