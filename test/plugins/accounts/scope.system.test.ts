import { expect, test } from "vitest";
import type { ChatRequest } from "../../support/servers/model-server.ts";
import { scriptedModel, type TestTool } from "../../support/services/agent.ts";
import { openGateway, type TestGateway } from "../../support/services/gateway.ts";

const TOOLS: Readonly<Record<string, TestTool>> = {
  weather: { run: () => ({ status: "ok", output: "sunny" }) },
  mailer: { writes: true, run: () => ({ status: "ok", output: "sent" }) },
};

const offered = (request: ChatRequest | undefined) =>
  request?.tools?.map(({ function: { name } }) => name) ?? [];

async function open() {
  const model = await scriptedModel();
  model.otherwise({ text: "Done." });
  const gateway = await openGateway({ model, tools: TOOLS });
  await gateway.ask("/api/users", { method: "POST", body: { id: "ann" } });
  return { model, gateway, make: maker(gateway) };
}

const maker =
  (gateway: TestGateway) =>
  (scope: object, user = "ann") =>
    gateway.ask("/api/tokens", { method: "POST", body: { user, name: "codex", ...scope } });

const say = (gateway: TestGateway, token: string, message = "Hello") =>
  gateway.ask("/api/chat", { method: "POST", token, body: { message } });

test("a token is created with a scope, which lists show and the account does not", async () => {
  const { gateway, make } = await open();
  const scope = { tools: ["weather", "memory_read", "weather"], models: ["scripted"], per_day_usd: 5 };
  const made = await make({ ...scope, expires_in_days: 90 });
  expect(made).toMatchObject({
    status: 201,
    body: { tools: ["weather", "memory_read"], models: ["scripted"], per_day_usd: 5, warnings: [] },
  });
  const none = await make({ tools: "none" });
  const all = await make({ tools: "all", models: null, per_day_usd: null, expires_in_days: null });
  const listed = (await gateway.ask("/api/tokens")).body.tokens as readonly { id: string }[];
  const listedAs = ({ body }: typeof made) => listed.find(({ id }) => id === body.id);
  expect(listedAs(made)).toMatchObject({ tools: ["weather", "memory_read"], per_day_usd: 5 });
  expect(listedAs(none)).toMatchObject({ tools: [], models: null, per_day_usd: null });
  expect(listedAs(all)).toMatchObject({ tools: null, models: null, per_day_usd: null, expires_at: null });
  expect((await gateway.ask("/api/session", { token: made.body.token })).body).toEqual({
    user: { id: "ann", role: "user" },
  });
  const odd = await make({ tools: ["wether", "weather"], models: ["gpt-9"] });
  expect(odd.body.warnings).toEqual([
    "There is no tool wether here now.",
    "The model here is scripted, which this token may not use.",
  ]);
});

test("a wrong scope is 400 and names the field", async () => {
  const { gateway, make } = await open();
  const wrong: readonly (readonly [object, string, string])[] = [
    [{ tools: ["two words"] }, "tools[0]", "must be the name of a tool"],
    [{ tools: "some" }, "tools", "none"],
    [{ tools: Array.from({ length: 101 }, (_, at) => `t${at}`) }, "tools", "at most 100"],
    [{ models: [] }, "models", "1 to 50"],
    [{ models: ["a b"] }, "models[0]", "must be the name of a model"],
    [{ models: ["x".repeat(201)] }, "models[0]", "1 to 200"],
    [{ models: "gpt-5" }, "models", "1 to 50"],
    [{ per_day_usd: 0 }, "per_day_usd", "above 0"],
    [{ per_day_usd: -1 }, "per_day_usd", "above 0"],
    [{ per_day_usd: "5" }, "per_day_usd", "US dollars"],
    [{ per_day_usd: 1e9 }, "per_day_usd", "1000000"],
    [{ expires_in_days: -1 }, "expires_in_days", "above 0"],
  ];
  for (const [scope, param, words] of wrong) {
    const { status, body } = await make(scope);
    expect([scope, status, body.error?.param, body.error?.message]).toEqual([
      scope,
      400,
      param,
      expect.stringContaining(words),
    ]);
  }
  expect((await make({ tools: "none" }, "nobody")).status).toBe(404);
  expect((await gateway.ask("/api/tokens")).body.tokens).toEqual([]);
});

test("a message is answered with the tools and models of its token, also through a browser session", async () => {
  const { model, gateway, make } = await open();
  const { token, id } = (await make({ tools: ["weather"] })).body;
  expect((await say(gateway, token)).body.status).toBe("completed");
  const signedIn = await fetch(`${gateway.url}/api/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: gateway.url },
    body: JSON.stringify({ token }),
  });
  const headers = { cookie: signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "", origin: gateway.url };
  const byCookie = (path: string, body: object) =>
    fetch(gateway.url + path, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  expect((await byCookie("/api/chat", { message: "Hello" })).status).toBe(200);
  expect((await byCookie("/api/tokens", { user: "ann", name: "more" })).status).toBe(403);
  const { thread_id } = (
    await gateway.ask("/api/chat/send", { method: "POST", token, body: { message: "x" } })
  ).body;
  await expect.poll(() => model.requests.length).toBe(3);
  const read = await gateway.ask(`/api/threads/${thread_id}`, { token });
  await expect
    .poll(async () => (await gateway.ask(`/api/turns/${read.body.turns[0].id}`, { token })).body.status)
    .toBe("completed");
  const again = await gateway.ask(`/api/turns/${read.body.turns[0].id}/retry`, { method: "POST", token });
  expect(again.status).toBe(202);
  await expect.poll(() => model.requests.length).toBe(4);
  expect(model.requests.map(offered)).toEqual(Array(4).fill(["weather"]));

  const other = (await make({ models: ["gpt-9"] })).body.token;
  const refused = await say(gateway, other);
  expect([refused.status, refused.body.error]).toEqual([
    403,
    expect.objectContaining({
      code: "model_not_allowed",
      message: expect.stringContaining("only use gpt-9"),
    }),
  ]);

  await gateway.ask(`/api/tokens/${id}`, { method: "DELETE" });
  expect((await fetch(`${gateway.url}/api/session`, { headers })).status).toBe(401);
});

test("a token with a scope reads, and changes only what is its to change: no route would widen it", async () => {
  const { gateway, make } = await open();
  const { token } = (await make({ per_day_usd: 5 })).body;
  const { paths } = (await gateway.ask("/api/openapi.json")).body as {
    paths: Record<string, Record<string, object>>;
  };
  const reached: string[] = [];
  for (const [path, verbs] of Object.entries(paths))
    for (const verb of Object.keys(verbs)) {
      if (verb === "get" || !path.startsWith("/api/") || path.startsWith("/api/v1/")) continue;
      const method = verb.toUpperCase();
      const { status, body } = await gateway.ask(path.replaceAll(/\{\w+\}/g, "x"), {
        method,
        token,
        ...(method !== "DELETE" && { body: {} }),
      });
      if (status === 403)
        expect(body.error).toMatchObject({ code: "scoped_token", type: "permission_error" });
      else reached.push(`${method} ${path}`);
    }
  expect(reached.toSorted()).toEqual([
    "DELETE /api/attachments/{id}",
    "DELETE /api/memory/file",
    "DELETE /api/session",
    "DELETE /api/turns/{id}",
    "DELETE /api/workspace/file",
    "PATCH /api/threads/{id}",
    "POST /api/approvals/{gate}",
    "POST /api/attachments",
    "POST /api/chat",
    "POST /api/chat/send",
    "POST /api/session",
    "POST /api/turns/{id}/cancel",
    "POST /api/turns/{id}/retry",
    "POST /api/workspace/attach",
    "POST /api/workspace/folders",
    "POST /api/workspace/keep",
    "POST /api/workspace/move",
    "POST /api/workspace/restore",
    "PUT /api/memory/file",
    "PUT /api/workspace/file",
  ]);
  for (const path of [
    "/api/threads",
    "/api/jobs",
    "/api/tasks",
    "/api/approvals",
    "/api/receipts",
    "/api/tools",
    "/api/skills",
    "/api/status",
  ])
    expect([path, (await gateway.ask(path, { token })).status]).toEqual([path, 200]);
});

test("an operator's token with a scope is not an operator's: it sees no more than a user", async () => {
  const { gateway, make } = await open();
  const { token } = (await make({ tools: "none" }, "operator")).body;
  expect((await gateway.ask("/api/session", { token })).body.user.role).toBe("user");
  for (const path of ["/api/users", "/api/tokens", "/metrics"]) {
    const { status, body } = await gateway.ask(path, { token });
    expect([path, status, body.error.code]).toEqual([path, 403, "scoped_token"]);
  }
});

test("memory is reached only by what its tools are in scope for", async () => {
  const { gateway, make } = await open();
  const none = (await make({ tools: "none" })).body.token;
  const reads = (await make({ tools: ["memory_read", "memory_tree"] })).body.token;
  const capped = (await make({ per_day_usd: 5 })).body.token;
  const file = "/api/memory/file?path=a.md";
  const asked = async (token: string) => [
    (await gateway.ask(file, { method: "PUT", token, body: { text: "x" } })).status,
    (await gateway.ask(file, { token })).status,
    (await gateway.ask("/api/memory", { token })).status,
    (await gateway.ask("/api/memory?q=x", { token })).status,
    (await gateway.ask(file, { method: "DELETE", token })).status,
  ];
  expect(await asked(capped)).toEqual([200, 200, 200, 200, 204]);
  expect(await asked(reads)).toEqual([403, 404, 200, 403, 403]);
  expect(await asked(none)).toEqual([403, 403, 403, 403, 403]);
  expect((await gateway.ask(file, { token: none })).body.error.message).toBe(
    "This token may not use the tool memory_read, so it cannot read memory.",
  );
});

test("a gate is answered within the scope: never for good, and for no tool outside it; the person may", async () => {
  const { model, gateway, make } = await open();
  const mine = (await make({})).body.token;
  const none = (await make({ tools: "none" })).body.token;
  const mailer = (await make({ tools: ["mailer"] })).body.token;
  const call = { calls: [{ id: "c1", name: "mailer", arguments: {} }] };
  model.script(call);
  const { gate } = (await say(gateway, mine)).body;
  const answer = (token: string, gate: string, decision: string) =>
    gateway.ask(`/api/approvals/${gate}`, { method: "POST", token, body: { decision } });
  expect((await answer(none, gate.id, "once")).body.error).toMatchObject({ code: "tool_not_allowed" });
  expect((await answer(mailer, gate.id, "always")).body.error).toMatchObject({ code: "scoped_token" });
  expect((await answer(mailer, gate.id, "once")).status).toBe(202);
  await expect.poll(() => model.requests.length).toBe(2);
  expect(offered(model.requests[1])).toEqual(["mailer"]);

  model.script(call);
  const second = (await say(gateway, mailer)).body.gate;
  expect(JSON.stringify(second)).not.toContain("scope");
  expect((await answer(none, second.id, "deny")).status).toBe(202);
  await expect.poll(() => model.requests.length).toBe(4);
  expect(offered(model.requests[3])).toEqual([]);

  model.script(call, { calls: [{ id: "c2", name: "weather", arguments: {} }] });
  const third = (await say(gateway, mailer)).body.gate;
  expect((await answer(mine, third.id, "always")).status).toBe(202);
  await expect.poll(() => model.requests.length).toBe(7);
  expect(model.requests.slice(4).map(offered)).toEqual([["mailer"], ["mailer"], ["mailer"]]);
  expect(JSON.stringify(model.requests[6])).toContain("may not use the tool weather");
});
