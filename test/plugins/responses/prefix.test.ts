/** Providers cache the beginning of a prompt: each request to the model begins with nearly all of the one before. */
import { expect, test } from "vitest";
import type { ResponseObject } from "../../../plugins/responses/wire/format.ts";
import { scriptedModel, type TestTool } from "../../support/services/agent.ts";
import { bearer, type Service, startService, TOKEN } from "../../support/services/responses.ts";

type Model = Awaited<ReturnType<typeof scriptedModel>>;

const SHARE = 0.95;
const STEP = { type: "function", name: "step", description: "Takes a step", parameters: { type: "object" } };
const INSTRUCTIONS = "You are a careful coding agent. ".repeat(100).trim();
const OUTPUT = "A line of output.\n".repeat(20);
const ROUNDS = 4;

const weather: TestTool = { run: () => ({ status: "ok", output: "sunny" }) };
const user = (content: string) => ({ role: "user", content });
const developer = (content: string) => ({ role: "developer", content });

/** A request as a provider reads it: the tools, the system text and the messages. */
const promptsOf = ({ requests }: Model): readonly string[] =>
  requests.map(({ tools, messages }) => JSON.stringify([tools, messages]).slice(0, -2));

const cacheKeysOf = ({ requests }: Model) => requests.map((request) => request["prompt_cache_key"]);

function expectStable(model: Model, count: number): void {
  const prompts = promptsOf(model);
  expect(prompts.length).toBe(count);
  expect(new Set(cacheKeysOf(model)).size, "cache keys of one conversation").toBe(1);
  for (const [index, prompt] of prompts.entries()) {
    const before = prompts[index - 1] ?? "";
    const end = [...before].findIndex((letter, at) => letter !== prompt[at]);
    const shared = end === -1 ? 1 : end / before.length;
    const about = `request ${index}: ${before.slice(end, end + 80)} | ${prompt.slice(end, end + 80)}`;
    expect(shared, about).toBeGreaterThanOrEqual(SHARE);
  }
}

async function start(): Promise<{ readonly model: Model; readonly service: Service }> {
  const model = await scriptedModel();
  return { model, service: await startService({ model, tools: { weather } }) };
}

async function post(service: Service, path: string, body: object) {
  const answer = await service.send("POST", path, { model: "any", ...body });
  expect([answer.status, answer.status === 200 ? "" : await answer.clone().text()]).toEqual([200, ""]);
  // biome-ignore lint/suspicious/noExplicitAny: responses and completions
  const given = (await answer.json()) as any;
  expect(given.error ?? null).toBeNull();
  return given as ResponseObject & { readonly choices: readonly { readonly message: object }[] };
}

/** A call of the caller's tool, after one of the agent's own in the first round. */
function scriptRound(model: Model, round: number, usesOwn = true): number {
  const isFirst = usesOwn && round === 0;
  if (isFirst) model.script({ calls: [{ id: "own", name: "weather", arguments: {} }] });
  model.script({ text: `Round ${round}.`, calls: [{ id: `c${round}`, name: "step", arguments: { round } }] });
  return isFirst ? 2 : 1;
}

const outputOf = (round: number) => ({
  ...{ type: "function_call_output", call_id: `c${round}`, output: `${round} ${OUTPUT}` },
});

test.each([
  ["/openai/v1", true],
  ["/openai/v1", false],
  ["/api/v1", true],
])("replays of a tool loop through %s, store %s", async (prefix, store) => {
  const { model, service } = await start();
  const input: object[] = [
    ...(prefix === "/openai/v1" ? [developer("Ask before you write.")] : []),
    ...[user("The folder is /src."), user("Fix the bug.")],
  ];
  const settings = { instructions: INSTRUCTIONS, tools: [STEP], store };
  let count = 0;
  for (let round = 0; round < ROUNDS; round++) {
    // Unless it is stored, what the agent's own tools said is gone with its turn.
    count += scriptRound(model, round, store);
    const response = await post(service, `${prefix}/responses`, { input, ...settings });
    input.push(...response.output, outputOf(round));
  }
  model.script({ text: "Fixed." });
  const fixed = await post(service, `${prefix}/responses`, { input, ...settings });
  model.script({ text: "Thanks." });
  await post(service, `${prefix}/responses`, {
    input: [...input, ...fixed.output, user("Good.")],
    ...settings,
  });
  expectStable(model, count + 2);
});

test.each(["/openai/v1", "/api/v1"])("resumes and chats through %s", async (prefix) => {
  const { model, service } = await start();
  const settings = { instructions: INSTRUCTIONS, tools: [STEP] };
  let count = scriptRound(model, 0);
  let last = await post(service, `${prefix}/responses`, { input: "Fix the bug.", ...settings });
  for (let round = 1; round < ROUNDS; round++) {
    count += scriptRound(model, round);
    const input = [outputOf(round - 1)];
    last = await post(service, `${prefix}/responses`, { input, previous_response_id: last.id, ...settings });
  }
  for (const input of [[outputOf(ROUNDS - 1)], "Thanks.", "And the tests?", "Good."]) {
    model.script({ text: "Done." });
    count += 1;
    last = await post(service, `${prefix}/responses`, { input, previous_response_id: last.id, ...settings });
  }
  expectStable(model, count);
});

test("chat completions with a tool loop", async () => {
  const { model, service } = await start();
  const { type, ...step } = STEP;
  const tools = [{ type, function: step }];
  const messages: object[] = [{ role: "system", content: INSTRUCTIONS }, user("Fix the bug.")];
  let count = 0;
  for (let round = 0; round < ROUNDS; round++) {
    count += scriptRound(model, round);
    const { choices } = await post(service, "/openai/v1/chat/completions", { messages, tools });
    messages.push(choices[0]?.message as object);
    messages.push({ role: "tool", tool_call_id: `c${round}`, content: `${round} ${OUTPUT}` });
  }
  for (const said of ["Done.", "Good."]) {
    model.script({ text: said });
    const { choices } = await post(service, "/openai/v1/chat/completions", { messages, tools });
    messages.push(choices[0]?.message as object, user("Go on."));
    count += 1;
  }
  expectStable(model, count);
});

test("a resume through /api/v1 shows its instructions only where they differ from those in force", async () => {
  const { model, service } = await start();
  const resume = async (id: string, round: number, instructions?: string) => {
    scriptRound(model, round, false);
    const input = [outputOf(round - 1)];
    const body = { input, previous_response_id: id, tools: [STEP], instructions };
    const response = await post(service, "/api/v1/responses", body);
    const users = model.requests.at(-1)?.messages.filter(({ role }) => role === "user") ?? [];
    return { id: response.id, said: users.map(({ content }) => content) };
  };
  scriptRound(model, 0, false);
  const body = { input: "Go.", tools: [STEP], instructions: "Be brief." };
  const { id } = await post(service, "/api/v1/responses", body);
  const before = ["<instructions>\nBe brief.\n</instructions>\n\nGo."];
  const absent = await resume(id, 1);
  expect(absent.said).toEqual(before);
  const same = await resume(absent.id, 2, "Be brief.");
  expect(same.said).toEqual(before);
  const other = await resume(same.id, 3, "Explain it.");
  expect(other.said).toEqual([...before, "<instructions>\nExplain it.\n</instructions>"]);
  const again = await resume(other.id, 4, "Explain it.");
  expect(again.said).toEqual(other.said);
  expectStable(model, 5);
});

test("conversations that callers bring along have keys of their own in the cache, for each user", async () => {
  const { model, service } = await start();
  const other = await service.tokenOf("other");
  const ask = async (begins: string, token = TOKEN) => {
    model.script({ text: "Done." });
    const messages = [user(begins), { role: "assistant", content: "Hello." }, user("Go on.")];
    const body = { model: "any", messages, store: false };
    expect((await service.send("POST", "/openai/v1/chat/completions", body, bearer(token))).status).toBe(200);
  };
  await ask("Fix the bug.");
  await ask("Fix the bug.");
  await ask("Write a test.");
  await ask("Fix the bug.", other);
  const [key, again, ...others] = cacheKeysOf(model);
  expect(again).toBe(key);
  expect(new Set([key, ...others]).size).toBe(3);
});
