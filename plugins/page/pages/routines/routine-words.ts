/** Routines and their runs in words. */
import type { Routine, RoutineRun } from "../../state/wire.ts";
import { formatDate } from "../../text/language.ts";
import { text } from "../../text/text.ts";

const words = text.routines;

/** Returns the time in the routine's time zone, and in the reader's if that differs. */
export function localTime(at: string, tz: string): string {
  const show = (timeZone?: string) =>
    formatDate(at, {
      ...(timeZone && { timeZone }),
      weekday: "short",
      day: "numeric",
      month: "short",
      year: "numeric",
      hour: "2-digit",
      minute: "2-digit",
    });
  const [there, here] = [show(tz), show()];
  return there === here ? here : words.bothTimes(there, tz, here);
}

export function statusOf({ status, paused_why: why }: Routine): string {
  const known = words.statuses[status] ?? status;
  return why ? words.statusWhy(known, why) : known;
}

export function outcomeOf({ status, error, refused }: RoutineRun): string {
  const known = words.runStatuses[status] ?? status;
  const outcome = error ? words.statusWhy(known, error.message) : known;
  return refused.length === 0 ? outcome : `${outcome}, ${words.callsNeedYou(refused.length)}`;
}

export function causeOf({ cause, missed }: RoutineRun): string {
  if (cause === "manual") return words.byHand;
  if (cause === "schedule") return words.onSchedule;
  return missed === 0 ? words.afterStop : words.afterStopMissed(missed);
}
