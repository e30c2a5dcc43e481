/** When a routine fires. */
import { Fault } from "../../../../kernel/plugin.ts";
import { cronOf, dateOf, dayNumber, instantOf, type LocalDate, localTime } from "./zone.ts";

/** A schedule as it is stored. Times are in milliseconds since 1970. */
export type Plan =
  | {
      readonly type: "cron";
      /** One for each time of the day: an hour that the clocks skip or repeat is then exact for each. */
      readonly patterns: readonly string[];
      /** Only every so many days, counted from this one. */
      readonly everyDays?: { readonly days: number; readonly from: LocalDate };
    }
  /** So many minutes of real time: clocks that change do not matter. */
  | { readonly type: "interval"; readonly minutes: number; readonly from: number }
  | { readonly type: "once"; readonly at: number };

/** A plan, and how people say it. */
export interface Schedule {
  readonly plan: Plan;
  readonly words: string;
}

const MINUTE_MS = 60_000;
/** How many firings are looked at to find the two that are nearest. */
const LOOKED_AT = 20;
/** The second finds it, unless the clocks there leave out a whole day. */
const MAX_LOOKS = 5;

/** The first firing after that moment; undefined where there is none. */
export function nextAfter(plan: Plan, zone: string, after: number): number | undefined {
  return nextOf(plan, zone)(after);
}

type Next = (after: number) => number | undefined;

function nextOf(plan: Plan, zone: string): Next {
  switch (plan.type) {
    case "once":
      return (after) => (plan.at > after ? plan.at : undefined);
    case "interval": {
      const step = plan.minutes * MINUTE_MS;
      return (after) => plan.from + step * Math.max(1, Math.floor((after - plan.from) / step) + 1);
    }
    case "cron": {
      const crons = plan.patterns.map((pattern) => cronOf(pattern, zone));
      const next: Next = (after) =>
        crons
          .map((cron) => cron.nextRun(new Date(after))?.getTime())
          .filter((at) => at !== undefined)
          .toSorted((one, other) => one - other)[0];
      return plan.everyDays === undefined ? next : everyFewDays(next, plan.everyDays, zone);
    }
  }
}

/** Goes to the next of those days at once: there may be a year of others before it, with many firings each. */
function everyFewDays(
  next: Next,
  { days, from }: { readonly days: number; readonly from: LocalDate },
  zone: string,
): Next {
  const first = dayNumber(from);
  return (after) => {
    let at = next(after);
    for (let looks = 0; at !== undefined && looks < MAX_LOOKS; looks++) {
      const day = dayNumber(localTime(at, zone));
      const wanted = first + Math.max(0, Math.ceil((day - first) / days)) * days;
      if (day === wanted) return at;
      const midnight = instantOf({ ...dateOf(wanted), hour: 0, minute: 0 }, zone);
      at = midnight === undefined ? undefined : next(midnight - 1);
    }
    return undefined;
  };
}

export function nextFew(plan: Plan, zone: string, after: number, count: number): readonly number[] {
  const next = nextOf(plan, zone);
  const found: number[] = [];
  for (let at = next(after); at !== undefined && found.length < count; at = next(at)) found.push(at);
  return found;
}

/** How many firings there were after that moment, up to another; at most so many are counted. */
export function countBetween(plan: Plan, zone: string, after: number, until: number, most: number): number {
  const next = nextOf(plan, zone);
  let count = 0;
  for (let at = next(after); at !== undefined && at <= until && count < most; count++) at = next(at);
  return count;
}

/** Refuses a plan that never fires, or too often. */
export function assertSensible(plan: Plan, zone: string, now: number, leastMinutes: number): void {
  const firings = nextFew(plan, zone, now, LOOKED_AT);
  if (firings.length === 0)
    throw refused(plan.type === "once" ? "That time has passed." : "This schedule never fires.");
  const isTooOften = firings.some((at, index) => {
    const before = firings[index - 1];
    return before !== undefined && at - before < leastMinutes * MINUTE_MS;
  });
  if (isTooOften)
    throw refused(
      `This fires more often than every ${leastMinutes} minutes, which is the least here (ROUTINES_LEAST_MINUTES).`,
    );
}

export function refused(message: string): Fault {
  return new Fault("invalid", "bad_schedule", message, { param: "schedule", usage: true });
}

/** The next day on which that weekday falls, from that day on; Sunday is 0. */
export function weekdayFrom(date: LocalDate, weekday: number): LocalDate {
  const number = dayNumber(date);
  // The first of January 1970 was a Thursday.
  return dateOf(number + ((weekday - ((number + 4) % 7) + 7) % 7));
}
