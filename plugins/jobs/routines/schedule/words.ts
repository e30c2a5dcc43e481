/** A schedule in plain words, or cron: "weekdays at 8:00", "first monday of the month at 9", "in 20 minutes". */
import { capitalise, listing } from "../../../../kernel/kit/words.ts";
import { type Cursor, cursorOf } from "./cursor.ts";
import { type Plan, refused, type Schedule, weekdayFrom } from "./plan.ts";
import { type ClockTime, inWords, readTimes, sayTime } from "./times.ts";
import { cronOf, dateOf, dayNumber, instantOf, type LocalDate, localTime } from "./zone.ts";

export interface ScheduleClock {
  readonly zone: string;
  readonly now: number;
}

export const MAX_SCHEDULE_LENGTH = 200;
const MAX_MINUTES = 527_040;
const MAX_DAYS = 366;

const EXAMPLES =
  '"weekdays at 8:00", "every 2 hours", "first monday of the month at 9:00", "tomorrow at 15:00", "in 20 minutes", "2026-12-24 at 9:00", or cron: "0 8 * * 1-5"';

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;
const WORKING = [1, 2, 3, 4, 5];
const ORDINALS: Readonly<Record<string, string>> = {
  first: "1",
  second: "2",
  third: "3",
  fourth: "4",
  last: "L",
};
const ORDINAL_WORDS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ORDINALS).map(([word, code]) => [code, word]),
);
const DAY = 1440;
const WEEK = 7 * DAY;
const MINUTES: Readonly<Record<string, number>> = {
  minute: 1,
  min: 1,
  hour: 60,
  hr: 60,
  day: DAY,
  week: WEEK,
};

export function readSchedule(text: string, reading: ScheduleClock): Schedule {
  const given = text.trim();
  if (given === "") throw refused(`The schedule is empty. Try ${EXAMPLES}.`);
  if (given.length > MAX_SCHEDULE_LENGTH)
    throw refused(`A schedule has at most ${MAX_SCHEDULE_LENGTH} characters.`);
  if (isCron(given)) return readCron(given, reading.zone);
  const words = cursorOf(given);
  const schedule = readPhrase(words, reading);
  if (schedule === undefined || !words.isAtEnd)
    throw refused(`"${given}" is not a schedule. Try ${EXAMPLES}.`);
  return schedule;
}

function readPhrase(words: Cursor, reading: ScheduleClock): Schedule | undefined {
  if (words.take("in")) return readDelay(words, reading);
  if (words.take("every", "each")) return readEvery(words, reading);
  if (words.take("hourly")) return every(60, reading);
  if (words.take("daily")) return onDays(words, []);
  if (words.take("weekdays")) return onDays(words, WORKING);
  if (words.take("weekends")) return onDays(words, [6, 0]);
  if (words.take("weekly")) return words.take("on") ? readWeekdays(words, true) : undefined;
  if (words.take("monthly")) return readDayOfMonth(words, true);
  if (words.take("today")) return onDate(words, reading, localTime(reading.now, reading.zone));
  if (words.take("tomorrow")) return onDate(words, reading, daysAhead(reading, 1));
  if (words.take("next")) {
    const [weekday] = readNames(words);
    return weekday && onDate(words, reading, weekdayFrom(daysAhead(reading, 1), weekday.number));
  }
  const date = words.date() ?? (words.take("on") ? words.date() : undefined);
  if (date) return onDate(words, reading, date);
  return readDayOfMonth(words) ?? readWeekdays(words);
}

/** "20 minutes": once. */
function readDelay(words: Cursor, reading: ScheduleClock): Schedule | undefined {
  const count = words.number() ?? (words.take("a", "an") ? 1 : undefined);
  const minutes = words.unit(MINUTES);
  if (count === undefined || minutes === undefined || count < 1) return undefined;
  if (count * minutes > MAX_MINUTES) throw refused("That is more than a year away: give the date.");
  if (minutes < DAY) return once(reading.now + count * minutes * 60_000, reading.zone);
  // Days are counted by the calendar: the same time of the day, whatever the clocks do in between.
  const { hour, minute } = localTime(reading.now, reading.zone);
  const date = daysAhead(reading, (count * minutes) / DAY);
  return once(instantOf({ ...date, hour, minute }, reading.zone) ?? reading.now, reading.zone);
}

function readEvery(words: Cursor, reading: ScheduleClock): Schedule | undefined {
  const isOther = words.take("other");
  const count = isOther ? 2 : words.number();
  if (count === 0) return undefined;
  if (count === undefined) {
    if (words.take("weekday")) return onDays(words, WORKING);
    if (words.take("weekend")) return onDays(words, [6, 0]);
    if (words.take("month")) return readDayOfMonth(words, true);
    if (words.take("week")) return words.take("on") ? readWeekdays(words, true) : undefined;
    if (words.take("day")) return onDays(words, []);
  }
  const minutes = words.unit(MINUTES);
  if (minutes === undefined) {
    if (isOther) return everyFewWeeks(words, reading, 2);
    return count === undefined ? readWeekdays(words, true) : undefined;
  }
  const whole = (count ?? 1) * minutes;
  if (whole > MAX_MINUTES) throw refused("Give at most a year between two runs.");
  if (minutes < DAY) return every(whole, reading);
  if (minutes === WEEK) return words.take("on") ? everyFewWeeks(words, reading, count ?? 1) : undefined;
  const today = localTime(reading.now, reading.zone);
  return everyFewDays(words, reading, { count: count ?? 1, unit: "day", from: today });
}

function every(minutes: number, { now }: ScheduleClock): Schedule {
  const [count, unit] = minutes % 60 === 0 ? [minutes / 60, "hour"] : [minutes, "minute"];
  return {
    plan: { type: "interval", minutes, from: Math.floor(now / 60_000) * 60_000 },
    words: count === 1 ? `every ${unit}` : `every ${count} ${unit}s`,
  };
}

function everyFewWeeks(words: Cursor, reading: ScheduleClock, count: number): Schedule | undefined {
  const [weekday] = readNames(words);
  if (weekday === undefined) return undefined;
  const from = weekdayFrom(localTime(reading.now, reading.zone), weekday.number);
  return everyFewDays(words, reading, { count, unit: "week", on: weekday.number, from });
}

interface Stride {
  readonly count: number;
  readonly unit: "day" | "week";
  /** The weekday, of weeks. */
  readonly on?: number;
  readonly from: LocalDate;
}

function everyFewDays(words: Cursor, { now, zone }: ScheduleClock, stride: Stride): Schedule {
  const { count, unit, on } = stride;
  const { year, month, day } = stride.from;
  const length = unit === "week" ? 7 : 1;
  if (count * length > MAX_DAYS) throw refused("Give at most a year between two runs.");
  const times = timesIn(words);
  // Where its time has passed today, it begins tomorrow, or a week later.
  const isOver = (instantOf({ year, month, day, ...(times.at(-1) as ClockTime) }, zone) ?? 0) <= now;
  const from = isOver ? dateOf(dayNumber({ year, month, day }) + length) : { year, month, day };
  const often = count === 1 ? unit : `${count} ${unit}s`;
  const weekday = on === undefined ? "" : ` on ${WEEKDAY_NAMES[on]}`;
  return {
    plan: { type: "cron", patterns: patterns(times, "* * *"), everyDays: { days: count * length, from } },
    words: `every ${often}${weekday} at ${inWords(times)}`,
  };
}

const WEEKDAY_NAMES = WEEKDAYS.map(capitalise);

interface NamedDay {
  readonly number: number;
  /** "mondays": it is said of all of them. */
  readonly isPlural: boolean;
}

/** "monday", "mon and thu", "mondays, fridays". */
function readNames(words: Cursor): readonly NamedDay[] {
  const found: NamedDay[] = [];
  for (;;) {
    const name = words.peek() ?? "";
    const singular = name.length > 4 && name.endsWith("s") ? name.slice(0, -1) : name;
    const number = WEEKDAYS.findIndex(
      (day) => singular === day || (isShort(singular) && day.startsWith(singular)),
    );
    if (number === -1) return found;
    words.next();
    found.push({ number, isPlural: singular !== name });
    words.take("and");
  }
}

const isShort = (name: string): boolean => name.length >= 3 && name.length <= 5;

function readWeekdays(words: Cursor, isEvery = false): Schedule | undefined {
  const days = readNames(words);
  const [first] = days;
  if (first === undefined) return undefined;
  if (!isEvery && days.length === 1 && !first.isPlural) {
    const name = WEEKDAYS[first.number];
    throw refused(`Say "every ${name}", or "next ${name}" for once.`);
  }
  return onDays(
    words,
    days.map(({ number }) => number),
  );
}

/** Every day where none is named. */
function onDays(words: Cursor, days: readonly number[]): Schedule {
  const times = timesIn(words);
  const chosen = [...new Set(days)].toSorted((one, other) => ((one + 6) % 7) - ((other + 6) % 7));
  const field = chosen.length === 0 ? "*" : chosen.join(",");
  return {
    plan: { type: "cron", patterns: patterns(times, `* * ${field}`) },
    words: `every ${daysInWords(chosen)} at ${inWords(times)}`,
  };
}

function daysInWords(days: readonly number[]): string {
  if (days.length === 0 || days.length === 7) return "day";
  if (days.join() === WORKING.join()) return "weekday";
  return listing(days.map((day) => WEEKDAY_NAMES[day] as string));
}

/** "the first monday of the month", "the 15th of every month", "last day of the month". */
function readDayOfMonth(words: Cursor, isInMonth = false): Schedule | undefined {
  words.take("on");
  words.take("the");
  const code =
    words.read((word) => (Object.hasOwn(ORDINALS, word) ? ORDINALS[word] : undefined)) ??
    words.ordinal()?.toString();
  if (code === undefined) return undefined;
  const [weekday] = words.take("day") ? [] : readNames(words);
  if (words.take("of")) {
    words.take("the", "every", "each");
    if (!words.take("month")) return undefined;
  } else if (!isInMonth) return undefined;
  const times = timesIn(words);
  if (weekday !== undefined && code !== "L" && Number(code) > 4)
    throw refused("A month has four of each weekday, and sometimes a fifth: use first to fourth, or last.");
  const said = weekday
    ? `${ORDINAL_WORDS[code]} ${WEEKDAY_NAMES[weekday.number]}`
    : code === "L"
      ? "last day"
      : nthInWords(Number(code));
  const fields = weekday ? `* * ${weekday.number}#${code}` : `${code} * *`;
  return {
    plan: { type: "cron", patterns: patterns(times, fields) },
    words: `on the ${said} of the month at ${inWords(times)}`,
  };
}

function nthInWords(day: number): string {
  const tens = Math.floor(day / 10) === 1 ? 0 : day % 10;
  return `${day}${["th", "st", "nd", "rd"][tens] ?? "th"}`;
}

function timesIn(words: Cursor, mayLackAt = false): readonly ClockTime[] {
  const times = readTimes(words, mayLackAt);
  if (times === undefined) throw refused('Say at what time, such as "at 8:00".');
  return times;
}

function patterns(times: readonly ClockTime[], rest: string): readonly string[] {
  return times.map(({ hour, minute }) => `${minute} ${hour} ${rest}`);
}

function onDate(words: Cursor, { zone }: ScheduleClock, { year, month, day }: LocalDate): Schedule {
  const [time, another] = timesIn(words, true);
  if (another !== undefined) throw refused("Once is at one time only.");
  return once(instantOf({ year, month, day, ...(time as ClockTime) }, zone) as number, zone);
}

function once(at: number, zone: string): Schedule {
  const { year, month, day, hour, minute } = localTime(at, zone);
  const date = [year, month, day].map((part) => String(part).padStart(2, "0")).join("-");
  return { plan: { type: "once", at }, words: `once, on ${date} at ${sayTime({ hour, minute })}` };
}

function daysAhead({ now, zone }: ScheduleClock, days: number): LocalDate {
  return dateOf(dayNumber(localTime(now, zone)) + days);
}

/** Cron has five fields, or is a nickname. */
const NICKNAMES: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

/** Five fields, of which the minutes have no letters; or a nickname. */
function isCron(text: string): boolean {
  const [minutes = "", ...rest] = text.split(/\s+/);
  return text.startsWith("@") || (rest.length >= 4 && /^[\d*/,?-]+$/.test(minutes));
}

function readCron(text: string, zone: string): Schedule {
  const pattern = NICKNAMES[text.toLowerCase()] ?? text.split(/\s+/).join(" ");
  const count = pattern.split(" ").length;
  if (count !== 5)
    throw refused(
      text.startsWith("@")
        ? `"${text}" is not known: there are ${Object.keys(NICKNAMES).join(", ")}.`
        : `Cron has five fields here (minute hour day month weekday), not ${count}.`,
    );
  try {
    cronOf(pattern, zone);
  } catch (error) {
    throw refused(
      `"${text}" is not a cron schedule: ${(error as Error).message.replace("CronPattern: ", "")}.`,
    );
  }
  const plan: Plan = { type: "cron", patterns: [pattern] };
  return { plan, words: `cron ${pattern}` };
}
