import { expect, test } from "vitest";
import { groupByDate } from "../../../../plugins/page/frame/sidebar/dates.ts";

const now = new Date(2026, 2, 30, 0, 30);

const row = (date: Date, pinned = false) => ({
  id: date.toISOString(),
  title: "A thread",
  created_at: date.toISOString(),
  updated_at: date.toISOString(),
  turns: 1,
  channel: "gateway",
  pinned,
  model: null,
});

test("threads stand under today, yesterday, the last seven days and then months, the pinned ones apart", () => {
  const groups = groupByDate(
    [
      row(new Date(2025, 0, 1), true),
      // From a clock that is ahead.
      row(new Date(2026, 2, 30, 0, 40)),
      row(new Date(2026, 2, 30, 0, 0)),
      row(new Date(2026, 2, 29, 23, 59)),
      row(new Date(2026, 2, 28, 23, 59)),
      row(new Date(2026, 2, 23)),
      row(new Date(2026, 2, 22, 23, 59)),
      row(new Date(2026, 1, 28)),
      row(new Date(2025, 2, 28)),
    ],
    now,
  );
  expect(groups.map(({ title, threads }) => [title, threads.length])).toEqual([
    ["Pinned", 1],
    ["Today", 2],
    ["Yesterday", 1],
    ["Last 7 days", 2],
    ["March 2026", 1],
    ["February 2026", 1],
    ["March 2025", 1],
  ]);
});
