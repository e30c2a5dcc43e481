import { expect, onTestFinished, test } from "vitest";
import type { Sql } from "../../../../kernel/vocabulary/store.ts";
import type { Store } from "../../../../plugins/store/services.ts";
import { openStore } from "../../../../plugins/store/sqlite/store.ts";
import { moveTime } from "../../../support/clock/moved-time.ts";
import { openPostgres } from "../../../support/processes/engines.ts";
import { describePostgres, freshDatabase } from "../../../support/processes/postgres/database.ts";
import { breakTable } from "../../../support/services/broken-table.ts";
import { afterThisTest } from "../../../support/undo.ts";

interface Joined extends Store {
  readonly sql: Sql;
  leave(): Promise<void>;
}

async function join(url: string, serves = true): Promise<Joined> {
  const store = await openPostgres(url, undefined, serves);
  let leaving: Promise<void> | undefined;
  const leave = () => {
    leaving ??= store.close();
    return leaving;
  };
  onTestFinished(leave);
  return { ...store, sql: await store.tables("test", []), leave };
}

const SECONDS = 1000;
/** As if this much time had passed on the database's clock. */
const age = (sql: Sql, id: string, column: "seen_at" | "steady_since", millis: number) =>
  sql.run(`UPDATE nodes SET ${column} = ${column} - ? WHERE id = ?`, millis, id);

function deadSeenBy({ node }: Joined): readonly string[] {
  const ids: string[] = [];
  onTestFinished(node.onDead((id) => void ids.push(id)));
  return ids;
}

test("a store on SQLite has one node, which is this process", async () => {
  const store = openStore(":memory:");
  onTestFinished(() => store.close());
  const sql = await store.tables("test", []);
  expect(await store.node.list()).toMatchObject([{ id: store.node.id, version: expect.any(String) }]);
  const others = "SELECT column1 AS id FROM (VALUES (?), ('another')) AS rows WHERE column1 NOT IN";
  expect(await sql.all(`${others} ${store.node.living}`, store.node.id)).toEqual([{ id: "another" }]);
});

test("what is exclusive is done one after the other, also where one fails", async () => {
  const store = openStore(":memory:");
  onTestFinished(() => store.close());
  const { done, works } = overlapping();
  const all = works.map((work) => store.exclusive("a name", work));
  expect(await Promise.allSettled(all)).toMatchObject([
    { value: 0 },
    { reason: { message: "changed my mind" } },
    { value: 2 },
  ]);
  expect(done).toEqual(["in", "out", "in", "out", "in", "out"]);
});

/** Three that would run into each other; the second fails. */
function overlapping() {
  const done: string[] = [];
  const works = [0, 1, 2].map((number) => async () => {
    done.push("in");
    await new Promise(setImmediate);
    done.push("out");
    if (number === 1) throw new Error("changed my mind");
    return number;
  });
  return { done, works };
}

describePostgres("nodes on PostgreSQL", () => {
  test("each that serves is listed on all; a clean stop takes it off the list, and others are told", async () => {
    const url = await freshDatabase(afterThisTest);
    const [first, second, command] = [await join(url), await join(url), await join(url, false)];
    const ids = async () => (await second.node.list()).map(({ id }) => id);
    expect(await ids()).toEqual([first.node.id, second.node.id]);
    const living = await second.sql.all<{ id: string }>(
      `SELECT id FROM nodes WHERE id IN ${second.node.living}`,
    );
    expect(living.map(({ id }) => id)).toContain(command.node.id);
    const dead = deadSeenBy(second);
    await first.leave();
    expect(await ids()).toEqual([second.node.id]);
    await expect.poll(() => dead).toEqual([first.node.id]);
  });

  test("one that is not seen for ten seconds of the database's is removed once, and every other is told", async () => {
    const url = await freshDatabase(afterThisTest);
    const before = await join(url);
    const died = "a-node-that-died";
    await before.sql.run(
      `INSERT INTO nodes SELECT ?, version, started_at, seen_at, steady_since, 1 FROM nodes`,
      died,
    );
    const [first, second] = [await join(url), await join(url)];
    const seen = [deadSeenBy(first), deadSeenBy(second)];
    await before.leave();
    for (const { node } of [first, second]) await age(first.sql, node.id, "steady_since", 10 * SECONDS);
    await age(first.sql, died, "seen_at", 10 * SECONDS);
    const both = [before.node.id, died].sort();
    await expect.poll(() => seen.map((ids) => ids.toSorted())).toEqual([both, both]);
    expect((await second.node.list()).map(({ id }) => id)).toEqual([first.node.id, second.node.id]);
  });

  test("after the database was away nobody is taken for dead", async () => {
    const url = await freshDatabase(afterThisTest);
    const [first, second] = [await join(url), await join(url)];
    const seen = [deadSeenBy(first), deadSeenBy(second)];
    // Both for long, and then a minute without one: the first beat must not remove the other.
    await first.sql.run("UPDATE nodes SET steady_since = 0, seen_at = seen_at - 60000");
    const steady = () => first.sql.all("SELECT id FROM nodes WHERE steady_since > 0");
    await expect.poll(steady).toHaveLength(2);
    expect(seen).toEqual([[], []]);
  });
});

describePostgres("what nodes on PostgreSQL tell each other", () => {
  test("a change is told to every follower of its topic, and to nobody else", async () => {
    const url = await freshDatabase(afterThisTest);
    const [first, second] = [await join(url), await join(url)];
    const told: string[] = [];
    for (const [name, { changes }] of Object.entries({ first, second }))
      for (const topic of ["tools", "other"]) changes.follow(topic, () => void told.push(`${name} ${topic}`));
    await first.changes.mark("tools");
    await expect.poll(() => told.sort()).toEqual(["first tools", "second tools"]);
    await second.changes.mark("tools");
    await expect.poll(() => told.filter((one) => one === "first tools")).toHaveLength(2);
    expect(told).not.toContain("first other");
  });

  test("what is repeated is done by one of the nodes each time, and by another when that one has stopped", async () => {
    const url = await freshDatabase(afterThisTest);
    const [first, second] = [await join(url), await join(url)];
    const done: string[] = [];
    const stops = Object.entries({ first, second }).map(([name, { repeat }]) =>
      repeat("a chore", 60_000, async () => done.push(name)),
    );
    await expect.poll(() => done).toHaveLength(1);
    for (const stop of stops) stop();
    await first.sql.run("UPDATE repeated_work SET begun_at = 0");
    onTestFinished(second.repeat("a chore", 60_000, async () => done.push("again")));
    await expect.poll(() => done[1]).toBe("again");
  });

  test("what is exclusive is done by one node at a time, and a dead one has nothing", async () => {
    const url = await freshDatabase(afterThisTest);
    const [first, second] = [await join(url), await join(url)];
    await first.sql.run("INSERT INTO locks (name, node) VALUES ('a name', 'a node that died')");
    const { done, works } = overlapping();
    const all = works.map((work, at) => (at === 0 ? first : second).exclusive("a name", work));
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    expect(done).toEqual(["in", "out", "in", "out", "in", "out"]);
    expect(await first.sql.all("SELECT name FROM locks")).toEqual([]);
  });

  test("a lock that could not be given back is not given back while its node holds it again", async () => {
    const { sql, exclusive } = await join(await freshDatabase(afterThisTest));
    const clock = moveTime(afterThisTest);
    const mend = await breakTable(sql, "locks", "DELETE");
    await exclusive("a name", async () => {});
    await mend();
    await exclusive("a name", async () => {
      // Longer than the node waits before it tries again.
      await clock.advance(1500);
      expect(await sql.all("SELECT name FROM locks")).toEqual([{ name: "a name" }]);
    });
    await clock.advance(1500);
    await expect.poll(() => sql.all("SELECT name FROM locks")).toEqual([]);
  });
});
