/** Dates for the code that the model writes. A component's time zone is UTC, so everything is in UTC. */
import { add } from "date-fns/add";
import { differenceInDays } from "date-fns/differenceInDays";
import { differenceInHours } from "date-fns/differenceInHours";
import { differenceInMinutes } from "date-fns/differenceInMinutes";
import { differenceInMonths } from "date-fns/differenceInMonths";
import { differenceInSeconds } from "date-fns/differenceInSeconds";
import { differenceInWeeks } from "date-fns/differenceInWeeks";
import { differenceInYears } from "date-fns/differenceInYears";
import { format } from "date-fns/format";
import { parse } from "date-fns/parse";
import { parseISO } from "date-fns/parseISO";
import { startOfDay } from "date-fns/startOfDay";
import { startOfHour } from "date-fns/startOfHour";
import { startOfISOWeek } from "date-fns/startOfISOWeek";
import { startOfMonth } from "date-fns/startOfMonth";
import { startOfQuarter } from "date-fns/startOfQuarter";
import { startOfYear } from "date-fns/startOfYear";

type When = Date | string | number;

const DIFFERENCES = {
  seconds: differenceInSeconds,
  minutes: differenceInMinutes,
  hours: differenceInHours,
  days: differenceInDays,
  weeks: differenceInWeeks,
  months: differenceInMonths,
  years: differenceInYears,
};

const STARTS = {
  hour: startOfHour,
  day: startOfDay,
  week: startOfISOWeek,
  month: startOfMonth,
  quarter: startOfQuarter,
  year: startOfYear,
};

/** Whole units from the earlier to the later. */
const difference = (later: When, earlier: When, unit: keyof typeof DIFFERENCES = "days"): number =>
  choose(DIFFERENCES, unit)(toDate(later), toDate(earlier));

export const dates = {
  parse: toDate,
  format: (when: When, pattern = "yyyy-MM-dd"): string => format(toDate(when), pattern),
  add: (when: When, duration: Parameters<typeof add>[1]): Date => add(toDate(when), duration),
  difference,
  startOf: (when: When, unit: keyof typeof STARTS): Date => choose(STARTS, unit)(toDate(when)),
};

function toDate(when: When, pattern?: string): Date {
  const read = readDate(when, pattern);
  if (Number.isNaN(read.getTime())) throw new TypeError(`"${String(when)}" is no date that can be read`);
  return read;
}

function readDate(when: When, pattern: string | undefined): Date {
  if (typeof when !== "string") return new Date(when);
  if (pattern !== undefined) return parse(when, pattern, new Date(0));
  const iso = parseISO(when.trim());
  return Number.isNaN(iso.getTime()) ? new Date(when) : iso;
}

function choose<Choices extends object>(choices: Choices, name: keyof Choices): Choices[keyof Choices] {
  if (Object.hasOwn(choices, name)) return choices[name];
  throw new TypeError(`"${String(name)}" is no unit of time; there are: ${Object.keys(choices).join(", ")}`);
}
