/** What is old goes, in batches; what somebody waits for or pinned stays. */

import { join } from "node:path";
import { expect, test } from "vitest";
import type { AgingRows, OwnedTables, Sql } from "../../../../kernel/vocabulary/store.ts";
import { TABLES } from "../../../../plugins/agent/threads/tables.ts";
import { MIGRATIONS as JOBS } from "../../../../plugins/jobs/queue/tables.ts";
import { countOld } from "../../../../plugins/store/engine/old-rows.ts";
import store from "../../../../plugins/store/plugin.ts";
import type { Store } from "../../../../plugins/store/services.ts";
import { openStore } from "../../../../plugins/store/sqlite/store.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { describeEngines } from "../../../support/processes/engines.ts";
import { postern } from "../../../support/processes/postern.ts";
import { agentPlugins } from "../../../support/services/agent-plugins.ts";
import { bootKernel } from "../../../support/services/kernel.ts";

const OLD = "2026-01-01T08:00:00.000Z";
const AGENT = TABLES.find(({ owner }) => owner === "agent") as OwnedTables;
const THREADS = AGENT.ages?.find(({ kind }) => kind === "threads") as AgingRows;

async function addThread(sql: Sql, id: string, changes: Readonly<Record<string, string | number>> = {}) {
  const row = {
    id,
    user: "ann",
    title: "Bikes",
    channel: "web",
    created_at: OLD,
    updated_at: OLD,
    ...changes,
  };
  const names = Object.keys(row).map((name) => `"${name}"`);
  await sql.run(
    `INSERT INTO threads (${names.join()}) VALUES (${names.map(() => "?").join()})`,
    ...Object.values(row),
  );
}

async function addTurn(sql: Sql, thread: string, status: string) {
  await sql.run(
    `INSERT INTO turns (id, thread, "user", channel, status, input, provider, model, created_at)
     VALUES (?, ?, 'ann', 'web', ?, 'hello', 'p', 'm', ?)`,
    `turn of ${thread}`,
    thread,
    status,
    OLD,
  );
  await sql.run(
    "INSERT INTO turn_items (id, turn, body) VALUES (?, ?, ?)",
    `item of ${thread}`,
    `turn of ${thread}`,
    '{"type":"message","text":"hello"}',
  );
}

async function fill(opened: Store): Promise<Sql> {
  const sql = await opened.tables("agent", AGENT.migrations);
  await opened.tables("jobs", JOBS);
  for (let count = 0; count < 60; count++) await addThread(sql, `old ${count}`);
  await addTurn(sql, "old 0", "completed");
  await addThread(sql, "pinned", { pinned: 1 });
  await addThread(sql, "gated", { gate: "{}" });
  await addThread(sql, "open");
  await addTurn(sql, "open", "running");
  await addThread(sql, "queued");
  await sql.run(
    `INSERT INTO conversations ("user", name, thread) VALUES ('ann', 'talk', 'queued'), ('ann', 'gone', 'old 1')`,
  );
  await sql.run(
    `INSERT INTO jobs (id, "user", channel, message, conversation, status, created_at) VALUES ('j', 'ann', 'webhook', 'hi', 'talk', 'queued', ?)`,
    OLD,
  );
  await addThread(sql, "new", { updated_at: new Date().toISOString() });
  return sql;
}

const left = async (sql: Sql) =>
  (await sql.all<{ id: string }>("SELECT id FROM threads ORDER BY id")).map(({ id }) => id);

describeEngines("old threads", (_engine, fresh) => {
  test("go with all that is on them, and only those that nobody pinned or waits for", async () => {
    const store = await (await fresh()).open();
    const sql = await fill(store);
    const before = "2026-06-01T00:00:00.000Z";
    expect(await countOld(sql, THREADS, { before })).toEqual({
      rows: 60,
      bytes: '{"type":"message","text":"hello"}'.length,
      oldest: OLD,
      newest: OLD,
    });
    expect((await countOld(sql, THREADS, { before, user: "bob" })).rows).toBe(0);
    const stopped = new AbortController();
    // Stopped after the first batch, it goes on from there the next time.
    const some = await store.pruneOld(THREADS, before, {
      signal: stopped.signal,
      progress: () => stopped.abort(),
    });
    expect(some).toBe(50);
    expect(await store.pruneOld(THREADS, before)).toBe(10);
    expect(await left(sql)).toEqual(["gated", "new", "open", "pinned", "queued"]);
    expect(await sql.all("SELECT id FROM turn_items")).toEqual([{ id: "item of open" }]);
    expect(await sql.all("SELECT name FROM conversations")).toEqual([{ name: "talk" }]);
  });
});

test("postern store prune says what would go, refuses without --yes, deletes and gives the space back", async () => {
  const home = temporaryFolder();
  const opened = openStore(join(home, "store.sqlite"));
  const sql = await fill(opened);
  const run = (...args: string[]) =>
    postern(["store", "prune", ...args], { env: { POSTERN_HOME: home }, cwd: home });
  const dry = await run("--dry-run", "--older-than", "30d", "--kind", "threads", "--json");
  expect(JSON.parse(dry.stdout)).toMatchObject({ found: [{ kind: "threads", rows: 60 }], removed: {} });
  expect(await left(sql)).toHaveLength(65);
  const unasked = await run("--older-than", "30d");
  expect(unasked).toMatchObject({ code: 1, stderr: expect.stringContaining("pass --yes") });
  expect(unasked.stdout).toContain("threads");
  const done = await run("--older-than", "30d", "--yes");
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining("Deleted 60 threads") });
  expect(await left(sql)).toHaveLength(5);
  await opened.close();
});

test("THREADS_RETENTION_DAYS has the service delete them", async () => {
  const kernel = await bootKernel([store, ...agentPlugins]);
  const sql = await kernel.service("store").tables("agent", AGENT.migrations);
  for (const id of ["old", "older"]) await addThread(sql, id);
  await addThread(sql, "pinned", { pinned: 1 });
  await kernel.stop();
  const again = await bootKernel(
    [store, ...agentPlugins],
    { THREADS_RETENTION_DAYS: "30" },
    { home: kernel.home },
  );
  const now = await again.service("store").tables("agent", AGENT.migrations);
  await expect.poll(() => left(now)).toEqual(["pinned"]);
  await expect
    .poll(() => again.logged.filter((line) => line.includes("old threads deleted")))
    .toHaveLength(1);
});
