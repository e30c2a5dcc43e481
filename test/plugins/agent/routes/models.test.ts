/** The model of a thread, chosen over the API. */
import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { openGateway } from "../../../support/services/gateway.ts";

const provider = "openai-compatible";
// One whose price is known.
const SMALL = "gpt-5-mini";

test("a thread is answered by the model that was chosen for it, with its price, until it is set back", async () => {
  const model = await scriptedModel();
  model.offer("scripted", SMALL, "\u202egpt", "x".repeat(300), 7, "large");
  const gateway = await openGateway({ model });
  const say = async (body: object) =>
    (await gateway.ask("/api/chat", { method: "POST", body: { message: "Hi", ...body } })).body;
  const patch = async (thread: string, body: object, token?: string) =>
    await gateway.ask(`/api/threads/${thread}`, { method: "PATCH", body, ...(token && { token }) });
  const turn = async ({ message_id }: { message_id: string }) =>
    (await gateway.ask(`/api/turns/${message_id}`)).body;

  // What the server lists is a stranger's text: what could mislead is left out.
  expect((await gateway.ask("/api/models")).body).toEqual({
    models: [
      { provider, name: "scripted", role: "configured" },
      {
        ...{ provider, name: SMALL, window: 400_000, price: { input: "0.25", output: "2" } },
        ...{ retires: "2026-12-11", replaced_by: "gpt-6.1-terra" },
      },
      { provider, name: "large" },
      { provider: "builtin", name: "builtin" },
    ],
    unlisted: [],
  });

  const first = await say({});
  const { thread_id } = first;
  expect((await turn(first)).model.name).toBe("scripted");
  const chosen = await patch(thread_id, { model: { name: SMALL } });
  expect(chosen.body).toMatchObject({ id: thread_id, model: { provider, name: SMALL } });
  const second = await say({ thread_id });
  expect(model.requests.at(-1)?.model).toBe(SMALL);
  const paid = await turn(second);
  expect(paid.model).toEqual({ provider, name: SMALL });
  expect(paid.usage.cost).toBeGreaterThan(0);
  expect((await gateway.ask("/api/threads")).body.threads[0].model.name).toBe(SMALL);
  expect((await patch(thread_id, { model: null })).body.model).toBe(null);
  await say({ thread_id });
  expect(model.requests.at(-1)?.model).toBe("scripted");

  // A new thread can begin with one.
  const begun = await say({ model: { provider: "builtin", name: "builtin" } });
  expect((await turn(begun)).model).toEqual({ provider: "builtin", name: "builtin" });
  await say({ thread_id: begun.thread_id });
  expect(model.requests).toHaveLength(3);
  expect((await say({ thread_id, model: { name: SMALL } })).error.code).toBe("model_on_thread");

  // What is not there is refused, by name.
  for (const wanted of [{ name: "huge" }, { provider: "openai", name: SMALL }]) {
    const refused = await patch(thread_id, { model: wanted });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { code: "unknown_model", param: "model" } },
    });
    expect((await say({ model: wanted })).error.code).toBe("unknown_model");
  }
  expect((await patch(thread_id, {})).status).toBe(400);

  // One that has gone since says so, and what to do.
  await patch(thread_id, { model: { name: "large" } });
  model.script({ status: 404, error: { message: "no such model" } });
  expect(await say({ thread_id })).toMatchObject({
    status: "failed",
    error: { code: "model_refused", message: expect.stringContaining("Choose another model") },
  });

  // A token's scope holds for it.
  const make = { user: "operator", name: "bot", models: ["scripted"] };
  const { token } = (await gateway.ask("/api/tokens", { method: "POST", body: make })).body;
  expect((await gateway.ask("/api/models", { token })).body.models).toHaveLength(1);
  const scoped = await patch(thread_id, { model: { name: SMALL } }, token);
  expect([scoped.status, scoped.body.error.code]).toEqual([403, "model_not_allowed"]);
  const renamed = await patch(thread_id, { title: "Mine" }, token);
  expect([renamed.status, renamed.body.error.code]).toEqual([403, "scoped_token"]);
  const answered = await gateway.ask("/api/chat", {
    method: "POST",
    token,
    body: { message: "Hi", thread_id },
  });
  expect([answered.status, answered.body.error.code]).toEqual([403, "model_not_allowed"]);
  expect((await patch(thread_id, { model: { name: "scripted" } }, token)).status).toBe(200);
});

test("a server that lists nothing is named, and what is configured can be chosen all the same", async () => {
  const model = await scriptedModel();
  model.offer();
  const gateway = await openGateway({ model });
  const { body } = await gateway.ask("/api/models");
  expect(body.unlisted).toEqual([provider]);
  expect(body.models.map(({ name }: { name: string }) => name)).toEqual(["scripted", "builtin"]);
  const chat = { message: "Hi", model: { name: "unlisted-1" } };
  expect((await gateway.ask("/api/chat", { method: "POST", body: chat })).body.status).toBe("completed");
  expect(model.requests[0]?.model).toBe("unlisted-1");
});

test("a cap holds with a model whose price nobody knows, unless its server is the operator's own", async () => {
  const model = await scriptedModel();
  for (let at = 0; at < 3; at++) model.script({ text: "Hi.", usage: { input: 500_000, output: 1000 } });
  // A way to this machine that is not a loopback address.
  const elsewhere = { url: model.url.replace("127.0.0.1", "0.0.0.0") };
  for (const [server, status] of [
    [elsewhere, "failed"],
    [model, "completed"],
  ] as const) {
    const variables = { MODEL_BASE_URL: server.url, DAILY_USD_CAP: "5" };
    const gateway = await openGateway({ model, variables });
    const say = async () =>
      (await gateway.ask("/api/chat", { method: "POST", body: { message: "Hi" } })).body;
    const first = await say();
    expect([first.status, first.usage.cost]).toEqual(["completed", 0]);
    expect(first.usage.estimated_cost_usd).toBe(server === model ? undefined : "30.27");
    expect((await say()).status).toBe(status);
    const { total } = (await gateway.ask("/api/usage")).body.turns;
    expect([total.cost, total.estimated_cost]).toEqual([0, server === model ? undefined : 30.27]);
  }
});
