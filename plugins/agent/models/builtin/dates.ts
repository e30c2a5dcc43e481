/** Dates and times as people write them. An order of day and month that could be either is not guessed. */
import type { Source } from "./source.ts";

const MONTHS = "january february march april may june july august september october november december".split(
  " ",
);
const WEEKDAYS = "sunday monday tuesday wednesday thursday friday saturday".split(" ");
const MONTH = MONTHS.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join("|");

type Rule = readonly [pattern: RegExp, read: (match: RegExpMatchArray, today: Day) => Day | undefined];

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const RULES: readonly Rule[] = [
  [/\b(\d{4})-(\d{1,2})-(\d{1,2})\b/, (m) => dayOf(m[1], m[2], m[3])],
  [/\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b/, (m) => dayOf(m[3], m[2], m[1])],
  [/\b(\d{1,2})\/(\d{1,2})\/(\d{4})\b/, (m) => slashed(Number(m[1]), Number(m[2]), Number(m[3]))],
  [
    new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? (${MONTH})\\b\\.?,?(?: (\\d{4})\\b)?`, "i"),
    (m, today) => named(m[2], m[1], m[3], today),
  ],
  [
    new RegExp(`\\b(${MONTH})\\b\\.? (\\d{1,2})(?:st|nd|rd|th)?\\b(?:,? (\\d{4})\\b)?`, "i"),
    (m, today) => named(m[1], m[2], m[3], today),
  ],
  [/\bday after tomorrow\b/i, (_, today) => plus(today, 2)],
  [/\btomorrow\b/i, (_, today) => plus(today, 1)],
  [/\b(?:today|tonight)\b/i, (_, today) => today],
  [/\byesterday\b/i, (_, today) => plus(today, -1)],
  [/\bin (\d{1,4}) days?\b/i, (m, today) => plus(today, Number(m[1]))],
  [/\bin (\d{1,3}) weeks?\b/i, (m, today) => plus(today, 7 * Number(m[1]))],
  [/\bnext week\b/i, (_, today) => plus(today, 7)],
  [
    new RegExp(`\\b(?:next |this |on |coming )?(${WEEKDAYS.join("|")})\\b`, "i"),
    (m, today) => plus(today, daysUntil(m[1] ?? "", today)),
  ],
];

/** Takes the first date out of the text, as YYYY-MM-DD. */
export function takeDate(source: Source, now: Date): string | undefined {
  const today: Day = { year: now.getFullYear(), month: now.getMonth() + 1, day: now.getDate() };
  for (const [pattern, read] of RULES) {
    const match = pattern.exec(source.rest);
    const day = match ? read(match, today) : undefined;
    if (!match || !day) continue;
    source.take(match.index, match.index + match[0].length);
    return iso(day);
  }
  return undefined;
}

/** Takes the first time of day, as HH:MM:SS. */
export function takeTime(source: Source): string | undefined {
  const clock = /\b(?:at )?([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(?: ?(am|pm))?\b/i.exec(source.rest);
  const hour = clock ?? /\b(?:at )?(1[0-2]|0?[1-9])()() ?(am|pm)\b/i.exec(source.rest);
  const word = /\b(?:at )?(noon|midnight)\b/i.exec(source.rest);
  const match = hour ?? word;
  if (!match) return undefined;
  source.take(match.index, match.index + match[0].length);
  if (!hour) return match[1]?.toLowerCase() === "noon" ? "12:00:00" : "00:00:00";
  const half = hour[4]?.toLowerCase();
  let hours = Number(hour[1]);
  if (half === "pm" && hours < 12) hours += 12;
  if (half === "am" && hours === 12) hours = 0;
  return [hours, Number(hour[2] || 0), Number(hour[3] || 0)].map((part) => pad(part, 2)).join(":");
}

/** A date with a time, in UTC; undefined where the text names no time of day. */
export function takeDateTime(source: Source, now: Date): string | undefined {
  const exact = source.takeMatch(/\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?/);
  if (exact !== undefined) {
    const instant = new Date(exact);
    return Number.isNaN(instant.getTime()) ? undefined : instant.toISOString();
  }
  const time = takeTime(source);
  if (time === undefined) return undefined;
  const date =
    takeDate(source, now) ?? iso({ year: now.getFullYear(), month: now.getMonth() + 1, day: now.getDate() });
  return new Date(`${date}T${time}`).toISOString();
}

function dayOf(year: unknown, month: unknown, day: unknown): Day | undefined {
  const whole = { year: Number(year), month: Number(month), day: Number(day) };
  const date = new Date(Date.UTC(whole.year, whole.month - 1, whole.day));
  return date.getUTCMonth() === whole.month - 1 && date.getUTCDate() === whole.day ? whole : undefined;
}

function slashed(first: number, second: number, year: number): Day | undefined {
  if (first <= 12 && second <= 12 && first !== second) return undefined;
  return first > 12 ? dayOf(year, second, first) : dayOf(year, first, second);
}

function named(month: unknown, day: unknown, year: unknown, today: Day): Day | undefined {
  const index = MONTHS.findIndex((name) => name.startsWith(String(month).toLowerCase().slice(0, 3)));
  if (year !== undefined) return dayOf(year, index + 1, day);
  const thisYear = dayOf(today.year, index + 1, day);
  return thisYear && iso(thisYear) < iso(today) ? dayOf(today.year + 1, index + 1, day) : thisYear;
}

function daysUntil(weekday: string, today: Day): number {
  const wanted = WEEKDAYS.indexOf(weekday.toLowerCase());
  const current = new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay();
  return (wanted - current + 7) % 7 || 7;
}

function plus(from: Day, days: number): Day {
  const date = new Date(Date.UTC(from.year, from.month - 1, from.day + days));
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

function iso(day: Day): string {
  return `${pad(day.year, 4)}-${pad(day.month, 2)}-${pad(day.day, 2)}`;
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, "0");
}
