/** Routines as people read them. */
import type { Routine, RoutineBudget, RoutineRun } from "../../../kernel/kit.ts";

/** "Tue 17 Nov 2026, 08:00 Europe/Berlin" */
export function localInWords(at: string | undefined, tz: string): string {
  if (at === undefined) return "none";
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: tz,
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).formatToParts(new Date(at));
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.find(({ type }) => type === name)?.value ?? "";
  return `${part("weekday")} ${part("day")} ${part("month")} ${part("year")}, ${part("hour")}:${part("minute")} ${tz}`;
}

export function statusInWords({ status, pausedWhy }: Routine): string {
  return pausedWhy === undefined ? status : `${status}: ${pausedWhy}`;
}

export function runInWords({ status, error, refused, cause, missed }: RoutineRun): string {
  const why = error === undefined ? "" : ` (${error.message})`;
  const calls = refused.length === 1 ? "1 call needs you" : `${refused.length} calls need you`;
  const more = missed === 0 ? "" : `, ${missed} later ${missed === 1 ? "one" : "ones"} left out`;
  return [
    `${status}${why}`,
    ...(refused.length > 0 ? [calls] : []),
    ...(cause === "catch_up"
      ? [`made up for after a stop${more}`]
      : cause === "manual"
        ? ["run by hand"]
        : []),
  ].join("; ");
}

export function budgetInWords({ usd, per }: RoutineBudget): string {
  return `$${usd.toFixed(2)} per ${per}`;
}

export function secondsInWords(secs: number): string {
  if (secs % 3600 === 0) return `${secs / 3600} h`;
  return secs % 60 === 0 ? `${secs / 60} min` : `${secs} s`;
}
