import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { LimitWindow } from "../../../../plugins/store/services.ts";
import { openStore } from "../../../../plugins/store/sqlite/store.ts";
import { temporaryFolder } from "../../../support/home.ts";

// Only the calendar is moved; Bottleneck's own timers stay real.
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000_000 }));
afterEach(() => void vi.useRealTimers());
const pass = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);

const minute = { limit: 3, seconds: 60 };
const hour = { limit: 5, seconds: 3600 };
const longer = { limit: 150, seconds: 3600 };

/** One that a restart forgets. */
function limiterOf(windows: readonly LimitWindow[]) {
  const store = openStore(":memory:");
  onTestFinished(() => store.close());
  return store.limiter({ name: "t", windows, isKept: false });
}

test("the place after the last is refused, with the seconds to wait", async () => {
  const limiter = limiterOf([minute]);
  await limiter.take("ann");
  pass(10);
  await limiter.take("ann");
  expect(await limiter.take("ann")).toEqual({
    ok: true,
    limit: 3,
    windowSecs: 60,
    remaining: 0,
    resetSecs: 50,
  });
  expect(await limiter.take("ann")).toEqual({
    ok: false,
    limit: 3,
    windowSecs: 60,
    remaining: 0,
    resetSecs: 50,
  });
});

test("windows slide: a place comes back a minute after it was taken, not on the full minute", async () => {
  const limiter = limiterOf([minute]);
  await limiter.take("ann");
  pass(59);
  await limiter.take("ann");
  await limiter.take("ann");
  pass(1);
  expect((await limiter.take("ann")).ok).toBe(true);
  expect((await limiter.take("ann")).ok).toBe(false);
});

test("a refusal by the hour gives the minute's place back", async () => {
  const limiter = limiterOf([minute, hour]);
  for (let i = 0; i < 3; i++) await limiter.take("ann");
  pass(60);
  for (let i = 0; i < 2; i++) await limiter.take("ann");
  expect(await limiter.take("ann")).toMatchObject({ ok: false, limit: 5, windowSecs: 3600, resetSecs: 3540 });
  pass(3540);
  for (let i = 0; i < 3; i++) expect((await limiter.take("ann")).ok).toBe(true);
});

test("keys do not share places", async () => {
  const limiter = limiterOf([{ limit: 1, seconds: 60 }]);
  expect((await limiter.take("ann")).ok).toBe(true);
  expect((await limiter.take("ben")).ok).toBe(true);
});

test("of many at once exactly the limit get through", async () => {
  const limiter = limiterOf([minute]);
  const verdicts = await Promise.all(Array.from({ length: 20 }, () => limiter.take("ann")));
  expect(verdicts.filter(({ ok }) => ok)).toHaveLength(3);
});

test("calls that were refused take nothing from those after them", async () => {
  const limiter = limiterOf([minute, hour]);
  const many = async () => {
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => limiter.take("ann")));
    return verdicts.filter(({ ok }) => ok).length;
  };
  expect([await many(), await many()]).toEqual([3, 0]);
  pass(60);
  expect([await many(), await many()]).toEqual([2, 0]);
  pass(3600);
  expect([await many(), await many()]).toEqual([3, 0]);
});

test("of a thousand at once exactly the limit get through, and none waits for a timer while there are places ahead", async () => {
  const limiter = limiterOf([{ limit: 100, seconds: 60 }, longer]);
  const take = (count: number) => Promise.all(Array.from({ length: count }, () => limiter.take("ann")));
  expect((await take(1000)).filter(({ ok }) => ok)).toHaveLength(100);
  pass(60);
  expect((await take(1000)).filter(({ ok }) => ok)).toHaveLength(50);
  vi.useFakeTimers({ toFake: ["Date", "setTimeout"], now: Date.now() });
  const other = limiterOf([minute]);
  for (let i = 0; i < 3; i++) expect((await other.take("ben")).ok).toBe(true);
  expect((await other.take("ben")).ok).toBe(false);
});

test.each([1, 40])(
  "a block that is larger than what is at hand is used up to the last place, by %i at a time",
  async (atOnce) => {
    const limiter = limiterOf([{ limit: 500, seconds: 60 }]);
    const passed = async (count: number) => {
      let ok = 0;
      for (let done = 0; done < count; done += atOnce) {
        const verdicts = await Promise.all(Array.from({ length: atOnce }, () => limiter.take("ann")));
        ok += verdicts.filter((verdict) => verdict.ok).length;
      }
      return ok;
    };
    expect(await passed(200)).toBe(200);
    expect(await limiter.peek("ann")).toMatchObject({ ok: true, remaining: 300 });
    expect(await passed(400)).toBe(300);
    expect(await limiter.take("ann")).toMatchObject({ ok: false, remaining: 0, resetSecs: 60 });
  },
);

test("peek counts nothing", async () => {
  const limiter = limiterOf([minute]);
  for (let i = 0; i < 5; i++) expect(await limiter.peek("ann")).toMatchObject({ ok: true, remaining: 3 });
});

test("a clock that is set back keeps no place for longer than its window", async () => {
  const limiter = limiterOf([minute]);
  for (let i = 0; i < 3; i++) await limiter.take("ann");
  pass(-86_400);
  expect((await limiter.take("ann")).ok).toBe(false);
  pass(60);
  expect((await limiter.take("ann")).ok).toBe(true);
});

describe("with a store", () => {
  test("places that were taken by a clock that was ahead do not count after a restart", async () => {
    const file = join(temporaryFolder(), "store.sqlite");
    const before = openStore(file);
    const first = before.limiter({ name: "t", windows: [minute] });
    for (let i = 0; i < 3; i++) await first.take("ann");
    await before.close();
    pass(-86_400);
    const after = openStore(file);
    onTestFinished(() => after.close());
    expect((await after.limiter({ name: "t", windows: [minute] }).take("ann")).ok).toBe(true);
  });

  test("places survive a restart, and the rows of old ones do not pile up", async () => {
    const file = join(temporaryFolder(), "store.sqlite");
    const before = openStore(file);
    const first = before.limiter({ name: "t", windows: [minute] });
    for (let i = 0; i < 3; i++) await first.take("ann");
    await before.close();

    const after = openStore(file);
    const second = after.limiter({ name: "t", windows: [minute] });
    expect((await second.take("ann")).ok).toBe(false);
    pass(60);
    expect((await second.take("ann")).ok).toBe(true);
    const sql = await after.tables("test", []);
    const count = () => sql.get("SELECT count(*) AS count FROM limiter_takes");
    await expect.poll(count).toEqual({ count: 1 });
    await after.close();
  });

  test("a store that could not be written for a while costs the places of that while, not all later ones", async () => {
    const store = openStore(join(temporaryFolder(), "store.sqlite"));
    const limiter = store.limiter({ name: "t", windows: [minute] });
    await limiter.peek("ann");
    const sql = await store.tables("test", []);
    await sql.run("ALTER TABLE limiter_takes RENAME TO away");
    await limiter.take("ann");
    await sql.run("ALTER TABLE away RENAME TO limiter_takes");
    await limiter.take("ann");
    const count = () => sql.get("SELECT count(*) AS count FROM limiter_takes");
    await expect.poll(count).toEqual({ count: 1 });
    await store.close();
  });

  test("what need not be kept over a restart is not written", async () => {
    const store = openStore(join(temporaryFolder(), "store.sqlite"));
    const limiter = store.limiter({ name: "t", windows: [minute], isKept: false });
    for (let i = 0; i < 3; i++) expect((await limiter.take("ann")).ok).toBe(true);
    expect((await limiter.take("ann")).ok).toBe(false);
    const sql = await store.tables("test", []);
    expect(await sql.get("SELECT count(*) AS count FROM limiter_takes")).toEqual({ count: 0 });
    await store.close();
  });
});
