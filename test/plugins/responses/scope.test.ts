import { expect, test } from "vitest";
import { createAccounts } from "../../../plugins/accounts/records/accounts.ts";
import { scriptedModel, type TestTool } from "../../support/services/agent.ts";
import { bearer, startService } from "../../support/services/responses.ts";

const weather: TestTool = { run: () => ({ status: "ok", output: "sunny" }) };
const SHELL = { type: "function", name: "shell", parameters: { type: "object" } };

const PREFIXES = ["/api/v1", "/v1", "/openai/v1"];

test("a request is answered within the scope of its token on every prefix, and so is its resume", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: "Done." });
  const service = await startService({ model, tools: { weather } });
  const accounts = await createAccounts(service.kernel.service("store"));
  const { token } = await accounts.createToken("operator", "codex", { tools: "none" });
  const other = await accounts.createToken("operator", "app", { models: ["gpt-9"] });
  const ask = async (prefix: string, body: object, as = token) => {
    const answer = await service.send("POST", `${prefix}/responses`, { model: "any", ...body }, bearer(as));
    return { status: answer.status, body: (await answer.json()) as { id: string; error: { code: string } } };
  };
  for (const prefix of PREFIXES) {
    model.script({ calls: [{ id: "c1", name: "shell", arguments: {} }] });
    const first = await ask(prefix, { input: "Hello", tools: [SHELL] });
    const output = { type: "function_call_output", call_id: "c1", output: "ok" };
    // By somebody with a token that has none: it is still the work of the first.
    const unscoped = await service.tokenOf("operator");
    await ask(prefix, { input: [output], previous_response_id: first.body.id }, unscoped);
  }
  const offered = model.requests.map(({ tools }) => tools?.map(({ function: { name } }) => name));
  expect(offered).toEqual(Array(PREFIXES.length * 2).fill(["shell"]));

  const complete = (as: string) => {
    const tools = [{ type: "function", function: { name: "shell" } }];
    const body = { model: "any", messages: [{ role: "user", content: "Hello" }], tools };
    return service.send("POST", "/openai/v1/chat/completions", body, bearer(as));
  };
  expect((await complete(token)).status).toBe(200);
  expect(model.requests.at(-1)?.tools?.map(({ function: { name } }) => name)).toEqual(["shell"]);

  const asked = model.requests.length;
  const refused = await ask("/api/v1", { input: "Hello" }, other.token);
  expect([refused.status, refused.body.error.code]).toEqual([403, "model_not_allowed"]);
  expect((await complete(other.token)).status).toBe(403);
  expect(model.requests).toHaveLength(asked);
});

test("a token with a scope deletes only what it made", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: "Done." });
  const service = await startService({ model });
  const accounts = await createAccounts(service.kernel.service("store"));
  const makeToken = async (name: string) =>
    (await accounts.createToken("operator", name, { tools: "none" })).token;
  const [scoped, other] = [await makeToken("one"), await makeToken("two")];
  const whole = await service.tokenOf("operator");
  const send = async (as: string, method: string, path: string, body?: unknown) => {
    const answer = await service.send(method, path, body, bearer(as));
    return { status: answer.status, body: (await answer.json()) as { id: string; error: { code: string } } };
  };
  const create = async (as: string, more: object = {}) =>
    (await send(as, "POST", "/openai/v1/responses", { model: "any", input: "Hi", ...more })).body.id;
  const upload = async (as: string) => {
    const form = new FormData();
    form.set("file", new Blob(["text"]), "a.txt");
    form.set("purpose", "user_data");
    const init = { method: "POST", body: form, headers: bearer(as) };
    return ((await (await fetch(`${service.url}/openai/v1/files`, init)).json()) as { id: string }).id;
  };
  const makeAll = async (as: string) => {
    const conversation = (await send(as, "POST", "/openai/v1/conversations", {})).body.id;
    const item = { type: "message", role: "user", content: "Hi" };
    const items = `/openai/v1/conversations/${conversation}/items`;
    const added = (await send(as, "POST", items, { items: [item] })).body as unknown as {
      readonly data: readonly { readonly id: string }[];
    };
    return [
      `/api/v1/responses/${await create(as)}`,
      `/openai/v1/responses/${await create(as, { background: true })}`,
      `/openai/v1/files/${await upload(as)}`,
      `${items}/${added.data[0]?.id}`,
      `/openai/v1/conversations/${conversation}`,
    ];
  };
  const remove = (as: string, paths: readonly string[]) =>
    Array.fromAsync(paths, async (path) => (await send(as, "DELETE", path)).status);
  const refused = Array(5).fill(403);
  const done = Array(5).fill(200);

  const byPerson = await makeAll(whole);
  expect(await remove(scoped, byPerson)).toEqual(refused);
  const byOther = await makeAll(other);
  expect(await remove(scoped, byOther)).toEqual(refused);
  expect((await send(scoped, "DELETE", byOther[0] as string)).body.error.code).toBe("scoped_token");
  expect(await remove(scoped, await makeAll(scoped))).toEqual(done);
  expect(await remove(whole, [...byPerson, ...byOther])).toEqual([...done, ...done]);
});

test("a conversation outlives the only response of a token with a scope that did not make it", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: "Done." });
  const service = await startService({ model });
  const accounts = await createAccounts(service.kernel.service("store"));
  const { token } = await accounts.createToken("operator", "app", { tools: "none" });
  const whole = await service.tokenOf("operator");
  const send = async (as: string, method: string, path: string, body?: unknown) => {
    const answer = await service.send(method, `/openai/v1${path}`, body, bearer(as));
    return { status: answer.status, body: (await answer.json()) as { id: string } };
  };
  const { id: conversation } = (await send(whole, "POST", "/conversations", {})).body;
  const asked = { model: "any", input: "Hi", conversation };
  const { id } = (await send(token, "POST", "/responses", asked)).body;
  expect((await send(token, "DELETE", `/responses/${id}`)).status).toBe(200);
  expect((await send(whole, "GET", `/conversations/${conversation}`)).status).toBe(200);
});
