/** Routines and their runs in words. */
import type { Routine, RoutineRun } from "../../state/wire.ts";

/** Returns the time in the routine's time zone, and in the reader's if that differs. */
export function localTime(at: string, tz: string): string {
  const show = (timeZone?: string) =>
    new Date(at).toLocaleString(undefined, {
      timeZone,
      weekday: "short",
      day: "numeric",
      month: "short",
      year: "numeric",
      hour: "2-digit",
      minute: "2-digit",
    });
  const [there, here] = [show(tz), show()];
  return there === here ? here : `${there} ${tz} (${here} here)`;
}

export function statusOf({ status, paused_why: why }: Routine): string {
  return why ? `${status}: ${why}` : status;
}

export function outcomeOf({ status, error, refused }: RoutineRun): string {
  const why = error ? `: ${error.message}` : "";
  const calls = refused.length === 1 ? "1 call needs you" : `${refused.length} calls need you`;
  return refused.length === 0 ? `${status}${why}` : `${status}${why}, ${calls}`;
}

export function causeOf({ cause, missed }: RoutineRun): string {
  if (cause === "manual") return "by hand";
  if (cause === "schedule") return "on schedule";
  return missed === 0 ? "after a stop" : `after a stop, ${missed} more left out`;
}
