/** Local time in a time zone. */
import { Cron } from "croner";
import { Fault } from "../../../../kernel/plugin.ts";

export interface LocalTime {
  readonly year: number;
  /** From 1 on, as the day. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

export type LocalDate = Pick<LocalTime, "year" | "month" | "day">;

const DAY_MS = 86_400_000;
const MAX_ZONE_LENGTH = 64;

export const machineZone = (): string => Temporal.Now.timeZoneId();

export function assertZone(zone: string): void {
  const isName = zone.length <= MAX_ZONE_LENGTH && /^[A-Za-z][\w+/-]*$/.test(zone);
  if (isName && isKnown(zone)) return;
  const message = `"${zone.slice(0, MAX_ZONE_LENGTH)}" is not a time zone. Use a name such as Europe/Berlin, America/New_York or UTC.`;
  throw new Fault("invalid", "bad_time_zone", message, { param: "tz", usage: true });
}

function isKnown(zone: string): boolean {
  try {
    return localTime(0, zone) !== undefined;
  } catch {
    return false;
  }
}

export function localTime(at: number, zone: string): LocalTime {
  const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
  const { year, month, day, hour, minute } = local;
  return { year, month, day, hour, minute };
}

/** When clocks there show that time: of a doubled hour the first, of a missing one the moment after. Undefined: no such day. */
export function instantOf({ year, month, day, hour, minute }: LocalTime, zone: string): number | undefined {
  if (!isDate({ year, month, day })) return undefined;
  const before = new Date(Date.UTC(year, month - 1, day) - 2 * DAY_MS);
  return cronOf(`${minute} ${hour} ${day} ${month} *`, zone).nextRun(before)?.getTime();
}

export function isDate({ year, month, day }: LocalDate): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** Counts days, whatever their length. */
export const dayNumber = ({ year, month, day }: LocalDate): number => Date.UTC(year, month - 1, day) / DAY_MS;

export function dateOf(number: number): LocalDate {
  const date = new Date(number * DAY_MS);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** It only computes: nothing is ever scheduled by it. */
export function cronOf(pattern: string, zone: string): Cron {
  return new Cron(pattern, { timezone: zone, paused: true, mode: "5-part" });
}
