/** Times of the day as people write them: 8, 8:00, 8am, 8:30 pm, noon. */
import { listing } from "../../../../kernel/kit/words.ts";
import type { Cursor } from "./cursor.ts";
import { refused } from "./plan.ts";

export interface ClockTime {
  readonly hour: number;
  readonly minute: number;
}

const TIME = /^(\d{1,2})(?::(\d{2}))?(am|pm)?$/;
const NAMED: Readonly<Record<string, ClockTime>> = {
  noon: { hour: 12, minute: 0 },
  midnight: { hour: 0, minute: 0 },
};
const MAX_TIMES = 24;

/** "at 8:00 and 17:30", in order; undefined where no time is said. After a date "at" may be left out. */
export function readTimes(words: Cursor, mayLackAt = false): readonly ClockTime[] | undefined {
  if (!words.take("at") && !mayLackAt) return undefined;
  const found = new Map<number, ClockTime>();
  for (;;) {
    const time = readTime(words);
    if (time === undefined) break;
    found.set(time.hour * 60 + time.minute, time);
    words.take("and");
  }
  if (found.size === 0) return undefined;
  if (found.size > MAX_TIMES) throw refused(`Give at most ${MAX_TIMES} times.`);
  return [...found].toSorted(([one], [other]) => one - other).map(([, time]) => time);
}

function readTime(words: Cursor): ClockTime | undefined {
  const named = words.read((word) => (Object.hasOwn(NAMED, word) ? NAMED[word] : undefined));
  if (named) return named;
  const match = words.read((word) => TIME.exec(word) ?? undefined);
  if (match === undefined) return undefined;
  const half = match[3] ?? (words.take("am") ? "am" : words.take("pm") ? "pm" : undefined);
  const hour = Number(match[1]);
  const minute = Number(match[2] ?? 0);
  const isWrong = half === undefined ? hour > 23 : hour < 1 || hour > 12;
  if (isWrong || minute > 59) throw refused(`${match[0]} is not a time of the day.`);
  if (half === undefined) return { hour, minute };
  return { hour: (hour % 12) + (half === "pm" ? 12 : 0), minute };
}

export function sayTime({ hour, minute }: ClockTime): string {
  return `${hour}:${String(minute).padStart(2, "0")}`;
}

export function inWords(times: readonly ClockTime[]): string {
  return listing(times.map(sayTime));
}
