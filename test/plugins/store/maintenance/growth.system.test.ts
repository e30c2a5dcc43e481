/** A store that grows is said before it is full. */
import { expect, test } from "vitest";
import {
  growthInWords,
  judge,
  keepSize,
  MAINTENANCE_TABLES,
  measure,
  SIZES,
} from "../../../../plugins/store/maintenance/growth.ts";
import { describeEngines } from "../../../support/processes/engines.ts";

const DAY = 86_400_000;
const NOW = Date.parse("2026-11-16T08:00:00Z");
const disk = { left: 100e9, whole: 500e9 };

test("growth over the last week says when the disk is full", () => {
  const rows = [20, 5, 1].map((days) => ({
    at: NOW - days * DAY,
    bytes: days === 20 ? 0 : (10 - days) * 1e9,
  }));
  const slow = judge({ bytes: 10e9, free: 0, disk }, rows, NOW);
  expect(slow).toMatchObject({ perDay: 1e9, daysLeft: 100 });
  expect(slow.problem).toBeUndefined();
  expect(growthInWords(slow)).toBe(
    "10 GB, grows by 1 GB a day, 100 GB of 500 GB left on the disk, full in about 100 days",
  );
  const fast = judge(
    { bytes: 10e9, free: 0, disk: { left: 60e9, whole: 500e9 } },
    [{ at: NOW - DAY, bytes: 0 }],
    NOW,
  );
  expect(fast.problem).toBe("the disk is full in about 6 days");
  expect(growthInWords(fast)).toContain("postern store prune");
});

test("a disk with little left is said whatever the growth, and a young store is not judged by its first hour", () => {
  const young = [{ at: NOW - 3_600_000, bytes: 0 }];
  expect(judge({ bytes: 10e9, free: 0, disk }, young, NOW)).toEqual({ bytes: 10e9, free: 0, disk });
  expect(judge({ bytes: 1, free: 0, disk: { left: 1.9e9, whole: 4e9 } }, [], NOW).problem).toBe(
    "the disk is nearly full",
  );
  expect(judge({ bytes: 1, free: 0, disk: { left: 40e9, whole: 500e9 } }, [], NOW).problem).toBe(
    "the disk is nearly full",
  );
  // A small disk that is nearly empty is not nearly full.
  expect(judge({ bytes: 1, free: 0, disk: { left: 902e6, whole: 944e6 } }, [], NOW).problem).toBeUndefined();
  expect(judge({ bytes: 1, free: 0 }, [], NOW).problem).toBeUndefined();
});

describeEngines("the size of a store", (engine, fresh) => {
  test("is measured, and kept once a day by one node", async () => {
    const place = await fresh();
    const file = engine === "sqlite" ? place.url.replace("sqlite://", "") : undefined;
    const nodes = await Promise.all([place.open(), place.open()]);
    const [sql, other] = [
      await nodes[0].tables("maintenance", MAINTENANCE_TABLES),
      await nodes[1].tables("maintenance", MAINTENANCE_TABLES),
    ];
    const size = await measure(sql, file);
    expect(size.bytes).toBeGreaterThan(4096);
    expect(size.disk === undefined).toBe(engine === "postgres");
    const firsts = await Promise.all([keepSize(sql, size, NOW), keepSize(other, size, NOW)]);
    expect(firsts.filter(Boolean)).toHaveLength(1);
    expect(await keepSize(sql, size, NOW + DAY)).toBe(true);
    expect(await other.all(SIZES)).toHaveLength(2);
    expect(await keepSize(sql, size, NOW + 100 * DAY)).toBe(true);
    expect(await other.all(SIZES)).toHaveLength(1);
  });
});
