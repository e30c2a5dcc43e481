/** Groups threads by the date of their last change. Pure. */

import type { ThreadRow } from "../../state/wire.ts";
import { formatDate } from "../../text/language.ts";
import { text } from "../../text/text.ts";

export interface DatedThreads {
  readonly title: string;
  readonly threads: readonly ThreadRow[];
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Keeps the given order; pinned threads are a group of their own. */
export function groupByDate(threads: readonly ThreadRow[], now: Date): readonly DatedThreads[] {
  const groups = Map.groupBy(threads, (row) =>
    row.pinned ? text.frame.pinned : nameDate(new Date(row.updated_at), now),
  );
  return [...groups].map(([title, rows]) => ({ title, threads: rows }));
}

function nameDate(date: Date, now: Date): string {
  // Rounded: a day in which the clocks change has 23 or 25 hours.
  const days = Math.round((midnight(now) - midnight(date)) / DAY_MS);
  if (days <= 0) return text.frame.today;
  if (days === 1) return text.frame.yesterday;
  if (days <= 7) return text.frame.lastWeek;
  return formatDate(date, { month: "long", year: "numeric" });
}

const midnight = (date: Date): number =>
  new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
