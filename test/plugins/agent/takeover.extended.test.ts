/** What becomes of jobs and turns around the death of a node, on a real PostgreSQL. */
import { expect, test } from "vitest";
import { MIGRATIONS } from "../../../plugins/agent/threads/tables.ts";
import { describePostgres, freshDatabase } from "../../support/processes/postgres/database.ts";
import { bootAgent, message, scriptedModel } from "../../support/services/agent.ts";
import { afterThisTest } from "../../support/undo.ts";

const JOB = { user: "ann", channel: "webhook", message: "Hi" } as const;
const LONG = 300_000;

async function node() {
  const url = await freshDatabase(afterThisTest);
  const model = await scriptedModel();
  const variables = { STORE_URL: url, POSTERN_SECRETS_KEY: "07".repeat(32) };
  const kernel = await bootAgent({ model, variables });
  const [store, jobs, agent] = [kernel.service("store"), kernel.service("jobs"), kernel.service("agent")];
  const sql = await store.tables("agent", MIGRATIONS);
  return { model, store, jobs, agent, sql, logged: kernel.logged };
}

test("a turn that is being opened when a stop begins comes to its end", async () => {
  const kernel = await bootAgent({ model: await scriptedModel() });
  const opening = kernel.service("agent").run({ user: "ann", channel: "web", input: message("Hi") });
  const drained = kernel.drain(LONG);
  expect((await (await opening).record).status).toBe("completed");
  expect(await drained).toBe(true);
});

describePostgres("a message in line", () => {
  test("stays there while the database is away", async () => {
    const { model, agent, sql } = await node();
    const { promise, resolve } = Promise.withResolvers<string>();
    model.script({ text: [promise] });
    const first = await agent.run({ user: "ann", channel: "web", input: message("Hi") });
    const next = await agent.run({
      user: "ann",
      channel: "web",
      thread: first.thread,
      input: message("Well?"),
    });
    // Numbers that were given out are not taken back.
    await sql.run("CREATE SEQUENCE tries");
    await sql.run(`CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN PERFORM nextval('tries'); RAISE 'shutting down' USING ERRCODE = '57P03'; END $$`);
    await sql.run(`CREATE TRIGGER away BEFORE UPDATE ON turns FOR EACH ROW
      WHEN (OLD.status = 'queued' AND NEW.status = 'running') EXECUTE FUNCTION away()`);
    resolve("Yes.");
    await expect.poll(() => sql.all("SELECT is_called FROM tries")).toEqual([{ is_called: 1 }]);
    await sql.run("DROP TRIGGER away ON turns");
    expect((await next.record).status).toBe("completed");
  });
});

describePostgres("a job", () => {
  test("of a node that is gone is not answered while its turn is open", async () => {
    const { model, jobs, sql } = await node();
    const { promise, resolve } = Promise.withResolvers<string>();
    model.script({ text: ["Half ", promise] });
    const half = await jobs.submit(JOB);
    await expect.poll(async () => await sql.all("SELECT text FROM turn_pieces")).not.toEqual([]);
    // Its node dies between the look at turns and the one at jobs.
    await sql.run("UPDATE jobs SET node = 'gone' WHERE id = ?", half.id);
    const after = await jobs.submit({ ...JOB, user: "bob" });
    await jobs.wait(after.id, LONG);
    await sql.run("UPDATE jobs SET status = 'running', node = 'gone', turn = NULL WHERE id = ?", after.id);
    await sql.run("UPDATE nodes SET steady_since = 0");
    await sql.run("INSERT INTO nodes VALUES ('gone', '1.0.0', 0, 0, 0, 1)");
    // Jobs are looked at in order: this one comes after the other. A wait could be told of its first end, which is on its way.
    await expect.poll(() => jobs.find(after.id)).toMatchObject({ status: "completed" });
    resolve("and half.");
    expect(await jobs.wait(half.id, LONG)).toMatchObject({ response: "Half and half." });
  });

  test("is run again where its node was taken for dead, and had only said something", async () => {
    const { model, store, jobs, sql } = await node();
    model.script({ text: ["Lost"], end: "stall" }, { text: "Found" });
    const job = await jobs.submit(JOB);
    await expect.poll(async () => await sql.all("SELECT text FROM turn_pieces")).not.toEqual([]);
    await sql.run("DELETE FROM nodes WHERE id = ?", store.node.id);
    expect(await jobs.wait(job.id, LONG)).toMatchObject({ response: "Found" });
  });

  test("that was taken when the database went away is run when it is back", async () => {
    const { jobs, sql, logged } = await node();
    // As PostgreSQL says when it is shut down.
    await sql.run(`CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE 'shutting down' USING ERRCODE = '57P03'; END $$`);
    await sql.run("CREATE TRIGGER away BEFORE INSERT ON turns FOR EACH ROW EXECUTE FUNCTION away()");
    const job = await jobs.submit(JOB);
    await expect.poll(() => logged.join()).toContain("a job could not be run");
    await sql.run("DROP TRIGGER away ON turns");
    expect(await jobs.wait(job.id, LONG)).toMatchObject({ response: "ok" });
  });
});
