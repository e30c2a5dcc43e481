import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { openGateway } from "../../../support/services/gateway.ts";

test("§2.4 jobs are listed newest first, filtered by status, in pages; one is shown and cancelled", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: "done" });
  const gateway = await openGateway({ model });
  const jobs = gateway.service.service("jobs");
  const ids: string[] = [];
  for (const message of ["one", "two", "three"]) {
    const { id } = await jobs.submit({ user: "operator", channel: "webhook", message });
    await jobs.wait(id, 60_000);
    ids.unshift(id);
  }
  const first = (await gateway.ask("/api/jobs?limit=2")).body;
  expect(first.jobs.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
  const second = (await gateway.ask(`/api/jobs?limit=2&before=${first.next}`)).body;
  expect(second.jobs.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2));
  expect((await gateway.ask("/api/jobs?status=queued")).body.jobs).toEqual([]);
  expect((await gateway.ask("/api/jobs?status=odd")).status).toBe(400);
  expect((await gateway.ask(`/api/jobs/${ids[0]}`)).body).toMatchObject({
    status: "completed",
    message: "three",
    response: "done",
    attempts: 1,
    started_at: expect.any(String),
  });
  expect((await gateway.ask(`/api/jobs/${ids[0]}/cancel`, { method: "POST" })).body.status).toBe("completed");
  expect((await gateway.ask("/api/jobs/none")).status).toBe(404);
});

test("an operator sees the jobs of all, a user their own", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  const token = await gateway.addUser("alice");
  const jobs = gateway.service.service("jobs");
  const hers = await jobs.submit({ user: "alice", channel: "webhook", message: "hers" });
  const other = await jobs.submit({ user: "bob", channel: "webhook", message: "his" });
  const seen = async (as?: string) =>
    (await gateway.ask("/api/jobs", as ? { token: as } : {})).body.jobs.map(
      ({ user }: { user: string }) => user,
    );
  expect(await seen()).toEqual(["bob", "alice"]);
  expect(await seen(token)).toEqual(["alice"]);
  expect((await gateway.ask(`/api/jobs/${other.id}`, { token })).status).toBe(404);
  expect((await gateway.ask(`/api/jobs/${other.id}/cancel`, { method: "POST", token })).status).toBe(404);
  expect((await gateway.ask(`/api/jobs/${hers.id}`, { token })).status).toBe(200);
  expect((await gateway.ask(`/api/jobs/${other.id}/retry`, { method: "POST", token })).status).toBe(404);
});

test("a job whose thread is in the bin is not shown, in pages too, until the thread is restored", async () => {
  const gateway = await openGateway({ model: await scriptedModel() });
  const jobs = gateway.service.service("jobs");
  const run = async (message: string) => {
    const { id } = await jobs.submit({ user: "operator", channel: "webhook", message });
    return await jobs.wait(id, 60_000);
  };
  const [kept, binned, last] = [await run("kept"), await run("secret"), await run("last")];
  await gateway.ask(`/api/threads/${binned?.thread}`, { method: "DELETE" });
  const { body } = await gateway.ask("/api/jobs?limit=2");
  expect(body.jobs.map(({ id }: { id: string }) => id)).toEqual([last?.id]);
  const more = (await gateway.ask(`/api/jobs?limit=2&before=${body.next}`)).body.jobs;
  expect(more.map(({ id }: { id: string }) => id)).toEqual([kept?.id]);
  const path = `/api/jobs/${binned?.id}`;
  expect((await gateway.ask(path)).status).toBe(404);
  expect((await gateway.ask(`${path}/retry`, { method: "POST" })).status).toBe(404);
  expect(await gateway.service.service("jobControl").find(binned?.id ?? "")).toBeUndefined();
  await gateway.ask(`/api/bin/${binned?.thread}/restore`, { method: "POST" });
  expect((await gateway.ask(path)).body.message).toBe("secret");
});

test("a failed job is found by its status and run again as a new one, with the same message and conversation", async () => {
  const model = await scriptedModel();
  model.script({ status: 400 });
  const gateway = await openGateway({ model, variables: { CHAT_RATE_LIMIT: "2" } });
  const token = await gateway.addUser("alice");
  const jobs = gateway.service.service("jobs");
  const first = await jobs.submit({
    ...{ user: "alice", channel: "webhook", message: "x".repeat(600), conversation: "c" },
    metadata: { repository: "postern" },
  });
  await jobs.wait(first.id, 60_000);
  const failed = (await gateway.ask("/api/jobs?status=failed", { token })).body.jobs;
  expect(failed).toEqual([expect.objectContaining({ id: first.id, message: `${"x".repeat(500)}…` })]);
  expect((await gateway.ask(`/api/jobs/${first.id}`, { token })).body.message).toHaveLength(600);

  model.otherwise({ text: "done" });
  const retry = () => gateway.ask(`/api/jobs/${first.id}/retry`, { method: "POST", token });
  const again = await retry();
  expect(again.status).toBe(201);
  expect(again.body).toMatchObject({ status: "queued", user: "alice", conversation_id: "c", attempts: 0 });
  expect(again.body.id).not.toBe(first.id);
  expect(await jobs.wait(again.body.id, 60_000)).toMatchObject({ response: "done", attempts: 1 });
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("postern");
  expect((await gateway.ask("/api/jobs?status=failed", { token })).body.jobs).toHaveLength(1);
  expect((await retry()).status).toBe(201);
  expect((await retry()).status).toBe(429);
});

test("a job whose request is no longer kept is not run again without it", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: "done" });
  const gateway = await openGateway({ model });
  const jobs = gateway.service.service("jobs");
  const job = {
    user: "operator",
    channel: "responses",
    message: "Hi",
    turn: { preamble: { instructions: "Be brief." } },
  };
  const { id } = await jobs.submit(job);
  await jobs.wait(id, 60_000);
  const refused = await gateway.ask(`/api/jobs/${id}/retry`, { method: "POST" });
  expect([refused.status, refused.body.error.code]).toEqual([400, "job_not_repeatable"]);
});
