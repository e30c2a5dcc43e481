/** Clients that send the whole conversation each time: it stays one thread, and nothing is kept twice. */
import { expect, test } from "vitest";
import { createRequests } from "../../../../plugins/responses/stored/requests.ts";
import type { ResponseObject } from "../../../../plugins/responses/wire/format.ts";
import { testOnSqlite } from "../../../support/run/engine.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import {
  bearer,
  type Service,
  startService,
  storeSize,
  textOf,
} from "../../../support/services/responses.ts";

const TOOLS = [{ type: "function", name: "step", parameters: { type: "object" } }];
const threadOf = ({ id }: { readonly id: string }) => id.slice(-32);
const user = (content: string) => ({ role: "user", content });

type Prefix = "/api/v1" | "/openai/v1";
const PREFIXES: readonly Prefix[] = ["/api/v1", "/openai/v1"];

async function post(service: Service, prefix: Prefix, body: object, token?: string): Promise<ResponseObject> {
  const answer = await service.send(
    "POST",
    `${prefix}/responses`,
    { model: "any", ...body },
    token === undefined ? {} : bearer(token),
  );
  expect([answer.status, answer.status === 200 ? "" : await answer.clone().text()]).toEqual([200, ""]);
  return (await answer.json()) as ResponseObject;
}

const listed = async (service: Service, id: string) => {
  const answer = await service.send("GET", `/api/v1/responses/${id}/input_items?order=asc&limit=100`);
  return ((await answer.json()) as { data: { type: string; content?: { text: string }[] }[] }).data;
};
const textsOf = (items: Awaited<ReturnType<typeof listed>>) =>
  items.map(({ content }) => content?.[0]?.text ?? "");

test.each(PREFIXES)("through %s a replay goes on with the thread that it repeats", async (prefix) => {
  const model = await scriptedModel();
  model.script({ text: "First." }, { text: "Second." }, { text: "Third." });
  const service = await startService({ model });
  const input: object[] = [user("One")];
  const first = await post(service, prefix, { input, instructions: "Be brief." });
  input.push(...first.output, user("Two"));
  const second = await post(service, prefix, { input, instructions: "Be brief." });
  // As another library writes it: the text alone, trimmed.
  input.push({ role: "assistant", content: " Second.\n" }, user("Three"));
  const third = await post(service, prefix, { input, instructions: "Be brief." });
  expect(new Set([first, second, third].map(threadOf)).size).toBe(1);
  const sent = model.requests.at(-1)?.messages.filter(({ role }) => role !== "system") ?? [];
  expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
  const all = JSON.stringify(model.requests.at(-1)?.messages);
  expect(all.split("Be brief.").length - 1).toBe(1);
  expect(textsOf(await listed(service, third.id))).toEqual(["One", "First.", "Two", "Second.", "Three"]);
  // What is new stands in its own row; the thread has every message once.
  const { items } = await service.kernel.service("threads").list("operator");
  expect(items).toMatchObject([{ turns: 3 }]);
});

test.each([
  ["alike", {}, {}],
  ["of other people", { safety_identifier: "ann" }, { safety_identifier: "bob" }],
  ["about other things", { x_context: { plan: "free" } }, { x_context: { plan: "paid" } }],
])("a replay of a conversation %s goes on with none that it may not be", async (_, ann, bob) => {
  const model = await scriptedModel();
  const service = await startService({ model });
  const send = async (body: object) => {
    model.script({ text: "Hello!" });
    return threadOf(await post(service, "/openai/v1", body));
  };
  const goOn = (last: string) => [user("Hi"), { role: "assistant", content: "Hello!" }, user(last)];
  const own = await send({ input: [user("Hi")], ...ann });
  const theirs = await send({ input: [user("Hi")], ...bob });
  const asked = await send({ input: goOn("Who am I?"), ...ann });
  expect(asked).not.toBe(theirs);
  expect(JSON.stringify(model.requests.at(-1))).not.toContain("paid");
  // Where it is certain, it is its own.
  if (Object.keys(ann).length > 0) expect(asked).toBe(own);
  const more = [...goOn("Who am I?"), { role: "assistant", content: "Hello!" }, user("Really?")];
  expect(await send({ input: more, ...ann })).toBe(asked);
});

test("a replayed loop of calls stays one thread, and the outputs answer the calls that wait", async () => {
  const model = await scriptedModel();
  const service = await startService({ model });
  const input: object[] = [user("Go")];
  const threads = new Set<string>();
  for (let round = 0; round < 4; round++) {
    model.script({
      calls: [
        { id: `a${round}`, name: "step", arguments: { round, b: 1 } },
        { id: `b${round}`, name: "step", arguments: { round, b: 2 } },
      ],
    });
    const response = await post(service, "/openai/v1", { input, tools: TOOLS });
    threads.add(threadOf(response));
    expect(response.output.map(({ type }) => type)).toEqual(["function_call", "function_call"]);
    for (const item of response.output) {
      if (item.type !== "function_call") continue;
      // Written anew, in another order.
      const params = JSON.stringify({ b: JSON.parse(item.arguments).b, round });
      input.push({ type: "function_call", call_id: item.call_id, name: item.name, arguments: params });
    }
    for (const call_id of [`a${round}`, `b${round}`])
      input.push({ type: "function_call_output", call_id, output: `done ${call_id}` });
  }
  model.script({ text: "All done." });
  const last = await post(service, "/openai/v1", { input: [...input, user("And?")], tools: TOOLS });
  threads.add(threadOf(last));
  expect(threads.size).toBe(1);
  expect(textOf(last)).toBe("All done.");
  const sent = model.requests.at(-1)?.messages.filter(({ role }) => role !== "system") ?? [];
  expect(sent.filter(({ role }) => role === "tool")).toHaveLength(8);
  expect(sent.at(-1)).toMatchObject({ role: "user", content: "And?" });
});

test("a replay of another branch, of another user or of another dialect begins a thread or a branch of its own", async () => {
  const model = await scriptedModel();
  model.otherwise(({ messages }) => ({ text: `Answer ${messages.length}` }));
  const service = await startService({ model });
  const first = await post(service, "/openai/v1", { input: "One" });
  const past = [user("One"), ...first.output];
  const one = await post(service, "/openai/v1", { input: [...past, user("Left")] });
  const other = await post(service, "/openai/v1", { input: [...past, user("Right")] });
  expect([threadOf(one), threadOf(other)]).toEqual([threadOf(first), threadOf(first)]);
  expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain("Left");
  const mallory = await service.tokenOf("mallory");
  const theirs = await post(service, "/openai/v1", { input: [...past, user("Right")] }, mallory);
  const strict = await post(service, "/api/v1", { input: [...past, user("Right")] });
  const changed = await post(service, "/openai/v1", {
    input: [user("One"), { role: "assistant", content: "I never said this" }, user("Right")],
  });
  for (const apart of [theirs, strict, changed]) expect(threadOf(apart)).not.toBe(threadOf(first));
});

test("a thread whose turn runs is not waited for: the replay brings its history to a new one", async () => {
  const model = await scriptedModel();
  const held = Promise.withResolvers<string>();
  model.script({ text: "Hello." }, { text: ["Wait", held.promise] }, { text: "Meanwhile." });
  const service = await startService({ model });
  const first = await post(service, "/openai/v1", { input: "Hi" });
  const past = [user("Hi"), ...first.output];
  const slow = post(service, "/openai/v1", { input: [...past, user("Slow")] });
  await expect.poll(() => model.requests.length).toBe(2);
  const quick = await post(service, "/openai/v1", { input: [...past, user("Quick")] });
  held.resolve(" over");
  expect(threadOf(quick)).not.toBe(threadOf(first));
  expect(threadOf(await slow)).toBe(threadOf(first));
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("Hello.");
});

test("a deleted response is gone from the listings of those that go on from it, and they keep the rest", async () => {
  const model = await scriptedModel();
  model.script({ text: "A." }, { text: "B." }, { text: "C." });
  const service = await startService({ model });
  const input: object[] = [user("1")];
  const made: ResponseObject[] = [];
  for (const next of ["2", "3", "4"]) {
    const response = await post(service, "/openai/v1", { input });
    made.push(response);
    input.push(...response.output, user(next));
  }
  await service.send("DELETE", `/openai/v1/responses/${made[1]?.id}`);
  expect(textsOf(await listed(service, made[2]?.id ?? ""))).toEqual(["1", "A.", "3"]);
  // It can still be gone on from: the thread has not changed.
  const next = await post(service, "/openai/v1", { input });
  expect(threadOf(next)).toBe(threadOf(made[0] as ResponseObject));
});

testOnSqlite("forty replayed rounds cost the store less than twice what was sent", async () => {
  const model = await scriptedModel();
  const service = await startService({ model });
  const { sql } = await createRequests(service.kernel.service("store"));
  const before = await storeSize(sql);
  const input: object[] = [user("Go")];
  let sent = 0;
  for (let round = 0; round < 40; round++) {
    model.script({ calls: [{ id: `c${round}`, name: "step", arguments: { round } }] });
    const body = { input, tools: TOOLS, instructions: "You are a coding agent. ".repeat(200) };
    sent += JSON.stringify(body).length;
    const response = await post(service, "/openai/v1", body);
    input.push(...response.output, {
      type: "function_call_output",
      call_id: `c${round}`,
      output: `line ${round} of a file. `.repeat(100),
    });
  }
  const grown = (await storeSize(sql)) - before;
  expect(grown).toBeLessThan(2 * sent);
  expect((await service.kernel.service("threads").list("operator")).items).toHaveLength(1);
});
