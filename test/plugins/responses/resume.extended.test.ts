import { expect, test } from "vitest";
import type { CallItem, ResponseObject } from "../../../plugins/responses/wire/format.ts";
import type { ModelServer } from "../../support/servers/model-server.ts";
import { scriptedModel, type TestTool } from "../../support/services/agent.ts";
import { bearer, eventsOf, type Service, startService, textOf } from "../../support/services/responses.ts";

const TOOLS = [
  { type: "function", name: "find_order", description: "Finds an order", parameters: { type: "object" } },
];

const call = (id: string, params: object = { number: 7 }) => ({ id, name: "find_order", arguments: params });

const output = (call_id: string, text = "shipped") => ({
  type: "function_call_output",
  call_id,
  output: text,
});

function callOf({ output }: ResponseObject): Extract<CallItem, { type: "function_call" }> {
  const item = output.at(-1);
  if (item?.type !== "function_call") throw new Error("the response does not end with a function call");
  return item;
}

/** A thread that waits for the output of the call `call_1`. */
async function startWaiting(): Promise<{ service: Service; model: ModelServer; waiting: ResponseObject }> {
  const model = await scriptedModel();
  model.script({ text: "Let me look.", calls: [call("call_1")] });
  const service = await startService({ model });
  const waiting = await service.create({ input: "Where is order 7?", tools: TOOLS });
  return { service, model, waiting };
}

test("§3.2 a call to a declared tool completes the response with a function_call, leading text first", async () => {
  const { waiting } = await startWaiting();
  expect(waiting.status).toBe("completed");
  expect(waiting.output.map(({ type }) => type)).toEqual(["message", "function_call"]);
  expect(textOf(waiting)).toBe("Let me look.");
  expect(callOf(waiting)).toEqual({
    type: "function_call",
    id: expect.stringMatching(/^fc_[0-9a-f]{36}$/),
    call_id: "call_1",
    name: "find_order",
    arguments: '{"number":7}',
    status: "completed",
  });
});

test("§3.2 a matching function_call_output resumes the turn and the answer is a message", async () => {
  const { service, model, waiting } = await startWaiting();
  model.script({ text: "It has shipped." });
  const answer = await service.create({
    previous_response_id: waiting.id,
    tools: TOOLS,
    input: [output("call_1")],
  });
  expect(answer.output.map(({ type }) => type)).toEqual(["message"]);
  expect(textOf(answer)).toBe("It has shipped.");
  expect(answer.id.slice(-32)).toBe(waiting.id.slice(-32));
  const result = model.requests[1]?.messages.at(-1);
  expect(result).toMatchObject({ role: "tool", tool_call_id: "call_1" });
  expect(String(result?.content)).toContain("shipped");
});

test("§3.3 rule 3: a resume without tools goes on with the thread's catalog", async () => {
  const { service, model, waiting } = await startWaiting();
  model.script({ calls: [call("call_2")] });
  const next = await service.create({ previous_response_id: waiting.id, input: [output("call_1")] });
  expect(callOf(next).call_id).toBe("call_2");
  expect(model.requests[1]?.tools?.map((tool) => tool.function.name)).toContain("find_order");
  expect(next.tools).toEqual(waiting.tools);
});

test("§3.2, §8 of several calls only the first surfaces; the next comes after the resume", async () => {
  const model = await scriptedModel();
  // The model asks for both once: that the second is not lost is the engine's doing.
  model.script(
    { calls: [call("call_1", { number: 1 }), call("call_2", { number: 2 })] },
    { text: "Both shipped." },
  );
  const service = await startService({ model });
  const first = await service.create({ input: "Orders 1 and 2?", tools: TOOLS });
  expect(first.output).toHaveLength(1);
  expect(callOf(first)).toMatchObject({ call_id: "call_1", arguments: '{"number":1}' });
  const second = await service.create({
    previous_response_id: first.id,
    tools: TOOLS,
    input: [output("call_1")],
  });
  expect(second.output).toHaveLength(1);
  expect(callOf(second)).toMatchObject({ call_id: "call_2", arguments: '{"number":2}' });
  const last = await service.create({
    previous_response_id: second.id,
    tools: TOOLS,
    input: [output("call_2")],
  });
  expect(textOf(last)).toBe("Both shipped.");
  expect(model.requests).toHaveLength(2);
  expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
    "tool",
  ]);
});

test("§2.5 an output may be an array of parts, or empty", async () => {
  const { service, model, waiting } = await startWaiting();
  model.script({ calls: [call("call_2")] });
  const parts = [
    { type: "input_text", text: "ship" },
    { type: "input_image", image_url: "https://x.example/y" },
  ];
  const next = await service.create({
    previous_response_id: waiting.id,
    input: [{ type: "function_call_output", call_id: "call_1", output: parts }],
  });
  expect(String(model.requests[1]?.messages.at(-1)?.content)).toContain("ship\n[image]");
  const last = await service.create({ previous_response_id: next.id, input: [output("call_2", "")] });
  expect(last.status).toBe("completed");
});

const REFUSED: readonly (readonly [string, string, (id: string) => object])[] = [
  [
    "§7.2 a resume with a mismatched call_id",
    "input[0].call_id",
    (id) => ({
      previous_response_id: id,
      input: [output("call_9")],
    }),
  ],
  [
    "§7.2 a resume with an empty call_id",
    "input[0].call_id",
    (id) => ({
      previous_response_id: id,
      input: [output("")],
    }),
  ],
  [
    "§7.2 a resume without a call_id",
    "input[0].call_id",
    (id) => ({
      previous_response_id: id,
      input: [{ type: "function_call_output", output: "x" }],
    }),
  ],
  [
    "§7.2 a resume with a missing output",
    "input[0].output",
    (id) => ({
      previous_response_id: id,
      input: [{ type: "function_call_output", call_id: "call_1" }],
    }),
  ],
  [
    "§7.2 a resume with a null output",
    "input[0].output",
    (id) => ({
      previous_response_id: id,
      input: [{ type: "function_call_output", call_id: "call_1", output: null }],
    }),
  ],
  [
    "§7.2 a resume without previous_response_id",
    "previous_response_id",
    () => ({ input: [output("call_1")] }),
  ],
  [
    "§7.2 a resume that mixes a message with outputs",
    "input[1]",
    (id) => ({
      previous_response_id: id,
      input: [output("call_1"), { role: "user", content: "and thanks" }],
    }),
  ],
  [
    "§3.2 a resume that mixes a function_call with outputs",
    "input[0]",
    (id) => ({
      previous_response_id: id,
      input: [
        { type: "function_call", call_id: "call_1", name: "find_order", arguments: "{}" },
        output("call_1"),
      ],
    }),
  ],
  [
    "§8 a resume with two outputs",
    "input[1].call_id",
    (id) => ({
      previous_response_id: id,
      input: [output("call_1"), output("call_2")],
    }),
  ],
  [
    "§3.3 rule 6: a message while a call waits",
    "input",
    (id) => ({ previous_response_id: id, input: "And?" }),
  ],
];

test.each(REFUSED)("%s is 400 and the gate stays", async (_title, param, body) => {
  const { service, model, waiting } = await startWaiting();
  const answer = await service.send("POST", "/api/v1/responses", {
    model: "any",
    tools: TOOLS,
    ...body(waiting.id),
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { type: "invalid_request_error", param } });
  model.script({ text: "It has shipped." });
  const resumed = await service.create({
    previous_response_id: waiting.id,
    tools: TOOLS,
    input: [output("call_1")],
  });
  expect(textOf(resumed)).toBe("It has shipped.");
});

test("§7.2 a resume without a live gate is 400: where none was, and where it was answered", async () => {
  const { service, model, waiting } = await startWaiting();
  model.otherwise({ text: "ok" });
  await service.create({ previous_response_id: waiting.id, input: [output("call_1")] });
  const plain = await service.create({ input: "Hello" });
  for (const { id } of [plain, waiting]) {
    const body = { model: "any", previous_response_id: id, input: [output("call_1")] };
    const answer = await service.send("POST", "/api/v1/responses", body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: "no_pending_call", param: "input" } });
  }
});

test("§3.2 of two resumes at once one runs and one is 400", async () => {
  const { service, waiting } = await startWaiting();
  const body = { model: "any", previous_response_id: waiting.id, input: [output("call_1")] };
  const answers = await Promise.all([1, 2].map(() => service.send("POST", "/api/v1/responses", body)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
});

test("§3.2 a gate survives a restart", async () => {
  const { service, model, waiting } = await startWaiting();
  await service.kernel.stop();
  const later = await startService({ model, home: service.kernel.home });
  expect(await later.retrieve(waiting.id)).toEqual({ ...waiting, model: "reborn" });
  model.script({ text: "It has shipped." });
  const answer = await later.create({
    previous_response_id: waiting.id,
    tools: TOOLS,
    input: [output("call_1")],
  });
  expect(textOf(answer)).toBe("It has shipped.");
});

test("§3.3 rule 1: another user's token cannot resume the thread, and the gate stays", async () => {
  const { service, model, waiting } = await startWaiting();
  const stranger = await service.tokenOf("mallory");
  const tried = await service.create(
    { previous_response_id: waiting.id, input: [output("call_1")] },
    stranger,
  );
  expect(tried).toMatchObject({
    status: "failed",
    output: [],
    error: { code: "previous_response_not_found" },
  });
  expect(
    (await service.send("GET", `/api/v1/responses/${waiting.id}`, undefined, bearer(stranger))).status,
  ).toBe(404);
  expect(model.requests).toHaveLength(1);
  model.script({ text: "It has shipped." });
  const answer = await service.create({ previous_response_id: waiting.id, input: [output("call_1")] });
  expect(textOf(answer)).toBe("It has shipped.");
});

test("§4.3 streaming, the external-tool flow is leading text, the call's item added and done, completed", async () => {
  const model = await scriptedModel();
  model.script({ text: ["Let me ", "look."], calls: [call("call_1")] });
  const service = await startService({ model });
  const answer = await service.send("POST", "/api/v1/responses", {
    model: "any",
    stream: true,
    input: "Where is order 7?",
    tools: TOOLS,
  });
  const events = await eventsOf(answer);
  expect(events.map(({ type }) => type)).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.output_item.added",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.output_item.done",
    "response.completed",
  ]);
  const [added, delta, done, itemDone] = events.slice(9);
  expect(added).toMatchObject({
    output_index: 1,
    item: { type: "function_call", arguments: "", status: "in_progress" },
  });
  expect(delta).toMatchObject({ output_index: 1, delta: '{"number":7}' });
  expect(done).toMatchObject({ output_index: 1, name: "find_order", arguments: '{"number":7}' });
  expect(itemDone).toMatchObject({ item: { type: "function_call", call_id: "call_1", status: "completed" } });
  const { response } = events.at(-1) as unknown as { response: ResponseObject };
  expect(response.output[1]).toEqual(itemDone?.["item"]);
  const resumed = await service.create({ previous_response_id: response.id, input: [output("call_1")] });
  expect(textOf(resumed)).toBe("ok");
});

test("§3.3 rule 3 a waiting thread is resumed with its tools though a tool of that name was installed", async () => {
  const model = await scriptedModel();
  model.script({ calls: [call("call_1")] }, { calls: [call("call_2")] }, { text: "It has shipped." });
  const tools: Record<string, TestTool> = {};
  const service = await startService({ model, tools });
  const waiting = await service.create({ input: "Where is order 7?", tools: TOOLS });
  const installed: TestTool = { run: () => ({ status: "ok", output: "not the caller's" }) };
  Object.assign(tools, { find_order: installed, find_customer: installed });
  const other = { ...TOOLS[0], name: "find_customer" };
  const resume = (previous: string, id: string, more: readonly object[] = []) => ({
    ...{ model: "any", input: [output(id)], tools: [...TOOLS, ...more], previous_response_id: previous },
  });
  const refused = await service.send("POST", "/api/v1/responses", resume(waiting.id, "call_1", [other]));
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { code: "reserved_tool_name", param: "tools[1].name" } },
  ]);
  // The name stays the caller's for as long as the thread waits with it.
  const second = await service.create(resume(waiting.id, "call_1"));
  expect(callOf(second).call_id).toBe("call_2");
  expect(textOf(await service.create(resume(second.id, "call_2")))).toBe("It has shipped.");
  const anew = await service.send("POST", "/api/v1/responses", { model: "any", input: "Hi", tools: TOOLS });
  expect(anew.status).toBe(400);
});
