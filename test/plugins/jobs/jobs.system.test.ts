import { describe, expect, test } from "vitest";
import type { Job } from "../../../kernel/plugin.ts";
import type { ChatRequest } from "../../support/servers/model-server.ts";
import { bootAgent, message, scriptedModel } from "../../support/services/agent.ts";
import { breakTable } from "../../support/services/broken-table.ts";

const WEBHOOK = { user: "ann", channel: "webhook" } as const;
const LONG = 300_000;

function lastText({ messages }: ChatRequest): string {
  return String(messages.findLast(({ role }) => role === "user")?.content);
}

describe("a job", () => {
  test("is queued when it is accepted, and completed with the answer", async () => {
    const model = await scriptedModel();
    model.script({ text: "Hello Ann." });
    const jobs = (await bootAgent({ model })).service("jobs");
    const told: Job[] = [];
    jobs.onCompleted((job) => told.push(job));
    const job = await jobs.submit({ ...WEBHOOK, message: "Hi" });
    expect(job).toMatchObject({ status: "queued", user: "ann" });
    const done = await jobs.wait(job.id, LONG);
    expect(done).toMatchObject({ id: job.id, status: "completed", response: "Hello Ann." });
    expect(done?.completedAt).toMatch(/^\d{4}-.*Z$/);
    expect(told).toEqual([done]);
    expect(await jobs.find(job.id)).toEqual(done);
    expect(await jobs.counts()).toEqual({ queued: 0, running: 0 });
    expect(await jobs.find("nonsense")).toBeUndefined();
  });

  test("that failed is completed, with the error and a response that says so in words", async () => {
    const model = await scriptedModel();
    model.script({ status: 401 });
    const jobs = (await bootAgent({ model })).service("jobs");
    const done = await jobs.wait((await jobs.submit({ ...WEBHOOK, message: "Hi" })).id, LONG);
    expect(done).toMatchObject({ status: "completed", error: { code: "model_unauthorized" } });
    expect(done?.response).toMatch(/^This failed: /);
  });

  test("that needs an approval says where to give it", async () => {
    const model = await scriptedModel();
    model.script({ calls: [{ name: "mailer", arguments: {} }] });
    const kernel = await bootAgent({
      model,
      tools: { mailer: { writes: true, run: () => ({ status: "ok", output: "" }) } },
    });
    const jobs = kernel.service("jobs");
    const done = await jobs.wait((await jobs.submit({ ...WEBHOOK, message: "Mail" })).id, LONG);
    expect(done?.error).toMatchObject({
      code: "approval_required",
      message: expect.stringContaining("web UI"),
    });
    expect(await kernel.service("approvals").pending("ann")).toHaveLength(1);
  });

  test("waits while the store cannot be written, without keeping anything else from running, and is answered then", async () => {
    const model = await scriptedModel();
    model.otherwise({ text: "At last." });
    const kernel = await bootAgent({ model });
    const jobs = kernel.service("jobs");
    const sql = await kernel.service("store").tables("test", []);
    const mend = await breakTable(sql, "jobs", "UPDATE");
    const job = await jobs.submit({ ...WEBHOOK, message: "Hi" });
    // A queue that tried again at once would never let the poll see it.
    const tries = () => kernel.logged.filter((line) => line.includes("job queue error, retrying")).length;
    await expect.poll(tries).toBeGreaterThan(1);
    expect((await jobs.find(job.id))?.status).not.toBe("completed");
    await mend();
    expect(await jobs.wait(job.id, LONG)).toMatchObject({ status: "completed" });
  });

  test("with a known key is the first submission's job, for this user alone", async () => {
    const jobs = (await bootAgent({ model: await scriptedModel() })).service("jobs");
    const first = await jobs.submit({ ...WEBHOOK, message: "Hi", idempotencyKey: "k1" });
    expect((await jobs.submit({ ...WEBHOOK, message: "Hi", idempotencyKey: "k1" })).id).toBe(first.id);
    expect((await jobs.submit({ ...WEBHOOK, user: "eve", message: "Hi", idempotencyKey: "k1" })).id).not.toBe(
      first.id,
    );
    expect((await jobs.submit({ ...WEBHOOK, message: "Hi", idempotencyKey: "k2" })).id).not.toBe(first.id);
  });

  test("of a conversation goes on in its thread, in the order of submission", async () => {
    const model = await scriptedModel();
    model.otherwise((request) => ({ text: `re ${lastText(request)}` }));
    const kernel = await bootAgent({ model, variables: { JOBS_CONCURRENCY: "4" } });
    const jobs = kernel.service("jobs");
    const submitted: Job[] = [];
    for (const message of ["1", "2", "3"])
      submitted.push(await jobs.submit({ ...WEBHOOK, message, conversation: "c" }));
    const other = await jobs.submit({ ...WEBHOOK, message: "else", conversation: "d" });
    const done = await Promise.all([...submitted, other].map(({ id }) => jobs.wait(id, LONG)));
    expect(done.map((job) => job?.response)).toEqual(["re 1", "re 2", "re 3", "re else"]);
    const threads = new Set(done.slice(0, 3).map((job) => job?.thread));
    expect(threads.size).toBe(1);
    expect(done[3]?.thread).not.toBe(done[0]?.thread);
    const { items } = await kernel.service("threads").turns("ann", done[0]?.thread ?? "");
    expect(items.map(({ input }) => input)).toEqual(["1", "2", "3"].map((text) => message(text)));
    // A foreign user's conversation of the same name is another one.
    const foreign = await jobs.wait(
      (await jobs.submit({ ...WEBHOOK, user: "eve", message: "4", conversation: "c" })).id,
      LONG,
    );
    expect(foreign?.thread).not.toBe(done[0]?.thread);
  });

  test("can be cancelled while it waits, while it runs, and not after", async () => {
    const model = await scriptedModel();
    model.script({ text: "Endless", end: "stall" });
    const jobs = (await bootAgent({ model, variables: { JOBS_CONCURRENCY: "1" } })).service("jobs");
    const running = await jobs.submit({ ...WEBHOOK, message: "One" });
    const queued = await jobs.submit({ ...WEBHOOK, message: "Two" });
    await expect.poll(async () => (await jobs.find(running.id))?.status).toBe("running");
    await expect.poll(() => model.requests.length).toBe(1);
    expect(await jobs.cancel(queued.id)).toMatchObject({ status: "completed", error: { code: "cancelled" } });
    await jobs.cancel(running.id);
    const done = await jobs.wait(running.id, LONG);
    expect(done).toMatchObject({ status: "completed", error: { code: "cancelled" } });
    expect(await jobs.cancel(running.id)).toEqual(done);
    expect(await jobs.cancel("nonsense")).toBeUndefined();
    expect(model.requests).toHaveLength(1);
  });

  test("that runs elsewhere stops when another process asks for it", async () => {
    const model = await scriptedModel();
    model.script({ text: "Endless", end: "stall" });
    const serving = await bootAgent({ model });
    const jobs = serving.service("jobs");
    const job = await jobs.submit({ ...WEBHOOK, message: "One" });
    await expect.poll(() => model.requests.length).toBe(1);
    const command = await bootAgent({ model, home: serving.home, serving: false });
    expect(await command.service("jobs").cancel(job.id)).toMatchObject({ status: "running" });
    expect(await jobs.wait(job.id, LONG)).toMatchObject({
      status: "completed",
      error: { code: "cancelled" },
    });
  });

  test("wait answers the job as it is when the time is up", async () => {
    const model = await scriptedModel();
    model.script({ end: "stall" });
    const jobs = (await bootAgent({ model })).service("jobs");
    const job = await jobs.submit({ ...WEBHOOK, message: "Hi" });
    await expect.poll(() => model.requests.length).toBe(1);
    expect((await jobs.wait(job.id, 100))?.status).toBe("running");
  });
});

describe("the queue", () => {
  test("is fair: a user with one job does not wait for another's hundred", async () => {
    const model = await scriptedModel();
    const order: string[] = [];
    // The first ends when all are there.
    const submitted = Promise.withResolvers<string>();
    model.otherwise((request) => {
      order.push(lastText(request));
      return { text: [submitted.promise] };
    });
    const jobs = (await bootAgent({ model, variables: { JOBS_CONCURRENCY: "1" } })).service("jobs");
    const all = await Promise.all([
      ...Array.from({ length: 8 }, (_, count) => jobs.submit({ ...WEBHOOK, message: `ann ${count}` })),
      jobs.submit({ ...WEBHOOK, user: "bob", message: "bob" }),
      jobs.submit({ ...WEBHOOK, user: "cid", message: "cid" }),
    ]);
    submitted.resolve("ok");
    await Promise.all(all.map(({ id }) => jobs.wait(id, LONG)));
    expect(order.indexOf("bob")).toBeLessThanOrEqual(2);
    expect(order.indexOf("cid")).toBeLessThanOrEqual(2);
  });

  test("runs no more at once than it may", async () => {
    const model = await scriptedModel();
    model.otherwise({ calls: [{ name: "busy", arguments: {} }] });
    let begun = 0;
    const seen = Promise.withResolvers<void>();
    const kernel = await bootAgent({
      model,
      variables: { JOBS_CONCURRENCY: "2", TURN_MAX_TOOL_CALLS: "1" },
      tools: {
        busy: {
          async run() {
            begun += 1;
            await seen.promise;
            return { status: "ok", output: "" };
          },
        },
      },
    });
    const jobs = kernel.service("jobs");
    const all = await Promise.all(
      Array.from({ length: 6 }, (_, count) =>
        jobs.submit({ ...WEBHOOK, user: `user ${count}`, message: "Go" }),
      ),
    );
    await expect.poll(() => begun).toBe(2);
    expect(await jobs.counts()).toMatchObject({ running: 2, queued: 4 });
    seen.resolve();
    await Promise.all(all.map(({ id }) => jobs.wait(id, LONG)));
    expect(begun).toBe(6);
  });

  test("lists newest first, by user and status, page by page, from an index", async () => {
    const kernel = await bootAgent({ model: await scriptedModel() });
    const jobs = kernel.service("jobs");
    const sql = await kernel.service("store").tables("test", []);
    await sql.run(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000)
       INSERT INTO jobs (id, "user", channel, message, status, created_at, completed_at)
       SELECT 'job-' || n, 'user ' || (n % 10), 'webhook', 'x', 'completed', '2099-01-01', '2099-01-01' FROM numbers`,
    );
    const first = await jobs.list({ user: "user 3", status: "completed", limit: 50 });
    expect(first.items.map(({ id }) => id).slice(0, 2)).toEqual(["job-993", "job-983"]);
    const second = await jobs.list({ user: "user 3", limit: 60, before: first.next ?? "" });
    expect(second.items).toHaveLength(50);
    expect(second.next).toBeUndefined();
    expect((await jobs.list()).items).toHaveLength(50);
    // PostgreSQL chooses by what is in the table.
    if (sql.engine === "postgres") return;
    for (const where of [
      "",
      "AND user = 'x'",
      "AND status = 'queued'",
      "AND user = 'x' AND status = 'queued'",
    ]) {
      const plan = await sql.all<{ detail: string }>(
        `EXPLAIN QUERY PLAN SELECT * FROM jobs WHERE seq < 10 ${where} ORDER BY seq DESC LIMIT 51`,
      );
      expect(plan.map(({ detail }) => detail).join()).toMatch(
        /^SEARCH jobs USING (INDEX|INTEGER PRIMARY KEY)/,
      );
      expect(plan.map(({ detail }) => detail).join()).not.toContain("TEMP B-TREE");
    }
  });

  test("forgets completed jobs after the days they are kept", async () => {
    const model = await scriptedModel();
    const before = await bootAgent({ model });
    const job = await before.service("jobs").submit({ ...WEBHOOK, message: "Hi" });
    await before.service("jobs").wait(job.id, LONG);
    const sql = await before.service("store").tables("test", []);
    await sql.run("UPDATE jobs SET completed_at = ?", new Date(Date.now() - 31 * 86_400_000).toISOString());
    // A fleet does it once in its time, not at each start.
    if (sql.engine === "postgres") await sql.run("DELETE FROM repeated_work");
    await before.stop();
    const kernel = await bootAgent({ model, home: before.home });
    await expect.poll(() => kernel.service("jobs").find(job.id)).toBeUndefined();
  });
});

describe("after a restart", () => {
  test("what was queued runs, and what was running runs again", async () => {
    const model = await scriptedModel();
    model.script({ text: "Half", end: "stall" });
    const before = await bootAgent({ model, variables: { JOBS_CONCURRENCY: "1" } });
    const first = await before.service("jobs").submit({ ...WEBHOOK, message: "One", conversation: "c" });
    const second = await before.service("jobs").submit({ ...WEBHOOK, message: "Two", conversation: "c" });
    await expect.poll(() => model.requests.length).toBe(1);
    await before.stop();
    model.otherwise((request) => ({ text: `re ${lastText(request)}` }));
    const jobs = (await bootAgent({ model, home: before.home })).service("jobs");
    expect(await jobs.wait(first.id, LONG)).toMatchObject({ status: "completed", response: "re One" });
    expect(await jobs.wait(second.id, LONG)).toMatchObject({ status: "completed", response: "re Two" });
    expect((await jobs.find(second.id))?.thread).toBe((await jobs.find(first.id))?.thread);
  });

  test("a job whose turn had called a tool with side effects is not run again", async () => {
    const model = await scriptedModel();
    model.script({ calls: [{ name: "mailer", arguments: {} }] }, { end: "stall" });
    let sent = 0;
    const options = {
      model,
      variables: { TOOL_APPROVALS: "*=allow" },
      tools: {
        mailer: {
          writes: true,
          run: () => {
            sent += 1;
            return { status: "ok", output: "sent" } as const;
          },
        },
      },
    };
    const before = await bootAgent(options);
    const job = await before.service("jobs").submit({ ...WEBHOOK, message: "Mail" });
    await expect.poll(() => model.requests.length).toBe(2);
    await before.stop();
    const jobs = (await bootAgent({ ...options, home: before.home })).service("jobs");
    expect(await jobs.find(job.id)).toMatchObject({ status: "completed", error: { code: "interrupted" } });
    expect(sent).toBe(1);
  });

  test("a job that had appended to a file is run again and finds that done", async () => {
    const model = await scriptedModel();
    const call = { name: "workspace_write", arguments: { path: "/log.txt", text: "one line", append: true } };
    model.script({ calls: [call] }, { end: "stall" });
    const before = await bootAgent({ model });
    const job = await before.service("jobs").submit({ ...WEBHOOK, message: "Note it" });
    await expect.poll(() => model.requests.length).toBe(2);
    await before.stop();
    model.script({ calls: [call] }, { text: "Noted." });
    const after = await bootAgent({ model, home: before.home });
    expect(await after.service("jobs").wait(job.id, LONG)).toMatchObject({ response: "Noted.", attempts: 2 });
    const file = await after.service("workspace").read("ann", "/log.txt");
    expect(Buffer.from(file?.data ?? "").toString()).toBe("one line");
  });

  test("a job whose turn had ended is completed with its answer", async () => {
    const model = await scriptedModel();
    model.script({ text: "Answered." });
    const before = await bootAgent({ model });
    const job = await before.service("jobs").submit({ ...WEBHOOK, message: "Hi" });
    await before.service("jobs").wait(job.id, LONG);
    const sql = await before.service("store").tables("test", []);
    await sql.run("UPDATE jobs SET status = 'running', response = NULL, completed_at = NULL");
    await before.stop();
    const jobs = (await bootAgent({ model, home: before.home })).service("jobs");
    expect(await jobs.find(job.id)).toMatchObject({ status: "completed", response: "Answered." });
    expect(model.requests).toHaveLength(1);
  });
});
