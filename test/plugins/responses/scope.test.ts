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
