/** Days, times and durations that a text names. Each pattern takes linear time, because anybody's text may be long. */
import calendar from "../words/calendar.json" with { type: "json" };
import { SPOKEN } from "./numbers.ts";

/** A day of the calendar; one without a year is any year's. */
export interface Day {
  readonly year: number | undefined;
  readonly month: number;
  readonly day: number;
}

const split = (words: string) => words.split(" ");
const ordered = (lists: Iterable<string>, first: number) =>
  new Map([...lists].flatMap((names) => split(names).map((name, at) => [name, at + first] as const)));
const MONTH_OF = ordered([...Object.values(calendar.months), calendar.shortMonths], 1);
const WEEKDAY_OF = ordered(Object.values(calendar.weekdays), 0);
const AHEAD = new Map<string, number>(
  [split(calendar.today), split(calendar.tomorrow), calendar.dayAfterTomorrow].flatMap((words, days) =>
    words.map((word) => [word, days] as const),
  ),
);

const anyOf = (words: Iterable<string>) =>
  [...words].toSorted((one, other) => other.length - one.length).join("|");
const alone = (pattern: string) => new RegExp(`(?<![\\p{L}\\p{N}])(?:${pattern})(?![\\p{L}\\p{N}])`, "gu");
const MONTH = anyOf(MONTH_OF.keys());
const ISO_DAY = /(?<!\d)(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)/g;
const DOTTED = /(?<![\d.])(0?[1-9]|[12]\d|3[01])\. ?(0?[1-9]|1[0-2])\. ?(\d{4}(?!\d))?(?![\d.])/g;
const SLASHED = /(?<![\d/])(\d{1,2})\/(\d{1,2})(?:\/(\d{4}))?(?![\d/])/g;
const MONTH_FIRST = alone(`(${MONTH})\\.? (\\d{1,2})(?:st|nd|rd|th)?(?:,? (\\d{4}))?`);
const DAY_FIRST = alone(
  `(\\d{1,2})(?:st|nd|rd|th|\\.|er|º)?(?: of| de)? (${MONTH})\\.?(?:,?(?: de)? (\\d{4}))?`,
);
const RELATIVE = alone(`(${anyOf(AHEAD.keys())})`);
const WEEKDAY = alone(`(next |nächste[nr]? |kommende[nr]? )?(${anyOf(WEEKDAY_OF.keys())})`);
const CLOCK =
  /(?<![\d:.])t?(\d{1,2})[:h](\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?:z|[+-]\d{2}:\d{2})?(?![\d:])(?: ?([ap])\.?m\b\.?)?(?: uhr)?/g;
const DOTTED_CLOCK = /(?<![\d:.])(\d{1,2})\.(\d{2}) (?:uhr|([ap])m)\b/g;
const HOUR = /(?<![\d:.,])(\d{1,2}) ?(?:([ap])\.?m\b\.?|uhr\b|h\b|o['’]clock\b)/g;
const AT =
  /\b(?:at|um|alle|las|from|between|ab|von) (\d{1,2})(?:(?: (?:to|until|till|and|bis|und)|-| -) ?(\d{1,2}))?(?![\d.,:%€$]| ?(?:[€$£%]|dollar|euro|eur\b|usd|chf|percent|pound|prozent))/gu;
const NAMED = new Map([
  ["noon", 720],
  ["midday", 720],
  ["midnight", 0],
]);
const NAMED_TIME = alone(`(${anyOf(NAMED.keys())})`);
const DURATION = new RegExp(
  `(?<![\\p{L}\\p{N}])(\\d{1,3}|an?|half an|eine?|${SPOKEN.join("|")})[ -](hour|minute|stunde)`,
  "gu",
);

/**
 * `text` in lower case; `today` is what "tomorrow" is counted from. Times and durations are in minutes; `rest` is the text without
 * them, so that the day of a month is not read as a number.
 */
export function momentsIn(text: string, today?: Date) {
  const days: Day[] = [];
  const times: number[] = [];
  const keep = (year: string | undefined, month: number, day: number): void => {
    if (month >= 1 && month <= 12 && day >= 1 && day <= 31)
      days.push({ year: year === undefined ? undefined : Number(year), month, day });
  };
  const ahead = (count: number): void => {
    if (today === undefined) return;
    const day = new Date(today.getFullYear(), today.getMonth(), today.getDate() + count);
    keep(String(day.getFullYear()), day.getMonth() + 1, day.getDate());
  };
  const hours = (written: string | undefined, half?: string): void => {
    if (written === undefined || Number(written) > 24) return;
    times.push(minutes(written, half));
    // "At 5" may mean the afternoon.
    if (half === undefined && Number(written) < 12) times.push(minutes(written, "p"));
  };
  const without = (place: string, pattern: RegExp, read: (...groups: (string | undefined)[]) => void) =>
    place.replace(pattern, (_, ...groups: unknown[]) => {
      read(...(groups as (string | undefined)[]));
      return " ; ";
    });

  let rest = without(text, ISO_DAY, (year, month, day) => keep(year, Number(month), Number(day)));
  rest = without(rest, DOTTED, (day, month, year) => keep(year, Number(month), Number(day)));
  // Americans put the month first and Europeans the day.
  rest = without(rest, SLASHED, (one, other, year) => {
    keep(year, Number(one), Number(other));
    keep(year, Number(other), Number(one));
  });
  rest = without(rest, MONTH_FIRST, (name = "", day, year) =>
    keep(isNumber(year) ? year : undefined, MONTH_OF.get(name) ?? 0, Number(day)),
  );
  rest = without(rest, DAY_FIRST, (day, name = "", year) =>
    keep(isNumber(year) ? year : undefined, MONTH_OF.get(name) ?? 0, Number(day)),
  );
  rest = without(rest, CLOCK, (hour = "", minute, _second, half) => {
    times.push(minutes(hour, half) + Number(minute));
  });
  rest = without(rest, DOTTED_CLOCK, (hour = "", minute, half) => {
    times.push(minutes(hour, isNumber(half) ? undefined : half) + Number(minute));
  });
  rest = without(rest, HOUR, (hour = "", half) => {
    times.push(minutes(hour, half));
  });
  rest = without(rest, AT, (from, to) => {
    hours(from);
    hours(to);
  });
  rest = without(rest, NAMED_TIME, (name = "") => {
    times.push(NAMED.get(name) ?? 0);
  });
  // These words stay in the text: they are no numbers, and may be part of a phrase.
  without(text, RELATIVE, (name = "") => ahead(AHEAD.get(name) ?? 0));
  without(text, WEEKDAY, (next, name = "") => {
    const until = ((WEEKDAY_OF.get(name) ?? 0) - (today?.getDay() ?? 0) + 7) % 7 || 7;
    ahead(until);
    if (next !== undefined) ahead(until + 7);
  });
  const durations = [...text.matchAll(DURATION)].map(([, count = "", unit]) => {
    const spoken = SPOKEN.indexOf(count);
    const number = count === "half an" ? 0.5 : spoken === -1 ? Number(count) || 1 : spoken;
    return number * (unit === "minute" ? 1 : 60);
  });
  return { days, times, durations, rest };
}

function isNumber(text: string | undefined): boolean {
  return text !== undefined && /^\d+$/.test(text);
}

function minutes(hour: string, half: string | undefined): number {
  const within = half === "a" || half === "p" ? Number(hour) % 12 : Number(hour);
  return (within + (half === "p" ? 12 : 0)) * 60;
}

/** Reads a value that is nothing but one day or one time, or both. */
export function readMoment(value: string): { readonly day?: Day; readonly time?: number } | undefined {
  const text = value.trim().toLowerCase();
  // It could have either order of day and month, so no reading is certain.
  if (text.length > 40 || !/\d/.test(text) || /^\d{1,2}\/\d/.test(text)) return undefined;
  // Nobody speaks of seconds, and zones are whole or half hours: other digits could carry something else.
  if (/:\d\d:(?!00(?:\.0{1,9})?(?:[^\d.]|$))\d\d|[+-]\d\d:(?!00|30|45)\d\d/.test(text)) return undefined;
  const { days, times, rest } = momentsIn(text);
  if (/[\p{L}\p{N}]/u.test(rest) || days.length > 1 || times.length > 1) return undefined;
  const [day] = days;
  const [time] = times;
  if (day === undefined && time === undefined) return undefined;
  return { day, time };
}

export function isSameDay(one: Day, said: Day): boolean {
  return (
    one.month === said.month &&
    one.day === said.day &&
    (said.year === undefined || one.year === undefined || one.year === said.year)
  );
}
