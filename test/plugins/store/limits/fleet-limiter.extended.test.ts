import { randomUUID } from "node:crypto";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createLimiter } from "../../../../plugins/store/limits/limiter.ts";
import type { LimitWindow, Store } from "../../../../plugins/store/services.ts";
import { type MovedTime, moveTime } from "../../../support/clock/moved-time.ts";
import { openPostgres } from "../../../support/processes/engines.ts";
import { describePostgres, freshDatabase } from "../../../support/processes/postgres/database.ts";
import { afterThisFile, afterThisTest } from "../../../support/undo.ts";

const HUNDRED: LimitWindow = { limit: 100, seconds: 60 };

describePostgres("a limit of several nodes", () => {
  const later = afterThisFile();
  let stores: Awaited<ReturnType<typeof openPostgres>>[];
  beforeAll(async () => {
    const url = await freshDatabase(later);
    stores = await Promise.all([openPostgres(url), openPostgres(url), openPostgres(url)]);
    for (const store of stores) later(() => store.close());
  });

  /** On three nodes. What is given stands in for the first node's store. */
  function openLimiters(windows: readonly LimitWindow[], first?: Store) {
    const name = randomUUID();
    const [a, b, c] = stores.map((store, at) =>
      createLimiter({ name, windows }, at === 0 ? (first ?? store) : store),
    );
    if (!a || !b || !c) throw new Error("three nodes are expected");
    onTestFinished(async () => void (await Promise.all([a, b, c].map((limiter) => limiter.close()))));
    return { a, b, c, all: [a, b, c] };
  }
  const passed = (verdicts: readonly { readonly ok: boolean }[]) => verdicts.filter(({ ok }) => ok).length;
  const times = <Result>(count: number, work: (at: number) => Result) =>
    Array.from({ length: count }, (_, at) => work(at));

  /** So many seconds pass, for this process and, by what its rows say, for the database. */
  async function pass(seconds: number, store: Store | undefined, clock: MovedTime): Promise<void> {
    await clock.advance(seconds * 1000);
    const sql = await store?.tables(randomUUID(), []);
    await sql?.run(
      "UPDATE limiter_takes SET taken_at = taken_at - ?, expires_at = expires_at - ?",
      seconds * 1000,
      seconds * 1000,
    );
  }

  test("of three hundred at once, spread unevenly, exactly a hundred pass", async () => {
    const { a, b, c } = openLimiters([HUNDRED]);
    const takes = times(300, (at) => (at % 10 < 7 ? a : at % 10 < 9 ? b : c).take("ann"));
    expect(passed(await Promise.all(takes))).toBe(100);
  });

  test("exactly a hundred pass where each node holds some already and only one is asked for the rest", async () => {
    const { a, all } = openLimiters([HUNDRED]);
    const early = await Promise.all(all.map((limiter) => limiter.take("ann")));
    expect(passed(early)).toBe(3);
    let count = 0;
    while ((await a.take("ann")).ok) count++;
    expect(count).toBe(97);
  });

  test("a node seldom asks the database, and not at all while nothing can have come back", async () => {
    const { a, b } = openLimiters([HUNDRED]);
    const asked = async (work: () => Promise<unknown>) => {
      const trips = () => stores.reduce((sum, store) => sum + store.roundTrips(), 0);
      const before = trips();
      await work();
      return trips() - before;
    };
    // What the store itself asks for meanwhile can only add to it: one round without much of that is enough.
    let round = 0;
    const take60 = async () => {
      const user = `ann ${round++}`;
      for (let count = 0; count < 60; count++) await a.take(user);
    };
    await expect.poll(() => asked(take60)).toBeLessThan(20);
    const user = `ann ${round - 1}`;
    for (let count = 0; count < 50; count++) await b.take(user);
    expect(await b.take(user)).toMatchObject({ ok: false, limit: 100, remaining: 0, windowSecs: 60 });
    const beRefused = async () => {
      for (let count = 0; count < 50; count++) expect((await b.take(user)).ok).toBe(false);
    };
    await expect.poll(() => asked(beRefused)).toBeLessThan(10);
  });

  test("never more than a hundred pass where a node that holds some is cut off", async () => {
    const [store] = stores;
    if (store === undefined) throw new Error("a store is expected");
    const deaf: Store = {
      ...store,
      signals: {
        ...store.signals,
        listen: () => Object.assign(() => {}, { ready: async () => {} }),
      },
    };
    const { a, b, c } = openLimiters([HUNDRED], deaf);
    expect((await a.take("ann")).ok).toBe(true);
    const others = await Promise.all(times(300, (at) => (at % 3 === 0 ? b : c).take("ann")));
    expect(passed(others)).toBe(75);
    // It holds the rest, and may still use it.
    const rest = await Promise.all(times(24, () => a.take("ann")));
    expect(passed(rest) + passed(others) + 1).toBe(100);
    expect((await b.take("ann")).ok).toBe(false);
  });

  test("what a node held that died counts as used until its window ends", async () => {
    const clock = moveTime(afterThisTest);
    const url = await freshDatabase(later);
    const [dying, living] = await Promise.all([openPostgres(url), openPostgres(url)]);
    later(() => living.close());
    const windows = [{ limit: 8, seconds: 60 }];
    const [a, b] = [dying, living].map((store) => store.limiter({ name: "t", windows }));
    if (!a || !b) throw new Error("two nodes are expected");
    await a.take("ann");
    await dying.close();
    const taken = await Promise.all(times(8, () => b.take("ann")));
    expect(passed(taken)).toBeLessThan(8);
    const remaining = async () => {
      await pass(61, living, clock);
      return (await b.peek("ann")).remaining;
    };
    await expect.poll(remaining).toBe(8);
    await b.close();
  });

  test("a place comes back when it is as old as its window, and the longest window decides", async () => {
    const clock = moveTime(afterThisTest);
    const { a, b, c } = openLimiters([
      { limit: 2, seconds: 60 },
      { limit: 3, seconds: 3600 },
    ]);
    expect(passed(await Promise.all([a, b, c].map((limiter) => limiter.take("ann"))))).toBe(2);
    const full = await a.peek("ann");
    expect(full).toMatchObject({ ok: false, windowSecs: 60 });
    // A place is noted a round trip later than it was taken, rather than earlier.
    expect(full.resetSecs).toBeLessThan(3600);
    await pass(61, stores[0], clock);
    expect((await c.take("ann")).ok).toBe(true);
    expect(await b.take("ann")).toMatchObject({ ok: false, limit: 3, windowSecs: 3600 });
    expect((await b.take("ben")).ok).toBe(true);
  });

  test("a node that stops hands back what it did not use", async () => {
    const { a, b } = openLimiters([HUNDRED]);
    await a.take("ann");
    await a.close();
    expect(await b.peek("ann")).toMatchObject({ ok: true, remaining: 99 });
    expect(passed(await Promise.all(times(150, () => b.take("ann"))))).toBe(99);
  });
});
