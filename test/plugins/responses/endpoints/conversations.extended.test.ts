/** `/openai/v1/conversations` with the `openai` package. */
import OpenAI from "openai";
import { expect, test } from "vitest";
import type { ModelServer } from "../../../support/servers/model-server.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { type Service, startService, TOKEN } from "../../../support/services/responses.ts";

async function open(model?: ModelServer) {
  const service = await startService(model ? { model } : {});
  return { service, client: clientOf(service) };
}

const clientOf = (service: Service, apiKey = TOKEN) =>
  new OpenAI({ apiKey, baseURL: `${service.url}/openai/v1`, maxRetries: 0 });

const say = (role: "user" | "assistant" | "developer", content: string) =>
  ({ type: "message", role, content }) as const;

async function listed(client: OpenAI, id: string, query: { order?: "asc" | "desc"; limit?: number } = {}) {
  const items: OpenAI.Conversations.ConversationItem[] = [];
  for await (const item of client.conversations.items.list(id, { order: "asc", ...query })) items.push(item);
  return items;
}

const textsOf = (items: readonly OpenAI.Conversations.ConversationItem[]) =>
  items.map((item) => {
    if (item.type === "message") return `${item.role}: ${(item.content[0] as { text: string }).text}`;
    return item.type === "function_call" ? `${item.name}(${item.arguments})` : item.type;
  });

test("openai: create, get, change and delete a conversation", async () => {
  const { client } = await open();
  const made = await client.conversations.create({ metadata: { topic: "bikes" } });
  expect(made).toMatchObject({ object: "conversation", metadata: { topic: "bikes" } });
  expect(made.id).toMatch(/^conv_[0-9a-f]{32}$/);
  expect(await client.conversations.retrieve(made.id)).toEqual(made);
  const changed = await client.conversations.update(made.id, { metadata: { topic: "cars" } });
  expect(changed).toEqual({ ...made, metadata: { topic: "cars" } });
  expect(await client.conversations.delete(made.id)).toEqual({
    ...{ id: made.id, object: "conversation.deleted", deleted: true },
  });
  await expect(client.conversations.retrieve(made.id)).rejects.toMatchObject({
    ...{ status: 404, code: "conversation_not_found" },
  });
});

test("what is added to conversations counts as a message, and the rest does not", async () => {
  const service = await startService({ variables: { CHAT_RATE_LIMIT: "2" } });
  const client = clientOf(service);
  const { id } = await client.conversations.create({ items: [say("user", "Hi")] });
  await client.conversations.items.create(id, { items: [say("user", "Ho")] });
  for (const add of [
    client.conversations.create({}),
    client.conversations.items.create(id, { items: [say("user", "He")] }),
  ])
    await expect(add).rejects.toMatchObject({ status: 429, code: "rate_limit_exceeded" });
  expect(await listed(client, id)).toHaveLength(2);
});

test("responses go on with a conversation: what was added comes first, and everything is listed", async () => {
  const model = await scriptedModel();
  model.script({ text: "You like red." }, { text: "Bikes, too." }, { text: "All right." });
  const { client } = await open(model);
  const { id } = await client.conversations.create({
    items: [say("user", "I like red."), say("assistant", "Noted.")],
  });
  const before = await listed(client, id);
  expect(textsOf(before)).toEqual(["user: I like red.", "assistant: Noted."]);

  const first = await client.responses.create({ model: "any", conversation: id, input: "What do I like?" });
  expect(first.output_text).toBe("You like red.");
  expect(first.conversation).toEqual({ id });
  expect(JSON.stringify(model.requests.at(-1))).toContain("I like red.");
  await client.responses.create({ model: "any", conversation: { id }, input: "What else?" });
  const seen = JSON.stringify(model.requests.at(-1));
  for (const words of ["I like red.", "Noted.", "What do I like?", "You like red.", "What else?"])
    expect(seen).toContain(words);

  await client.conversations.items.create(id, {
    items: [say("assistant", "I have looked it up."), say("user", "And now?")],
  });
  await client.responses.create({ model: "any", conversation: id, input: "Go on." });
  expect(JSON.stringify(model.requests.at(-1))).toContain("I have looked it up.");
  const all = await listed(client, id);
  expect(textsOf(all)).toEqual([
    "user: I like red.",
    "assistant: Noted.",
    "user: What do I like?",
    "assistant: You like red.",
    "user: What else?",
    "assistant: Bikes, too.",
    "assistant: I have looked it up.",
    "user: And now?",
    "user: Go on.",
    "assistant: All right.",
  ]);
  const ids = all.map((item) => item.id);
  expect(new Set(ids).size).toBe(all.length);
  expect(ids.slice(0, 2)).toEqual(before.map((item) => item.id));
  expect((await listed(client, id, { limit: 3 })).map((item) => item.id)).toEqual(ids);
  expect((await listed(client, id, { order: "desc", limit: 3 })).map((item) => item.id)).toEqual(
    ids.toReversed(),
  );
  for (const item of all)
    expect(await client.conversations.items.retrieve(item.id as string, { conversation_id: id })).toEqual(
      item,
    );
});

test("a function call and its output are items of the conversation", async () => {
  const model = await scriptedModel();
  model.script({ calls: [{ name: "look_up", arguments: { article: "bike" } }] }, { text: "Twelve." });
  const { client } = await open(model);
  const { id } = await client.conversations.create({});
  const tools = [
    { type: "function" as const, name: "look_up", strict: false, parameters: { type: "object" } },
  ];
  const asked = await client.responses.create({ model: "any", conversation: id, input: "How many?", tools });
  const call = asked.output.at(-1) as OpenAI.Responses.ResponseFunctionToolCall;
  await client.responses.create({
    ...{ model: "any", conversation: id, tools },
    input: [{ type: "function_call_output", call_id: call.call_id, output: "12" }],
  });
  expect(textsOf(await listed(client, id))).toEqual([
    "user: How many?",
    'look_up({"article":"bike"})',
    "function_call_output",
    "assistant: Twelve.",
  ]);
});

test("an item that waits can be deleted; one that a response has taken is refused in words", async () => {
  const { client } = await open(await scriptedModel());
  const { id } = await client.conversations.create({ items: [say("user", "One.")] });
  const { data } = await client.conversations.items.create(id, { items: [say("user", "Two.")] });
  const [added] = data;
  expect(await client.conversations.items.delete(added?.id as string, { conversation_id: id })).toMatchObject(
    { id, object: "conversation" },
  );
  await client.responses.create({ model: "any", conversation: id, input: "Three." });
  const [taken] = await listed(client, id);
  await expect(
    client.conversations.items.delete(taken?.id as string, { conversation_id: id }),
  ).rejects.toMatchObject({ status: 400, code: "item_in_use", param: "item_id" });
  await expect(
    client.conversations.items.retrieve("msg_none", { conversation_id: id }),
  ).rejects.toMatchObject({ status: 404, code: "item_not_found" });
});

test("a conversation is its owner's only, and gone with its thread", async () => {
  const { service, client } = await open(await scriptedModel());
  const { id } = await client.conversations.create({});
  const eve = clientOf(service, await service.tokenOf("eve"));
  await expect(eve.conversations.retrieve(id)).rejects.toMatchObject({ status: 404 });
  await expect(eve.responses.create({ model: "any", conversation: id, input: "Hi" })).rejects.toMatchObject({
    status: 404,
    code: "conversation_not_found",
    param: "conversation",
  });
  await client.responses.create({ model: "any", conversation: id, input: "Hi" });
  const threads = service.kernel.service("threads");
  const [thread] = (await threads.list("operator")).items;
  await threads.remove("operator", thread?.id ?? "");
  await expect(client.conversations.retrieve(id)).rejects.toMatchObject({ status: 404 });
});

test("two first requests at once: one begins the conversation, and the other is 409", async () => {
  const model = await scriptedModel();
  const { client } = await open(model);
  const { id } = await client.conversations.create({ items: [say("user", "I am Ada.")] });
  const answers = await Promise.allSettled(
    ["one", "two"].map((input) => client.responses.create({ model: "any", conversation: id, input })),
  );
  const failed = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
  expect(answers.some(({ status }) => status === "fulfilled")).toBe(true);
  for (const error of failed) expect(error).toMatchObject({ status: 409, code: "conversation_locked" });
});

test("bad bodies are 400 and named, at their limits", async () => {
  const { service, client } = await open();
  const { id } = await client.conversations.create({ items: Array(20).fill(say("user", "x")) });
  const refused = async (path: string, body?: object) => {
    const answer = await service.send(body ? "POST" : "GET", `/openai/v1${path}`, body);
    return [answer.status, (await answer.json()).error.param];
  };
  const many = Array(21).fill(say("user", "x"));
  for (const [path, body, param] of [
    ["/conversations", { items: many }, "items"],
    ["/conversations", { items: [{ type: "message", role: "king", content: "x" }] }, "items[0].role"],
    ["/conversations", { items: [{ type: "item_reference", id: "x" }] }, "items[0].type"],
    ["/conversations", { metadata: { a: 1 } }, "metadata.a"],
    ["/conversations", { metadata: { a: "x".repeat(513) } }, "metadata.a"],
    [`/conversations/${id}`, {}, "metadata"],
    [`/conversations/${id}/items`, {}, "items"],
    [`/conversations/${id}/items`, { items: [] }, "items"],
    [`/conversations/${id}/items`, { items: many }, "items"],
    [`/conversations/${id}/items?limit=101`, undefined, "limit"],
    [`/conversations/${id}/items?order=up`, undefined, "order"],
    [`/conversations/${id}/items?after=msg_none`, undefined, "after"],
    ["/responses", { model: "m", input: "x", conversation: id, store: false }, "store"],
    ["/responses", { model: "m", input: "x", conversation: 7 }, "conversation"],
    [
      "/responses",
      { model: "m", input: "x", conversation: id, previous_response_id: `resp_${"0".repeat(64)}` },
      "conversation",
    ],
  ] as const)
    expect(await refused(path, body), JSON.stringify([path, body]).slice(0, 90)).toEqual([400, param]);
  const unknown = `/conversations/conv_${"0".repeat(32)}/items?limit=101`;
  expect(await refused(unknown), "an unknown id comes first").toEqual([404, "conversation_id"]);
  for (let at = 20; at < 1000; at += 20)
    await client.conversations.items.create(id, { items: Array(20).fill(say("user", "x")) });
  expect(await refused(`/conversations/${id}/items`, { items: [say("user", "x")] })).toEqual([400, "items"]);
});

test("a page of items is bounded in bytes too, in both orders, and leads to the rest", async () => {
  const model = await scriptedModel();
  const { client } = await open(model);
  const { id } = await client.conversations.create();
  const names = ["first", "second", "third", "fourth"];
  for (const name of names)
    await client.responses.create({
      model: "reborn",
      conversation: id,
      input: `${name} ${"x".repeat(1_500_000)}`,
    });
  for (const order of ["asc", "desc"] as const) {
    const page = await client.conversations.items.list(id, { order, limit: 100 });
    expect(page.has_more, order).toBe(true);
    expect(page.data.length, order).toBeLessThan(6);
    const all = textsOf(await listed(client, id, { order, limit: 100 })).filter((text) => /^user/.test(text));
    const found = all.map((text) => text.split(" ")[1]);
    expect(found, order).toEqual(order === "asc" ? names : names.toReversed());
  }
});
