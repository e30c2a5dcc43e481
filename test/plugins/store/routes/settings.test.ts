import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { openGateway } from "../../../support/services/gateway.ts";

interface Listed {
  readonly name: string;
  readonly [field: string]: unknown;
}

const find = (body: { readonly settings: readonly Listed[] }, name: string) =>
  body.settings.find((setting) => setting.name === name);

test("§5 the operator lists and changes settings; nobody else does, and no answer has a secret", async () => {
  const gateway = await openGateway({ variables: { MODEL_PROVIDER: "", DAILY_USD_CAP: "2" } });
  const token = await gateway.addUser("ann");
  for (const method of ["GET", "PATCH"])
    expect(
      await gateway.ask("/api/settings", {
        method,
        token,
        ...(method === "PATCH" && { body: { settings: {} } }),
      }),
    ).toMatchObject({ status: 403 });
  expect(await gateway.ask("/api/settings/test-model", { method: "POST", token, body: {} })).toMatchObject({
    status: 403,
  });

  const { body } = await gateway.ask("/api/settings");
  expect(find(body, "DAILY_USD_CAP")).toMatchObject({
    ...{ type: "number", minimum: 0, value: "2", source: "environment", is_fixed: true, default: null },
  });
  expect(find(body, "MODEL_PROVIDER")?.["choices"]).toContain("anthropic");
  for (const name of [
    "PLUGINS",
    "STORE_URL",
    "POSTERN_HOME",
    "GATEWAY_PORT",
    "GATEWAY_AUTH_TOKEN",
    "POSTERN_SECRETS_KEY",
  ])
    expect(find(body, name)).toBeUndefined();

  const key = "sk-ant-the-key-of-these-tests-0042";
  const changed = await gateway.ask("/api/settings", {
    method: "PATCH",
    body: { settings: { ANTHROPIC_API_KEY: key, CHAT_RATE_LIMIT: "7" } },
  });
  expect(changed.status).toBe(200);
  expect(changed.text).not.toContain(key);
  expect(find(changed.body, "ANTHROPIC_API_KEY")).toMatchObject({
    ...{ is_secret: true, is_set: true, value: null, hint: "0042", source: "stored" },
  });
  expect((await gateway.ask("/api/status")).body.model.provider).toBe("anthropic");
  expect((await gateway.ask("/api/logs")).text).toContain("setting ANTHROPIC_API_KEY changed");
  expect((await gateway.ask("/api/logs")).text).not.toContain(key);

  const back = await gateway.ask("/api/settings", {
    method: "PATCH",
    body: { settings: { ANTHROPIC_API_KEY: null } },
  });
  expect(find(back.body, "ANTHROPIC_API_KEY")).toMatchObject({ is_set: false, source: "default" });
});

test("a change with anything wrong is 400 with every problem, and nothing is stored", async () => {
  const gateway = await openGateway({ variables: { MODEL_PROVIDER: "", DAILY_USD_CAP: "2" } });
  const settings = {
    ...{
      DAILY_USD_CAP: "5",
      PLUGINS: "./evil.ts",
      CHAT_RATE_LIMIT: "0",
      MODEL_PROVIDER: "openai-compatible",
    },
    ...{ TURN_IDLE_SECS: "30", "no such": "x" },
  };
  const { status, body } = await gateway.ask("/api/settings", { method: "PATCH", body: { settings } });
  expect(status).toBe(400);
  expect(body.error).toMatchObject({ code: "bad_settings", param: "DAILY_USD_CAP" });
  expect(body.error.problems.map(({ param }: { param: string }) => param).sort()).toEqual(
    ["CHAT_RATE_LIMIT", "DAILY_USD_CAP", "MODEL_BASE_URL", "PLUGINS", "no such"].sort(),
  );
  expect(body.error.message).toContain("DAILY_USD_CAP: is set in the environment of the service");
  const { body: after } = await gateway.ask("/api/settings");
  expect(after.settings.filter(({ source }: { source: string }) => source === "stored")).toEqual([]);
  for (const wrong of [{}, { settings: [] }, { settings: { CHAT_RATE_LIMIT: 5 } }])
    expect(await gateway.ask("/api/settings", { method: "PATCH", body: wrong })).toMatchObject({
      status: 400,
    });
});

test("a test of the model is one real request, told in words, with values that are not stored", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ variables: { MODEL_PROVIDER: "" } });
  const tryOut = async (settings: Record<string, string | null>) =>
    gateway.ask("/api/settings/test-model", { method: "POST", body: { settings } });

  expect((await tryOut({ MODEL_PROVIDER: "builtin" })).body).toMatchObject({ ok: true, models: [] });

  model.script({ text: "ready" });
  const here = { MODEL_BASE_URL: model.url, MODEL_NAME: "scripted", MODEL_API_KEY: "the-key-of-the-server" };
  expect((await tryOut(here)).body).toMatchObject({
    ok: true,
    model: { provider: "openai-compatible", name: "scripted" },
    message: "The model scripted (openai-compatible) answered: ready",
    models: ["scripted"],
  });
  expect(model.keys).toEqual(["Bearer the-key-of-the-server"]);
  expect((await gateway.ask("/api/status")).body.model.provider).toBe("builtin");

  model.script({ status: 401, error: { message: "the key the-key-of-the-server is wrong" } });
  const unauthorized = (await tryOut(here)).body;
  expect(unauthorized).toMatchObject({ ok: false, code: "model_unauthorized" });
  expect(unauthorized.message).toContain("rejected the API key:");
  expect(unauthorized.message).not.toContain("the-key-of-the-server");
  model.script({ status: 404, error: { message: "no such model" } });
  expect((await tryOut({ ...here, MODEL_NAME: "nosuch" })).body.message).toMatch(
    /no such model.*Check the model's name/,
  );
  expect((await tryOut({ MODEL_BASE_URL: "http://127.0.0.1:1/v1" })).body).toMatchObject({
    ...{ ok: false, code: "model_unreachable" },
  });

  // A page that somebody hijacked gets no stored key for a server of its own.
  await gateway.ask("/api/settings", { method: "PATCH", body: { settings: here } });
  const asked = model.keys.length;
  const elsewhere = await tryOut({ MODEL_BASE_URL: `${model.url}/elsewhere` });
  expect(elsewhere.status).toBe(400);
  expect(elsewhere.body.error.message).toContain(
    "MODEL_API_KEY: got (hidden), expected the secret once more",
  );
  expect(model.keys).toHaveLength(asked);

  for (let count = 0; count < 10; count++) await tryOut({ MODEL_PROVIDER: "builtin" });
  expect(await tryOut({ MODEL_PROVIDER: "builtin" })).toMatchObject({ status: 429 });
});

test("a foreign page cannot change settings with the operator's cookie", async () => {
  const gateway = await openGateway();
  const session = await gateway.ask("/api/session", {
    method: "POST",
    body: { token: "the-operator-of-tests" },
  });
  const cookie = session.headers.get("set-cookie")?.split(";")[0] ?? "";
  const answer = await fetch(`${gateway.url}/api/settings`, {
    method: "PATCH",
    headers: { cookie, origin: "https://evil.example", "content-type": "application/json" },
    body: JSON.stringify({ settings: { CHAT_RATE_LIMIT: "1" } }),
  });
  expect(answer.status).toBe(403);
});
