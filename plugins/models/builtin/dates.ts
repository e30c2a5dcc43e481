/** Dates and times in a text, read by chrono. */
import { casual } from "chrono-node/en";

/** Chrono takes a millisecond for every few characters of its worst texts. */
const MAX_LENGTH = 200;
const DAYS = /\b(?:(christmas eve)|(christmas)|(new year's eve)|(new year)|(valentine's day)|(halloween))\b/i;
const DATES = ["12-24", "12-25", "12-31", "1-1", "2-14", "10-31"];

const reader = casual.clone();
reader.parsers.push({
  pattern: () => DAYS,
  extract(_context, match) {
    const [month = 1, day = 1] = (DATES[match.slice(1).findIndex(Boolean)] ?? "").split("-").map(Number);
    return { month, day };
  },
});

/** The dates that a text names; those without a year are the next to come. */
export function datesIn(text: string, now: Date) {
  const found = reader.parse(text.slice(0, MAX_LENGTH).replaceAll("’", "'"), now, { forwardDate: true });
  return found.flatMap(({ index, text: said, start }) => {
    const [end, date, hasTime] = [index + said.length, start.date(), start.isCertain("hour")];
    const hasDay = start.isCertain("day") || start.isCertain("weekday");
    return isAmbiguous(said) ? [] : [{ start: index, end, date, hasDay, hasTime }];
  });
}

/** 03/04/2026 is in March or in April, depending on who wrote it, so it is asked for and not guessed. */
function isAmbiguous(text: string): boolean {
  const [, first, second] = /\b(\d{1,2})[/.-](\d{1,2})[/.-]\d/.exec(text) ?? [];
  return first !== undefined && first !== second && Number(first) <= 12 && Number(second) <= 12;
}

const REPEATED =
  /\b(?:(?:every|each) (?:other )?(?:\d{1,3} )?[a-z]{3,12}|daily|hourly|weekdays)(?:,? (?:at )?\d{1,2}(?::\d\d)?(?: ?[ap]m)?\b)?|\bin (?:an?|\d{1,3}) (?:minute|hour|day|week)s?\b/i;

/** "Every weekday at 8:00" or "tomorrow at 9", as routines take it, and the text without it. */
export function scheduleIn(text: string, now: Date): readonly [schedule?: string, rest?: string] {
  const [repeated] = REPEATED.exec(text.slice(0, MAX_LENGTH)) ?? [];
  const { date = now, start, end } = datesIn(text, now).find(({ hasTime }) => hasTime) ?? {};
  const said = repeated ?? text.slice(start ?? text.length, end);
  const once = `${isoDate(date)} at ${isoTime(date).slice(0, 5)}`;
  return said === "" ? [] : [repeated?.replace(",", "") ?? once, text.replace(said, "").trim()];
}

export type Mention = ReturnType<typeof datesIn>[number];
const LONG_DATE = { weekday: "long", day: "numeric", month: "long", year: "numeric" } as const;

export const sayDay = (date: Date): string => date.toLocaleDateString("en-GB", LONG_DATE);
export const isoTime = (date: Date): string => date.toLocaleTimeString("sv-SE");
export const isoDate = (date: Date): string => date.toLocaleDateString("sv-SE");

/** Says "Friday, 25 December 2026 is 40 days away."; undefined where the text names no day. */
export function sayDistance(text: string, now: Date): string | undefined {
  const date = datesIn(text, now).find(({ hasDay }) => hasDay)?.date;
  if (!date) return undefined;
  const days = Math.round((Date.parse(isoDate(date)) - Date.parse(isoDate(now))) / 86_400_000);
  if (days === 0) return `That is today, ${sayDay(date)}.`;
  const count = `${Math.abs(days)} ${Math.abs(days) === 1 ? "day" : "days"}`;
  return days > 0 ? `${sayDay(date)} is ${count} away.` : `${sayDay(date)} was ${count} ago.`;
}
