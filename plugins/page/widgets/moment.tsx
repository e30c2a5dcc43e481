import { dateOnly, exactTime, relativeTime } from "../text/language.ts";

const WEEK_MS = 7 * 86_400_000;

/** A moment of the last or the coming days as "5 minutes ago", another one as its date; the title has it to the second. */
export function Moment({ at }: { at: string }) {
  const isNear = Math.abs(Date.now() - Date.parse(at)) < WEEK_MS;
  return (
    <time dateTime={at} title={exactTime(at)}>
      {isNear ? relativeTime(at) : dateOnly(at)}
    </time>
  );
}
