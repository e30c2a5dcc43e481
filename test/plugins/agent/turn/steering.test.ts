/** Messages that are sent while a turn runs: where people talk, that turn hears them. */
import { expect, test } from "vitest";
import type { ChatRequest, ModelReply, ModelServer } from "../../../support/servers/model-server.ts";
import { scriptedModel, type TestTool } from "../../../support/services/agent.ts";
import { breakTable } from "../../../support/services/broken-table.ts";
import { openGateway, type TestGateway } from "../../../support/services/gateway.ts";

/** A tool that holds its turn until the test lets go. */
function holding(): {
  readonly tools: Record<string, TestTool>;
  readonly begun: Promise<void>;
  release(): void;
} {
  const begun = Promise.withResolvers<void>();
  const { promise, resolve } = Promise.withResolvers<void>();
  const hold: TestTool = {
    async run() {
      begun.resolve();
      await promise;
      return { status: "ok", output: "held" };
    },
  };
  return { tools: { hold }, begun: begun.promise, release: resolve };
}

const CALL = { text: "Wait. ", calls: [{ name: "hold", arguments: {} }] };

const textsOf = (request: ChatRequest | undefined, role: string) =>
  (request?.messages ?? []).filter((one) => one.role === role).map(({ content }) => String(content));
const heard = (model: ModelServer, at: number) => textsOf(model.requests[at], "user").map(lastLine);
const lastLine = (text: string) => text.split("\n").at(-1);

async function send({ ask }: TestGateway, message: string, thread?: string, path = "/api/chat/send") {
  const { status, body } = await ask(path, { method: "POST", body: { message, thread_id: thread } });
  return { status, body, id: body.message_id as string, thread: body.thread_id as string };
}

const turnsOf = async ({ ask }: TestGateway, thread: string) => (await ask(`/api/threads/${thread}`)).body;

async function whileHeld(answer: ModelReply = { text: "Done." }) {
  const model = await scriptedModel();
  const { tools, begun, release } = holding();
  model.script(CALL, answer);
  const gateway = await openGateway({ model, tools, variables: { CHAT_TITLES: "false" } });
  const socket = await gateway.socket();
  const first = await send(gateway, "Begin");
  await begun;
  return { model, gateway, socket, first, release };
}

test("a message sent while a tool runs is in the next request, once, and its event names the turn", async () => {
  const { model, gateway, socket, first, release } = await whileHeld();
  const second = await send(gateway, "Make it blue", first.thread);
  expect(second.status).toBe(202);
  expect(second.id).not.toBe(first.id);
  expect((await gateway.ask(`/api/turns/${second.id}`)).body.status).toBe("queued");
  release();
  const taken = await socket.until(({ type }) => type === "taken");
  expect(taken).toMatchObject({ turn_id: first.id, message_id: second.id, text: "Make it blue" });
  const done = await socket.until(({ type }) => type === "done");
  expect(done.turn_id).toBe(first.id);
  expect(model.requests).toHaveLength(2);
  expect(heard(model, 1)).toEqual(["Begin", "Make it blue"]);
  expect(model.requests[1]?.messages.map(({ role }) => role).slice(-4)).toEqual([
    "user",
    "assistant",
    "tool",
    "user",
  ]);
  // The prefix stays, for providers' caches.
  const before = model.requests[0]?.messages ?? [];
  expect(model.requests[1]?.messages.slice(0, before.length)).toEqual(before);

  const { thread, turns } = await turnsOf(gateway, first.thread);
  expect(thread.turns).toBe(1);
  expect(turns).toHaveLength(1);
  expect(turns[0].items.map(({ type, role, text }: Record<string, string>) => text ?? role ?? type)).toEqual([
    ...["Begin", "Wait. ", "tool_call", "tool_result", "Make it blue", "Done."],
  ]);
  expect(turns[0].items[4].id).toBe(second.id);
  // Whoever has only the message's id finds the answer by it.
  expect((await gateway.ask(`/api/turns/${second.id}`)).body).toEqual(turns[0]);
  await send(gateway, "And now?", first.thread, "/api/chat");
  expect(heard(model, 2)).toEqual(["Begin", "Make it blue", "And now?"]);
});

test("several messages are heard in their order, and a fifth that waits is refused", async () => {
  const { model, gateway, first, socket, release } = await whileHeld();
  for (const word of ["one", "two", "three", "four"]) await send(gateway, word, first.thread);
  const refused = await send(gateway, "five", first.thread);
  expect(refused).toMatchObject({ status: 429, body: { error: { code: "thread_busy" } } });
  release();
  await socket.until(({ type }) => type === "done");
  expect(heard(model, 1)).toEqual(["Begin", "one", "two", "three", "four"]);
  expect((await turnsOf(gateway, first.thread)).turns).toHaveLength(1);
});

test("POST /api/chat waits in line and gets an answer of its own", async () => {
  const { model, gateway, first, release } = await whileHeld();
  model.script({ text: "Yours." });
  const answer = send(gateway, "My own question", first.thread, "/api/chat");
  const queued = async () => (await turnsOf(gateway, first.thread)).turns.length;
  await expect.poll(queued).toBe(2);
  // What comes after it keeps its place.
  const later = await send(gateway, "later", first.thread);
  release();
  const { body } = await answer;
  expect(body).toMatchObject({ response: "Yours.", status: "completed" });
  expect(heard(model, 1)).toEqual(["Begin"]);
  expect(heard(model, 2)).toEqual(["Begin", "My own question"]);
  const own = async () => (await gateway.ask(`/api/turns/${later.id}`)).body;
  await expect.poll(own).toMatchObject({ id: later.id, status: "completed" });
});

test("a message that comes too late for the last request begins the next turn", async () => {
  const model = await scriptedModel();
  const rest = Promise.withResolvers<string>();
  model.script({ text: ["Nearly", rest.promise] }, { text: "Next." });
  const gateway = await openGateway({ model, variables: { CHAT_TITLES: "false" } });
  const socket = await gateway.socket();
  const first = await send(gateway, "Begin");
  await socket.until(({ type }) => type === "text");
  const late = await send(gateway, "Too late?", first.thread);
  rest.resolve(" done.");
  const done = await socket.until(({ type, turn_id }) => type === "done" && turn_id === late.id);
  expect(done.turn).toMatchObject({ status: "completed", input: { text: "Too late?" } });
  expect(heard(model, 1)).toEqual(["Begin", "Too late?"]);
});

test("a message is taken back until it is read, and nothing of it is left", async () => {
  const { model, gateway, first, socket, release } = await whileHeld();
  const wrong = await send(gateway, "Forget this", first.thread);
  const kept = await send(gateway, "Keep this", first.thread);
  const eve = await gateway.addUser("eve");
  const takeBack = (id: string, token?: string) =>
    gateway.ask(`/api/turns/${id}`, { method: "DELETE", ...(token && { token }) });
  expect((await takeBack(wrong.id, eve)).status).toBe(404);
  expect((await takeBack(wrong.id)).status).toBe(204);
  expect((await takeBack(wrong.id)).status).toBe(404);
  expect(await socket.until(({ type }) => type === "done")).toMatchObject({
    turn_id: wrong.id,
    status: "cancelled",
  });
  expect((await takeBack(first.id)).body.error.code).toBe("message_taken");
  release();
  await socket.until(({ type, turn_id }) => type === "done" && turn_id === first.id);
  expect(heard(model, 1)).toEqual(["Begin", "Keep this"]);
  expect(await takeBack(kept.id)).toMatchObject({ status: 409, body: { error: { code: "message_taken" } } });
  const { thread, turns } = await turnsOf(gateway, first.thread);
  expect([thread.turns, turns.length]).toEqual([1, 1]);
});

test("a message that a turn had taken runs by itself when that turn's end could be stored only later", async () => {
  const { model, gateway, first, release } = await whileHeld({ end: "stall" });
  const second = await send(gateway, "Make it blue", first.thread);
  release();
  await expect.poll(() => model.requests.length).toBe(2);
  expect(heard(model, 1)).toEqual(["Begin", "Make it blue"]);
  const { service } = gateway;
  const agent = service.service("agent");
  const cut = agent.running("operator", first.id);
  const sql = await service.service("store").tables("test", []);
  const mend = await breakTable(sql, "turns", "UPDATE");
  // As when a plugin is unloaded.
  await agent.extend({})();
  expect((await cut?.record)?.error?.code).toBe("interrupted");
  await mend();
  const own = async () => (await gateway.ask(`/api/turns/${second.id}`)).body;
  await expect.poll(own).toMatchObject({ id: second.id, status: "completed" });
  expect(heard(model, 2)).toEqual(["Begin", "Make it blue"]);
});

test("what a token may not use is not done for its message in the turn of another", async () => {
  const { model, gateway, first, release } = await whileHeld();
  model.script({ text: "Without tools." });
  const { token } = (
    await gateway.ask("/api/tokens", {
      method: "POST",
      body: { user: "operator", name: "narrow", tools: ["nothing"] },
    })
  ).body;
  const { body } = await gateway.ask("/api/chat/send", {
    method: "POST",
    body: { message: "Narrow", thread_id: first.thread },
    token,
  });
  release();
  const own = async () => (await gateway.ask(`/api/turns/${body.message_id}`)).body;
  await expect.poll(own).toMatchObject({ id: body.message_id, status: "completed" });
  expect(heard(model, 1)).toEqual(["Begin"]);
});

test("a turn that is tried again says everything again, also what it took while it ran", async () => {
  const { model, gateway, first, socket, release } = await whileHeld();
  await send(gateway, "Make it blue", first.thread);
  release();
  await socket.until(({ type }) => type === "done");
  model.script({ text: "Again." });
  const { body } = await gateway.ask(`/api/turns/${first.id}/retry`, { method: "POST", body: {} });
  await socket.until(({ type, turn_id }) => type === "done" && turn_id === body.message_id);
  const [said = ""] = textsOf(model.requests[2], "user");
  expect(said.endsWith("Begin\n\nMake it blue")).toBe(true);
});
