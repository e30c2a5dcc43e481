import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { openGateway } from "../../../support/services/gateway.ts";

const BODY = { schedule: "weekdays at 8:00", text: "Summarise my open issues", tz: "Europe/Berlin" };

test("a user adds, sees, changes, runs and removes their own routines; the operator all", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: "Three are open." });
  const { ask, addUser } = await openGateway({ model });
  const [ann, bob] = [await addUser("ann"), await addUser("bob")];
  const post = (token: string, body: unknown, path = "") =>
    ask(`/api/routines${path}`, { method: "POST", token, body });

  const added = await post(ann, { ...BODY, budget: { usd: 1, per: "day" }, timeout_secs: 60 });
  expect(added).toMatchObject({
    status: 201,
    body: {
      user: "ann",
      words: "every weekday at 8:00",
      tz: "Europe/Berlin",
      status: "active",
      timeout_secs: 60,
    },
  });
  const { id } = added.body;
  expect(added.body.next_at).toEqual(expect.any(String));
  expect((await ask("/api/routines", { token: bob })).body.routines).toEqual([]);
  expect((await ask("/api/routines")).body.routines).toMatchObject([{ id, user: "ann" }]);
  for (const [method, path] of [
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["POST", "/run"],
    ["GET", "/runs"],
  ] as const)
    expect(
      (
        await ask(`/api/routines/${id}${path}`, {
          method,
          token: bob,
          ...(method === "PATCH" && { body: { paused: true } }),
        })
      ).status,
    ).toBe(404);

  expect(await post(ann, undefined, `/${id}/run`)).toMatchObject({
    status: 202,
    body: { cause: "manual", status: "running", routine_id: id },
  });
  await expect
    .poll(async () => (await ask(`/api/routines/${id}/runs`, { token: ann })).body.runs)
    .toMatchObject([{ status: "completed", thread_id: expect.any(String), refused: [], cost_usd: 0 }]);
  const paused = await ask(`/api/routines/${id}`, {
    method: "PATCH",
    token: ann,
    body: { paused: true, budget: null, text: "Say hello" },
  });
  expect(paused.body).toMatchObject({ status: "paused", next_at: null, budget: null, text: "Say hello" });
  expect((await ask(`/api/routines/${id}`, { method: "DELETE" })).status).toBe(204);
  expect((await ask("/api/routines", { token: ann })).body.routines).toEqual([]);

  expect((await post(bob, { ...BODY, user: "ann" })).status).toBe(403);
  const token = { user: "ann", name: "less", tools: ["weather"] };
  const scoped = (await ask("/api/tokens", { method: "POST", body: token })).body.token;
  expect((await post(scoped, BODY)).status).toBe(403);
});

test("what is wrong with a routine is said, and a schedule can be looked at before", async () => {
  const { ask } = await openGateway();
  const query = new URLSearchParams({ schedule: "daily at 8:00", tz: "UTC" });
  const preview = await ask(`/api/routines/preview?${query}`);
  expect(preview.body).toMatchObject({ words: "every day at 8:00", tz: "UTC" });
  expect(preview.body.firings).toHaveLength(5);
  for (const [body, param] of [
    [{ ...BODY, schedule: "soon" }, "schedule"],
    [{ ...BODY, tz: "Berlin" }, "tz"],
    [{ ...BODY, text: "" }, "text"],
    [{ ...BODY, timeout_secs: 0 }, "timeout_secs"],
    [{ ...BODY, budget: { usd: 0, per: "run" } }, "budget.usd"],
    [{ ...BODY, deliver: "callback" }, "deliver"],
    [{ text: "No schedule" }, "schedule"],
  ] as const) {
    const answer = await ask("/api/routines", { method: "POST", body });
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  }
  expect((await ask("/api/routines", { method: "POST", body: { ...BODY, user: "nobody" } })).status).toBe(
    404,
  );
});
