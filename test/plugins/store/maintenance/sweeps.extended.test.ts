/** Completed jobs and runs of routines go when they are old: in batches, so that nobody waits for all of them. */
import { expect, test } from "vitest";
import type { Sql } from "../../../../kernel/vocabulary/store.ts";
import { MIGRATIONS as JOBS } from "../../../../plugins/jobs/queue/tables.ts";
import { MIGRATIONS as ROUTINES } from "../../../../plugins/jobs/routines/tables.ts";
import type { Store } from "../../../../plugins/store/services.ts";
import { describeEngines, type StorePlace } from "../../../support/processes/engines.ts";
import { bootAgent } from "../../../support/services/agent.ts";

const OLD = "2026-01-01T08:00:00.000Z";
/** Far more than a sweep gets through while the service is stopped. */
const COUNT = 12_000;
const NUMBERS = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${COUNT})`;

async function fill(store: Store): Promise<Sql> {
  const sql = await store.tables("jobs", JOBS);
  await store.tables("routines", ROUTINES);
  const now = new Date().toISOString();
  const jobs = 'INSERT INTO jobs (id, "user", channel, message, status, created_at, completed_at)';
  await sql.run(
    `${jobs} ${NUMBERS} SELECT 'old ' || i, 'ann', 'test', 'hi', 'completed', '${OLD}', '${OLD}' FROM n`,
  );
  await sql.run(`${jobs} VALUES ('young', 'ann', 'test', 'hi', 'completed', '${OLD}', '${now}')`);
  const runs = `INSERT INTO routine_runs
    (id, routine, "user", due_at, is_manual, missed, status, started_at, stop_at, completed_at)`;
  await sql.run(
    `${runs} ${NUMBERS} SELECT 'old ' || i, 'done ' || i, 'ann', i, 0, 0, 'completed', 1, 1, ${Date.parse(OLD)} FROM n`,
  );
  await sql.run(
    `${runs} VALUES ('young', 'once', 'ann', 1, 0, 0, 'completed', 1, 1, ${Date.now()}), ('open', 'daily', 'ann', 1, 0, 0, 'running', 1, ${Date.now() + 1e9}, NULL)`,
  );
  const routines = `INSERT INTO routines
    (id, "user", text, schedule, words, tz, plan, status, timeout_secs, created_at)`;
  await sql.run(
    `${routines} ${NUMBERS} SELECT 'done ' || i, 'ann', 'hi', 'once', 'once', 'UTC', '{}', 'done', 60, '${OLD}' FROM n`,
  );
  // Its run is young, so its history can still be read.
  await sql.run(
    `${routines} VALUES ('once', 'ann', 'hi', 'once', 'once', 'UTC', '{}', 'done', 60, '${OLD}')`,
  );
  return sql;
}

const countIn = async (sql: Sql, table: string) =>
  (await sql.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`))?.count ?? 0;

const boot = ({ url }: StorePlace) =>
  bootAgent({ variables: { STORE_URL: url, POSTERN_SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") } });

describeEngines("a sweep of many rows", (engine, fresh) => {
  test("lets others in between, ends with the service, and goes on with the next", async () => {
    const place = await fresh();
    const sql = await fill(await place.open());
    const kernel = await boot(place);
    await expect.poll(() => countIn(sql, "jobs"), { interval: 5 }).toBeLessThan(COUNT - 100);
    // Somebody else writes meanwhile.
    await sql.run("UPDATE jobs SET message = 'ho' WHERE id = 'young'");
    await kernel.stop();
    expect(await countIn(sql, "jobs")).toBeGreaterThan(1);
    expect(await countIn(sql, "routine_runs")).toBeGreaterThan(2);

    // On PostgreSQL one node of all does it, once an hour.
    if (engine === "postgres") await sql.run("DELETE FROM repeated_work");
    await boot(place);
    const all = () => Promise.all(["jobs", "routine_runs", "routines"].map((table) => countIn(sql, table)));
    await expect.poll(all).toEqual([1, 2, 1]);
    expect(await sql.all("SELECT id FROM routine_runs ORDER BY id")).toEqual([
      { id: "open" },
      { id: "young" },
    ]);
    expect(await sql.all("SELECT id FROM routines")).toEqual([{ id: "once" }]);
  });
});
