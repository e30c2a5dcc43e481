import { expect, test } from "vitest";
import type { ResponseObject } from "../../../plugins/responses/wire/format.ts";
import { scriptedModel } from "../../support/services/agent.ts";
import { bearer, type Service, startService, textOf } from "../../support/services/responses.ts";

const NOWHERE = `resp_${"0".repeat(64)}`;

/** The thread's id, out of a response's. */
const threadOf = (id: string): string =>
  id.slice(-32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

async function refusalOf(answer: Response) {
  return { status: answer.status, ...((await answer.json()) as { error: Record<string, string | null> }) };
}

test("§4.3 GET rebuilds exactly this response's items from the stored conversation", async () => {
  const model = await scriptedModel();
  model.script({ text: "One." }, { text: "Two." }, { text: "Three." });
  const service = await startService({ model });
  const first = await service.create({
    input: "1",
    metadata: { n: "1" },
    temperature: 0.2,
    instructions: "Count.",
  });
  const second = await service.create({ input: "2", previous_response_id: first.id });
  const third = await service.create({ input: "3", previous_response_id: second.id });
  for (const response of [first, second, third])
    expect(await service.retrieve(response.id)).toEqual({ ...response, model: "reborn" });
});

test("§2.5 model is echoed on create and is reborn on retrieve and cancel", async () => {
  const service = await startService();
  const created = await service.create({ model: "my-model", input: "Hello" });
  expect(created.model).toBe("my-model");
  expect((await service.retrieve(created.id)).model).toBe("reborn");
  const cancelled = await service.send("POST", `/api/v1/responses/${created.id}/cancel`);
  expect(await cancelled.json()).toMatchObject({ model: "reborn", status: "completed" });
});

test("§4.3 a response is there after a restart", async () => {
  const service = await startService();
  const created = await service.create({ input: "What is 6 times 7?" });
  await service.kernel.stop();
  const later = await startService({ home: service.kernel.home });
  expect(await later.retrieve(created.id)).toEqual({ ...created, model: "reborn" });
});

const PATHS: readonly (readonly [method: string, path: (id: string) => string])[] = [
  ["GET", (id) => `/api/v1/responses/${id}`],
  ["GET", (id) => `/v1/responses/${id}`],
  ["POST", (id) => `/api/v1/responses/${id}/cancel`],
  ["GET", (id) => `/api/v1/responses/${id}/input_items`],
  ["GET", (id) => `/api/v1/responses/${id}/input_items?limit=0`],
  ["DELETE", (id) => `/api/v1/responses/${id}`],
];

test.each(PATHS)(
  "§4.3, §7.2 %s %s is 404 in the envelope for an id that is unknown, malformed or another user's",
  async (method, path) => {
    const service = await startService();
    const { id } = await service.create({ input: "Hello" });
    const stranger = bearer(await service.tokenOf("mallory"));
    const swapped = `resp_${id.slice(5, 37)}${"1".repeat(32)}`;
    const answers = [
      await service.send(method, path(NOWHERE)),
      await service.send(method, path("resp_x")),
      await service.send(method, path(swapped)),
      await service.send(method, path(id), undefined, stranger),
    ];
    const refusals = await Promise.all(answers.map(refusalOf));
    for (const refusal of refusals) expect(refusal).toEqual(refusals[0]);
    expect(refusals[0]).toEqual({
      status: 404,
      error: {
        type: "not_found_error",
        code: "response_not_found",
        param: "response_id",
        message: expect.any(String),
      },
    });
    expect(textOf(await service.retrieve(id))).not.toBe("");
  },
);

test("§7.2 POST with another user's previous_response_id, or an unknown one, fails as a turn: 200, failed", async () => {
  const service = await startService();
  const { id } = await service.create({ input: "Hello" });
  const stranger = await service.tokenOf("mallory");
  const tries = [
    await service.create({ input: "Go on", previous_response_id: id }, stranger),
    await service.create({ input: "Go on", previous_response_id: NOWHERE }),
    await service.create({ input: "Go on", previous_response_id: `${id.slice(0, 37)}${"1".repeat(32)}` }),
    await service.create({ input: "Go on", previous_response_id: `resp_${"1".repeat(32)}${id.slice(37)}` }),
  ];
  for (const response of tries)
    expect(response).toMatchObject({
      status: "failed",
      output: [],
      error: { code: "previous_response_not_found", type: "not_found_error", message: expect.any(String) },
    });
  expect(tries[0]?.error).toEqual(tries[1]?.error);
  const [first] = tries as [ResponseObject];
  expect(await service.retrieve(first.id, stranger)).toEqual({ ...first, model: "reborn" });
});

test("a failed response of a thread that is not there streams as created, in progress, failed", async () => {
  const service = await startService();
  const body = { model: "any", stream: true, input: "Go on", previous_response_id: NOWHERE };
  const text = await (await service.send("POST", "/api/v1/responses", body)).text();
  expect(text.match(/^event: .*/gm)).toEqual([
    "event: response.created",
    "event: response.in_progress",
    "event: response.failed",
  ]);
});

/** A stream's first bytes, and the id in them. */
async function startStalled(
  service: Service,
  previous: string | null = null,
): Promise<{ id: string; rest: Promise<string> }> {
  const body = { model: "any", stream: true, input: "Hi", previous_response_id: previous };
  const answer = await service.send("POST", "/api/v1/responses", body);
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  const next = async () => {
    const { done, value } = await reader.read();
    return done ? undefined : decoder.decode(value, { stream: true });
  };
  let text = "";
  while (!text.includes("Well,")) text += await next();
  const rest = (async () => {
    let more = "";
    for (let chunk = await next(); chunk !== undefined; chunk = await next()) more += chunk;
    return more;
  })();
  return { id: /"id":"(resp_[0-9a-f]+)"/.exec(text)?.[1] as string, rest };
}

test("§4.3 cancel stops a running response, which is then cancelled for good; the thread goes on", async () => {
  const model = await scriptedModel();
  model.script({ text: "Well,", end: "stall" });
  const service = await startService({ model });
  const { id, rest } = await startStalled(service);
  const answer = await service.send("POST", `/api/v1/responses/${id}/cancel`);
  expect(answer.status).toBe(200);
  const cancelled = (await answer.json()) as ResponseObject;
  expect(cancelled).toMatchObject({ id, status: "cancelled", model: "reborn", error: null });
  expect((await rest).match(/^event: .*/gm)).toEqual([
    "event: response.output_text.done",
    "event: response.content_part.done",
    "event: response.output_item.done",
    "event: response.incomplete",
  ]);
  expect(cancelled).toMatchObject({
    incomplete_details: { reason: "cancelled" },
    output: [{ type: "message", status: "incomplete" }],
  });
  expect(await service.retrieve(id)).toEqual(cancelled);
  const next = await service.create({ input: "Still there?", previous_response_id: id });
  expect(textOf(next)).toBe("ok");
});

test("§4.3 a response that is still running is retrieved with what has been said so far", async () => {
  const model = await scriptedModel();
  const more = Promise.withResolvers<string>();
  model.script({ text: ["Well,", more.promise] });
  const service = await startService({ model });
  const { id, rest } = await startStalled(service);
  expect(await service.retrieve(id)).toMatchObject({
    status: "in_progress",
    output: [{ type: "message", status: "in_progress", content: [{ text: "Well," }] }],
    usage: { total_tokens: 0, cost: 0 },
  });
  more.resolve(" so.");
  await rest;
  const whole = await service.retrieve(id);
  expect(whole).toMatchObject({ status: "completed", output: [{ content: [{ text: "Well, so." }] }] });
});

test("cancelling or deleting a response that waits for a function call frees its thread", async () => {
  const tools = [{ type: "function", name: "find" }];
  for (const [method, path] of [
    ["POST", "/cancel"],
    ["DELETE", ""],
  ] as const) {
    const model = await scriptedModel();
    const service = await startService({ model });
    const first = await service.create({ input: "Hello" });
    model.script({ calls: [{ id: "call_1", name: "find", arguments: {} }] });
    const waiting = await service.create({ input: "Find it", previous_response_id: first.id, tools });
    const blocked = { model: "any", input: "Well?", previous_response_id: first.id };
    expect((await service.send("POST", "/api/v1/responses", blocked)).status).toBe(400);
    const answer = await service.send(method, `/api/v1/responses/${waiting.id}${path}`);
    // It had ended with its call; what has come to an end stays as it was.
    if (method === "POST") expect(await answer.json()).toEqual({ ...waiting, model: "reborn" });
    const input = [{ type: "function_call_output", call_id: "call_1", output: "late" }];
    const late = { model: "any", previous_response_id: first.id, input };
    expect(await (await service.send("POST", "/api/v1/responses", late)).json()).toMatchObject({
      error: { code: "no_pending_call" },
    });
    const isThere = method === "POST";
    const previous_response_id = isThere ? waiting.id : first.id;
    const next = await service.create({ input: "Never mind", previous_response_id });
    expect(textOf(next)).toBe("ok");
    const told = model.requests.at(-1)?.messages.find(({ role }) => role === "tool");
    expect(told?.tool_call_id).toBe(isThere ? "call_1" : undefined);
  }
});

test("the input items of a response are listed, newest first or oldest first, page by page", async () => {
  const service = await startService();
  const { id } = await service.create({
    input: [
      { role: "developer", content: "Be brief." },
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello." },
      { role: "user", content: [{ type: "input_text", text: "Bye" }] },
    ],
  });
  const list = async (query: string) => {
    const answer = await service.send("GET", `/api/v1/responses/${id}/input_items${query}`);
    return (await answer.json()) as {
      data: { id: string; role: string }[];
      has_more: boolean;
      last_id: string;
    };
  };
  const all = await list("?order=asc");
  expect(all).toMatchObject({
    object: "list",
    has_more: false,
    data: [
      { type: "message", role: "developer", content: [{ type: "input_text", text: "Be brief." }] },
      { role: "user", content: [{ type: "input_text", text: "Hi" }] },
      { role: "assistant", content: [{ type: "output_text", text: "Hello." }] },
      { role: "user", content: [{ type: "input_text", text: "Bye" }] },
    ],
  });
  expect((await list("")).data).toEqual(all.data.toReversed());
  const page = await list("?order=asc&limit=3");
  expect(page).toMatchObject({ data: all.data.slice(0, 3), has_more: true });
  expect(await list(`?order=asc&limit=3&after=${page.last_id}`)).toMatchObject({
    data: all.data.slice(3),
    has_more: false,
  });
  expect((await service.send("GET", `/api/v1/responses/${id}/input_items?limit=0`)).status).toBe(400);
});

test.each(["/api/v1", "/openai/v1"])(
  "DELETE %s/responses forgets a response; the conversation goes with the last of its responses, for good",
  async (api) => {
    const service = await startService();
    const first = await service.create({ input: "Hello" });
    const second = await service.create({ input: "Again", previous_response_id: first.id });
    const drop = async (id: string) => (await service.send("DELETE", `${api}/responses/${id}`)).json();
    const threads = async () => (await service.kernel.service("threads").list("operator")).items;
    expect(await drop(first.id)).toEqual({ id: first.id, object: "response", deleted: true });
    expect((await service.send("GET", `/api/v1/responses/${first.id}`)).status).toBe(404);
    expect((await service.retrieve(second.id)).status).toBe("completed");
    expect(await threads()).toHaveLength(1);
    await drop(second.id);
    expect(await threads()).toHaveLength(0);
    expect((await service.kernel.service("threads").binned("operator")).items).toEqual([]);
  },
);

test("DELETE leaves a conversation that people went on with on another channel", async () => {
  const service = await startService();
  const { id } = await service.create({ input: "Hello" });
  const [thread] = (await service.kernel.service("threads").list("operator")).items;
  const input = { type: "message", text: "Hello again" } as const;
  const turn = { user: "operator", channel: "gateway", thread: thread?.id as string, input };
  await (await service.kernel.service("agent").run(turn)).record;
  await service.send("DELETE", `/api/v1/responses/${id}`);
  expect((await service.kernel.service("threads").list("operator")).items).toHaveLength(1);
});

test("a request on a thread whose turn still runs waits in line and is queued until then", async () => {
  const model = await scriptedModel();
  const service = await startService({ model });
  const first = await service.create({ input: "Hi" });
  model.script({ text: "Well,", end: "stall" }, { text: "Second." });
  const { id, rest } = await startStalled(service, first.id);
  const second = service.create({ input: "And?", previous_response_id: first.id });
  const waiting = async () => {
    const { items } = await service.kernel.service("threads").turns("operator", threadOf(first.id));
    return items.find(({ status }) => status === "queued");
  };
  await expect.poll(waiting).toBeDefined();
  const queued = `resp_${(await waiting())?.id.replaceAll("-", "")}${first.id.slice(-32)}`;
  expect(await service.retrieve(queued)).toMatchObject({ status: "queued", output: [] });
  await service.send("POST", `/api/v1/responses/${id}/cancel`);
  await rest;
  expect(await second).toMatchObject({ id: queued, status: "completed" });
});

test("a request that waits for its answer is told that it was cancelled", async () => {
  const model = await scriptedModel();
  const service = await startService({ model });
  const first = await service.create({ input: "Hi" });
  model.script({ text: "Well,", end: "stall" });
  const second = service.create({ input: "And?", previous_response_id: first.id });
  const running = async () => {
    const { items } = await service.kernel.service("threads").turns("operator", threadOf(first.id));
    return items.find(({ status }) => status === "running");
  };
  await expect.poll(running).toBeDefined();
  const id = `resp_${(await running())?.id.replaceAll("-", "")}${first.id.slice(-32)}`;
  await service.send("POST", `/v1/responses/${id}/cancel`);
  expect(await second).toMatchObject({ id, status: "cancelled", model: "any", error: null });
});

test("a response is gone with its thread, whoever deleted that", async () => {
  const service = await startService();
  const { id } = await service.create({ input: "Hello" });
  const threads = service.kernel.service("threads");
  const [thread] = (await threads.list("operator")).items;
  await threads.remove("operator", thread?.id as string);
  expect((await service.send("GET", `/api/v1/responses/${id}`)).status).toBe(404);
  const next = await service.create({ input: "Go on", previous_response_id: id });
  expect(next.error?.code).toBe("previous_response_not_found");
});

test("a response is 404 while its thread is in the bin, also one that failed or ran in the background; restored, it is there again", async () => {
  const service = await startService();
  const { id } = await service.create({ input: "Hello" });
  const { id: next } = await service.create({ input: "More", previous_response_id: id });
  const background = await service.create({ input: "Hello", background: true });
  await expect.poll(async () => (await service.retrieve(background.id)).status).toBe("completed");
  const sql = await service.kernel.service("store").tables("test", []);
  await sql.run(
    "UPDATE responses SET error = ?",
    JSON.stringify({ type: "server_error", code: "timeout", message: "late" }),
  );
  const threads = service.kernel.service("threads");
  const ids = [id, next, background.id];
  const statuses = () =>
    Promise.all(ids.map(async (one) => (await service.send("GET", `/api/v1/responses/${one}`)).status));
  const { items } = await threads.list("operator");
  expect(items).toHaveLength(2);
  for (const thread of items) await threads.bin("operator", thread.id);
  expect(await statuses()).toEqual([404, 404, 404]);
  for (const [method, path] of [
    ["GET", "/input_items"],
    ["POST", "/cancel"],
    ["DELETE", ""],
  ] as const)
    expect((await service.send(method, `/api/v1/responses/${id}${path}`)).status, path).toBe(404);
  const goesOn = await service.create({ input: "Go on", previous_response_id: id });
  expect(goesOn.error?.code).toBe("previous_response_not_found");
  // The round that deletes the requests of deleted threads leaves these.
  if (sql.engine === "postgres") await sql.run("DELETE FROM repeated_work");
  await service.kernel.stop();
  const later = await startService({ home: service.kernel.home });
  for (const thread of items) await later.kernel.service("threads").restore("operator", thread.id);
  const answer = await later.retrieve(next);
  expect(answer.id).toBe(next);
});

test("what a request said does not outlive its thread: the next round forgets it, and nothing else", async () => {
  const service = await startService();
  const gone = await service.create({ input: "My secret is blue", instructions: "Tell nobody" });
  const kept = await service.create({ input: "Hello" });
  await service.kernel.service("threads").remove("operator", threadOf(gone.id));
  const before = await service.kernel.service("store").tables("test", []);
  // A fleet does it once in its time, not at each start.
  if (before.engine === "postgres") await before.run("DELETE FROM repeated_work");
  await service.kernel.stop();
  const later = await startService({ home: service.kernel.home });
  const sql = await later.kernel.service("store").tables("test", []);
  const rows = () => sql.all<{ thread: string }>("SELECT thread FROM responses");
  await expect.poll(rows).toEqual([{ thread: threadOf(kept.id) }]);
});

test("a turn that a stop interrupted is failed when it is retrieved", async () => {
  const model = await scriptedModel();
  model.script({ text: "Well,", end: "stall" });
  const service = await startService({ model });
  const { id, rest } = await startStalled(service);
  await Promise.all([service.kernel.stop(), rest.catch(() => "")]);
  const later = await startService({ model, home: service.kernel.home });
  await expect.poll(async () => (await later.retrieve(id)).status).toBe("failed");
  expect((await later.retrieve(id)).error).toMatchObject({ code: "interrupted", type: "server_error" });
});
