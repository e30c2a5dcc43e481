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
    await jobs.wait(id, 10_000);
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
    response: "done",
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
});
