/** Days, times and durations that a text names. Small on purpose: each pattern is linear, for anybody's text may be long. */
import { SPOKEN } from "./numbers.ts";

/** A day of the calendar; one without a year is any year's. */
export interface Day {
  readonly year: number | undefined;
  readonly month: number;
  readonly day: number;
}

export interface Moments {
  readonly days: readonly Day[];
  /** Minutes after midnight. */
  readonly times: readonly number[];
  /** Minutes. */
  readonly durations: readonly number[];
  /** The text without them: a number in it is not the day of a month. */
  readonly rest: string;
}

const MONTHS = "january february march april may june july august september october november december".split(
  " ",
);
const MONTH = MONTHS.map((name) => `${name}|${name.slice(0, 3)}`).join("|");
const ISO_DAY = /\b(\d{4})-(\d{2})-(\d{2})(?!\d)/g;
const MONTH_FIRST = new RegExp(`\\b(${MONTH})\\.? (\\d{1,2})(?:st|nd|rd|th)?\\b(?:,? (\\d{4})\\b)?`, "g");
const DAY_FIRST = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? (${MONTH})\\b(?:,? (\\d{4})\\b)?`, "g");
const CLOCK = /\b(\d{1,2}):(\d{2})\b(?: ?([ap])m\b)?/g;
const HOUR = /\b(\d{1,2}) ?([ap])m\b/g;
const DURATION = new RegExp(`\\b(\\d{1,3}|an?|half an|${SPOKEN.join("|")})[ -](hour|minute)`, "g");

/** `text` in lower case. */
export function momentsIn(text: string): Moments {
  const days: Day[] = [];
  const times: number[] = [];
  const month = (name = "") => MONTHS.findIndex((one) => one.startsWith(name.slice(0, 3))) + 1;
  const keep = (year: string | undefined, at: number, day: number): string => {
    days.push({ year: year === undefined ? undefined : Number(year), month: at, day });
    return " ; ";
  };
  const rest = text
    .replace(ISO_DAY, (_, year, at, day) => keep(year, Number(at), Number(day)))
    .replace(MONTH_FIRST, (_, name, day, year) => keep(year, month(name), Number(day)))
    .replace(DAY_FIRST, (_, day, name, year) => keep(year, month(name), Number(day)))
    .replace(CLOCK, (_, hour, minute, half) => {
      times.push(minutes(hour, half) + Number(minute));
      return " ; ";
    })
    .replace(HOUR, (_, hour, half) => {
      times.push(minutes(hour, half));
      return " ; ";
    });
  const durations = [...text.matchAll(DURATION)].map(([, count = "", unit]) => {
    const spoken = SPOKEN.indexOf(count);
    const number = count === "half an" ? 0.5 : spoken === -1 ? Number(count) || 1 : spoken;
    return number * (unit === "hour" ? 60 : 1);
  });
  return { days, times, durations, rest };
}

function minutes(hour: string, half: string | undefined): number {
  const within = half === undefined ? Number(hour) : Number(hour) % 12;
  return (within + (half === "p" ? 12 : 0)) * 60;
}

/** A value that is nothing but a day, with or without a time. */
export function readMoment(value: string): { readonly day: Day; readonly time?: number } | undefined {
  const [, year, month, day, hour, minute] =
    /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/.exec(
      value,
    ) ?? [];
  if (year === undefined) return undefined;
  return {
    day: { year: Number(year), month: Number(month), day: Number(day) },
    ...(hour !== undefined && { time: Number(hour) * 60 + Number(minute) }),
  };
}

export function isSameDay(one: Day, said: Day): boolean {
  return (
    one.month === said.month && one.day === said.day && (said.year === undefined || one.year === said.year)
  );
}
