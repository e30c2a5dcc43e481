import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { type JoinedFleet, joinFleet } from "../../../../kernel/store/fleet/fleet.ts";
import { openStore } from "../../../../kernel/store/store.ts";
import type { Migrations, Sql } from "../../../../kernel/vocabulary/store.ts";
import { describePostgres, freshDatabase } from "../../../support/processes/postgres/database.ts";
import { afterThisTest } from "../../../support/undo.ts";

interface Joined extends JoinedFleet {
  readonly sql: Sql;
  /** As if its process were gone: the row stays. */
  die(): Promise<void>;
}

/** The statements that a fleet needs, on connections of their own. */
function connect(url: string): { readonly sql: Sql; close(): Promise<void> } {
  const types = { getTypeParser: (id: number) => (id === 20 ? Number : pg.types.getTypeParser(id)) };
  const pool = new pg.Pool({ connectionString: url, max: 2, types });
  const query = (sql: string, values: unknown[]) => {
    let number = 0;
    return pool.query(
      sql.replace(/\?/g, () => `$${++number}`),
      values,
    );
  };
  const sql = {
    all: async (text: string, ...values: unknown[]) => (await query(text, values)).rows,
    run: async (text: string, ...values: unknown[]) => (await query(text, values)).rowCount,
  } as unknown as Sql;
  return { sql, close: () => pool.end() };
}

async function join(url: string, serves = true): Promise<Joined> {
  const { sql, close } = connect(url);
  let isOpen = true;
  const die = async () => {
    if (isOpen) await close();
    isOpen = false;
  };
  const tables = async (_: string, migrations: Migrations) => {
    const list = "postgres" in migrations ? migrations.postgres : migrations;
    for (const text of list)
      await sql.run(String(text).replaceAll("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"));
    return sql;
  };
  const fleet = await joinFleet({ tables }, serves);
  onTestFinished(async () => {
    if (isOpen) await fleet.leave();
    await die();
  });
  return { ...fleet, sql, die };
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
    await first.die();
    expect(await ids()).toEqual([second.node.id]);
    await expect.poll(() => dead, { timeout: 10_000 }).toEqual([first.node.id]);
  });

  test("one that is not seen for ten seconds of the database's is removed once, and every other is told", async () => {
    const url = await freshDatabase(afterThisTest);
    const [third, first, second] = [await join(url), await join(url), await join(url)];
    const seen = [deadSeenBy(first), deadSeenBy(second)];
    await third.die();
    for (const { node } of [first, second]) await age(first.sql, node.id, "steady_since", 10 * SECONDS);
    await age(first.sql, third.node.id, "seen_at", 10 * SECONDS);
    await expect.poll(() => seen, { timeout: 10_000 }).toEqual([[third.node.id], [third.node.id]]);
    expect((await second.node.list()).map(({ id }) => id)).toEqual([first.node.id, second.node.id]);
  });

  test("one that was taken for dead and comes back is told of itself, once", async () => {
    const url = await freshDatabase(afterThisTest);
    const [first, second] = [await join(url), await join(url)];
    const seen = deadSeenBy(first);
    await second.sql.run("DELETE FROM nodes WHERE id = ?", first.node.id);
    await expect.poll(() => seen).toEqual([first.node.id]);
    await expect.poll(async () => (await second.node.list()).length).toBe(2);
    expect(seen).toEqual([first.node.id]);
  });

  test("after the database was away nobody is taken for dead", async () => {
    const url = await freshDatabase(afterThisTest);
    const [first, second] = [await join(url), await join(url)];
    const seen = [deadSeenBy(first), deadSeenBy(second)];
    // Both for long, and then a minute without one: the first beat must not remove the other.
    await first.sql.run("UPDATE nodes SET steady_since = 0, seen_at = seen_at - 60000");
    const steady = () => first.sql.all("SELECT id FROM nodes WHERE steady_since > 0");
    await expect.poll(steady, { timeout: 10_000 }).toHaveLength(2);
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
    await first.changes.mark(first.sql, "tools");
    await expect.poll(() => told.sort()).toEqual(["first tools", "second tools"]);
    await second.changes.mark(second.sql, "tools");
    await expect.poll(() => told.filter((one) => one === "first tools")).toHaveLength(2);
    expect(told).not.toContain("first other");
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
});
