/** What was asked, counted over time. */
import { expect, test } from "vitest";
import { spansOf } from "../../../../plugins/agent/routes/usage.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { openGateway } from "../../../support/services/gateway.ts";

test("an operator sees the usage of all, by model, user or channel; a user only their own", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: "done", usage: { input: 30, output: 4 } });
  const gateway = await openGateway({ model });
  const token = await gateway.addUser("alice");
  const say = (as?: string) =>
    gateway.ask("/api/chat", { method: "POST", body: { message: "Hi" }, ...(as && { token: as }) });
  await say();
  await say(token);
  model.script({ status: 400 });
  await say(token);
  const usage = async (query: string, as?: string) =>
    (await gateway.ask(`/api/usage?${query}`, as ? { token: as } : {})).body;

  const all = await usage("by=user");
  expect([all.step, all.at.length, all.turns.total.count, all.turns.total.failed]).toEqual(["day", 8, 3, 1]);
  expect(all.turns.total.input_tokens).toBeGreaterThan(0);
  expect(all.turns.total.p95_millis).toBeGreaterThanOrEqual(all.turns.total.p50_millis);
  expect(all.turns.groups).toMatchObject([
    { name: "alice", count: 2, failed: 1, points: [{ count: 2 }] },
    { name: "operator", count: 1 },
  ]);
  expect((await usage("by=user&user=operator")).turns.total.count).toBe(1);
  expect((await usage("by=model")).turns.groups).toMatchObject([
    { name: expect.stringContaining("scripted"), count: 3 },
  ]);
  expect((await usage("by=channel")).turns.groups).toMatchObject([{ name: "gateway", count: 3 }]);

  const own = await usage("by=user&user=operator", token);
  expect([own.turns.total.count, own.turns.groups.map(({ name }: { name: string }) => name)]).toEqual([
    2,
    ["alice"],
  ]);
  expect((await usage("from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z")).turns).toMatchObject({
    total: { count: 0, p50_millis: null },
    points: [],
  });
  for (const wrong of [
    "by=day",
    "zone=Nowhere",
    "from=soon",
    "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
    "from=2020-01-01T00:00:00Z",
  ])
    expect([wrong, (await gateway.ask(`/api/usage?${wrong}`)).status]).toEqual([wrong, 400]);
});

test("what was spent stays counted when its thread is deleted, or was never kept; it goes with the user", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: "done", usage: { input: 30, output: 4 } });
  const gateway = await openGateway({ model });
  const token = await gateway.addUser("alice");
  const { body } = await gateway.ask("/api/chat", { method: "POST", body: { message: "Hi" }, token });
  const usage = async () => (await gateway.ask("/api/usage?by=user")).body.turns;
  const before = await usage();
  expect(before.total.count).toBe(1);
  await gateway.ask(`/api/threads/${body.thread_id}`, { method: "DELETE", token });
  expect(await usage()).toEqual(before);
  const input = { user: "alice", channel: "gateway", input: { type: "message", text: "Hi" } } as const;
  await (await gateway.service.service("agent").run({ ...input, keeping: { ephemeral: true } })).record;
  expect((await usage()).total.count).toBe(2);
  await gateway.service.service("accounts").removeUser("alice", { withData: true });
  expect((await usage()).total.count).toBe(0);
});

test("a person sees how they answered questions, and nobody else does; it goes with the user", async () => {
  const model = await scriptedModel();
  const tools = { mail: { writes: true, run: () => ({ status: "ok", output: "sent" }) as const } };
  const gateway = await openGateway({ model, tools });
  const token = await gateway.addUser("alice");
  const answeredIn = async (query: string, as?: string) =>
    (await gateway.ask(`/api/usage?${query}`, as ? { token: as } : {})).body.answered;
  const answer = async (body: object, as: string) => {
    const before = model.requests.length;
    model.script({ calls: [{ name: "mail", arguments: {} }] }, { text: "Done." });
    const asked = await gateway.ask("/api/chat", { method: "POST", body: { message: "Send it" }, token });
    const gate = `/api/approvals/${asked.body.gate.id}`;
    const taken = await gateway.ask(gate, { method: "POST", body, token: as });
    expect(taken.status).toBe(202);
    await expect.poll(() => model.requests.length).toBe(before + 2);
  };
  for (let at = 0; at < 9; at++) await answer({ decision: "once", looked_ms: 0 }, token);
  expect(await answeredIn("", token)).toEqual({ count: 9, yes: 9, p50_millis: 0, is_hasty: false });
  await answer({ decision: "once", looked_ms: 0 }, token);
  expect(await answeredIn("", token)).toEqual({ count: 10, yes: 10, p50_millis: 0, is_hasty: true });
  await answer({ decision: "deny", looked_ms: 60_000_000 }, token);
  const own = await answeredIn("user=alice", token);
  expect(own).toMatchObject({ count: 11, yes: 10, is_hasty: false });

  // The operator has answered nothing, and sees nothing of others.
  expect(await answeredIn("by=model")).toEqual({ count: 0, yes: 0, p50_millis: null, is_hasty: false });
  for (const query of ["by=user", "user=alice", "by=user&user=operator"])
    expect([query, await answeredIn(query)]).toEqual([query, undefined]);
  expect(await answeredIn("by=user", token)).toBeUndefined();
  const scoped = { user: "alice", name: "script", tools: ["mail"] };
  const { body: limited } = await gateway.ask("/api/tokens", { method: "POST", body: scoped });
  await answer({ decision: "once" }, limited.token);
  expect(await answeredIn("", limited.token)).toBeUndefined();
  expect(await answeredIn("", token)).toMatchObject({ count: 11 });

  await gateway.service.service("accounts").removeUser("alice", { withData: true });
  const again = await gateway.addUser("alice");
  expect(await answeredIn("", again)).toMatchObject({ count: 0 });
});

test("what caching saved is told with the usage and with the context of a thread", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model, variables: { MODEL_NAME: "gpt-4o-mini" } });
  model.script(
    { text: "One.", usage: { input: 1000, output: 1 } },
    { text: "Two.", usage: { input: 2000, output: 1, cached: 1000 } },
  );
  const say = (message: string, thread?: string) =>
    gateway.ask("/api/chat", { method: "POST", body: { message, thread_id: thread } });
  const { body } = await say("Hi");
  const contextOf = async () => (await gateway.ask(`/api/threads/${body.thread_id}/context`)).body;
  expect((await contextOf()).saved).toBe(0);
  await say("Again", body.thread_id);
  expect((await contextOf()).saved).toBeCloseTo(0.000075, 9);
  const { total, groups } = (await gateway.ask("/api/usage?by=model")).body.turns;
  for (const figure of [total, groups[0]]) {
    expect(figure).toMatchObject({ input_tokens: 3000, cached_tokens: 1000 });
    expect(figure.saved_cost).toBeCloseTo(0.000075, 9);
  }
});

test("days are the reader's, also where the clock changes, and short ranges are told by the hour", () => {
  const week = spansOf({ from: "2026-03-27T12:00:00Z", to: "2026-03-31T12:00:00Z", zone: "Europe/Berlin" });
  expect(week.step).toBe("day");
  expect(week.spans.map(({ since }) => since)).toEqual([
    "2026-03-26T23:00:00.000Z",
    "2026-03-27T23:00:00.000Z",
    "2026-03-28T23:00:00.000Z",
    "2026-03-29T22:00:00.000Z",
    "2026-03-30T22:00:00.000Z",
  ]);
  const day = spansOf({ from: "2026-03-28T12:10:00Z", to: "2026-03-28T14:00:00Z", zone: "Asia/Kathmandu" });
  expect([day.step, day.spans.map(({ since }) => since)]).toEqual([
    "hour",
    ["2026-03-28T11:15:00.000Z", "2026-03-28T12:15:00.000Z", "2026-03-28T13:15:00.000Z"],
  ]);
});
