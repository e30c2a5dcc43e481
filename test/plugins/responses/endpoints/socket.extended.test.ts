/** Responses over a WebSocket, with the `openai` package's own class for it and with bare frames. */
import { once } from "node:events";
import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import { expect, onTestFinished, test } from "vitest";
import WebSocket from "ws";
import { createAccounts } from "../../../../plugins/accounts/records/accounts.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import {
  bearer,
  type Service,
  startService,
  TOKEN,
  type WireEvent,
} from "../../../support/services/responses.ts";

const PATH = "/openai/v1/responses";

/** A socket whose events are collected. */
async function connect(service: Service, headers: Record<string, string> = bearer(TOKEN)) {
  const socket = new WebSocket(service.url.replace("http", "ws") + PATH, { headers });
  onTestFinished(() => socket.terminate());
  const events: WireEvent[] = [];
  socket.on("message", (data) => void events.push(JSON.parse(String(data))));
  const closed = new Promise<number>((resolve) => socket.on("close", resolve));
  await once(socket, "open");
  let read = 0;
  /** The events up to the next that ends an answer. */
  async function next(): Promise<readonly WireEvent[]> {
    const isEnd = ({ type }: WireEvent) => /^error$|\.(completed|failed|incomplete)$/.test(type);
    await expect.poll(() => events.slice(read).some(isEnd)).toBe(true);
    const end = read + events.slice(read).findIndex(isEnd) + 1;
    const some = events.slice(read, end);
    read = end;
    return some;
  }
  const send = (body: object) =>
    socket.send(JSON.stringify({ type: "response.create", model: "any", ...body }));
  return { socket, send, next, closed };
}

// biome-ignore lint/suspicious/noExplicitAny: what is read of a response is checked right away
const responseOf = (events: readonly WireEvent[]): any => events.at(-1)?.["response"];
const errorOf = (events: readonly WireEvent[]) => events.at(-1) as unknown as Record<string, unknown>;

test("openai: a turn and one that goes on from it, over one connection", async () => {
  const model = await scriptedModel();
  model.script({ text: "Hello Ada." }, { text: "You are Ada." });
  const service = await startService({ model });
  const client = new OpenAI({ apiKey: TOKEN, baseURL: `${service.url}/openai/v1` });
  const socket = new ResponsesWS(client);
  onTestFinished(() => socket.close());
  const ask = (body: object) =>
    new Promise<OpenAI.Responses.Response>((resolve, reject) => {
      socket.once("response.completed", ({ response }) => resolve(response));
      socket.once("error", reject);
      socket.send({ type: "response.create", model: "any", ...body });
    });
  const deltas: string[] = [];
  socket.on("response.output_text.delta", ({ delta }) => void deltas.push(delta));
  const first = await ask({ input: "I am Ada." });
  const second = await ask({ input: "Who am I?", previous_response_id: first.id });
  expect(deltas.join("")).toBe("Hello Ada.You are Ada.");
  expect(second.previous_response_id).toBe(first.id);
  expect(await client.responses.retrieve(second.id)).toMatchObject({ id: second.id, status: "completed" });
});

test("events are those of the stream, numbered from 0, with the lane that the request named", async () => {
  const service = await startService({ model: await scriptedModel() });
  const { send, next } = await connect(service);
  send({ input: "Hi", stream_id: "lane-1" });
  const events = await next();
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
  expect(new Set(events.map(({ stream_id }) => stream_id))).toEqual(new Set(["lane-1"]));
  expect(events.map(({ type }) => type).slice(0, 3)).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_item.added",
  ]);
  for (const { stream_id: _, ...event } of events) service.checks.event(event, "OpenResponseEvent");
});

test("what is not stored can be gone on from on the same connection, and on no other", async () => {
  const model = await scriptedModel();
  model.script({ text: "Hello Ada." }, { text: "You are Ada." });
  const service = await startService({ model });
  const { send, next } = await connect(service);
  send({ input: "I am Ada.", store: false });
  const { id } = responseOf(await next());
  const other = await connect(service);
  other.send({ input: "Who am I?", store: false, previous_response_id: id });
  expect(errorOf(await other.next())).toMatchObject({
    ...{ type: "error", status: 404, error: { code: "previous_response_not_found" } },
  });
  send({ input: "Who am I?", store: false, previous_response_id: id });
  expect(responseOf(await next()).output[0].content[0].text).toBe("You are Ada.");
  const seen = JSON.stringify(model.requests.at(-1));
  for (const words of ["I am Ada.", "Hello Ada.", "Who am I?"]) expect(seen).toContain(words);
  await expect.poll(async () => (await service.kernel.service("threads").list("operator")).items).toEqual([]);
});

test("a refused request that went on from what is not stored makes the connection forget it", async () => {
  const service = await startService({ model: await scriptedModel() });
  const { send, next } = await connect(service);
  send({ input: "I am Ada.", store: false });
  const { id: previous_response_id } = responseOf(await next());
  const output = { type: "function_call_output", call_id: "call_none", output: "Nothing" };
  send({ input: [output], store: false, previous_response_id });
  expect(errorOf(await next())).toMatchObject({ type: "error", status: 400 });
  send({ input: "Who am I?", store: false, previous_response_id });
  expect(errorOf(await next())).toMatchObject({ error: { code: "previous_response_not_found" } });
});

test("generate: false answers at once with an id that the next request on this connection goes on from", async () => {
  const model = await scriptedModel();
  const service = await startService({ model });
  const { send, next } = await connect(service);
  send({ input: "Remember the word teapot.", generate: false });
  const warm = await next();
  expect(warm.map(({ type }) => type)).toEqual(["response.created", "response.completed"]);
  expect(responseOf(warm)).toMatchObject({ status: "completed", output: [] });
  expect(model.requests).toHaveLength(0);
  const other = await connect(service);
  other.send({ input: "Which word?", previous_response_id: responseOf(warm).id });
  expect(errorOf(await other.next())).toMatchObject({
    ...{ type: "error", status: 404, error: { code: "previous_response_not_found" } },
  });
  send({ input: "Which word?", previous_response_id: responseOf(warm).id });
  expect(responseOf(await next()).status).toBe("completed");
  expect(JSON.stringify(model.requests.at(-1))).toContain("teapot");
});

test("requests that come together are answered one after the other; the tenth is 429", async () => {
  const model = await scriptedModel();
  const held = Promise.withResolvers<string>();
  model.script({ text: [held.promise] });
  const service = await startService({ model });
  const { send, next } = await connect(service);
  for (let at = 0; at < 10; at += 1) send({ input: `Hi ${at}`, store: false });
  expect(errorOf(await next())).toMatchObject({ status: 429, error: { code: "too_many_messages" } });
  held.resolve("done");
  for (let at = 0; at < 9; at += 1) expect(responseOf(await next()).status).toBe("completed");
});

test("a bad message is refused in words, with its status and field, and the socket goes on", async () => {
  const service = await startService({ model: await scriptedModel() });
  const { socket, send, next } = await connect(service);
  const refused = async (message: string | Buffer) => {
    socket.send(message);
    const { type, status, error } = errorOf(await next()) as { error: { param: string } } & WireEvent;
    return [type, status, error.param];
  };
  expect(await refused("{")).toEqual(["error", 400, "type"]);
  expect(await refused("[]")).toEqual(["error", 400, null]);
  expect(await refused(Buffer.from("{}"))).toEqual(["error", 400, "type"]);
  expect(await refused('{"type":"response.steer"}')).toEqual(["error", 400, "type"]);
  expect(await refused('{"type":"response.create"}')).toEqual(["error", 400, "model"]);
  for (const [body, param] of [
    [{ input: 7 }, "input"],
    [{ input: "x", background: true }, "background"],
    [{ input: "x", stream_id: 7 }, "stream_id"],
    [{ input: "x", generate: "no" }, "generate"],
  ] as const)
    expect(await refused(JSON.stringify({ type: "response.create", model: "any", ...body }))).toEqual([
      ...["error", 400, param],
    ]);
  send({ input: "Hi" });
  expect(responseOf(await next()).status).toBe("completed");
});

test("a message of 14 MiB is read; one byte more closes the socket with 1009", async () => {
  const service = await startService({ model: await scriptedModel() });
  const { socket, next, closed } = await connect(service);
  const head = '{"type":"nothing","x":"';
  const sized = (bytes: number) => `${head}${"x".repeat(bytes - head.length - 2)}"}`;
  socket.send(sized(14 * 1024 * 1024));
  expect(errorOf(await next())).toMatchObject({ status: 400 });
  socket.send(sized(14 * 1024 * 1024 + 1));
  expect(await closed).toBe(1009);
});

test("a request on a socket counts as a message: beyond the limit it is 429", async () => {
  const service = await startService({
    ...{ model: await scriptedModel(), variables: { CHAT_RATE_LIMIT: "1" } },
  });
  const { send, next } = await connect(service);
  send({ input: "Hi" });
  expect(responseOf(await next()).status).toBe("completed");
  send({ input: "Hi" });
  expect(errorOf(await next())).toMatchObject({ status: 429, error: { code: "rate_limit_exceeded" } });
});

test("who has no token, or comes from a foreign page, gets no socket; a plain GET is 426", async () => {
  const service = await startService();
  const statusOf = (headers: Record<string, string>) =>
    new Promise((resolve) => {
      const socket = new WebSocket(service.url.replace("http", "ws") + PATH, { headers });
      socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode));
      socket.on("error", () => {});
    });
  expect(await statusOf({})).toBe(401);
  expect(await statusOf(bearer("wrong"))).toBe(401);
  expect(await statusOf({ ...bearer(TOKEN), origin: "https://evil.example" })).toBe(403);
  expect((await service.send("GET", PATH)).status).toBe(426);
});

test("a socket is closed when its token is revoked, and when the service stops", async () => {
  const service = await startService();
  const operator = await connect(service);
  const ann = await connect(service, bearer(await service.tokenOf("ann")));
  const accounts = await createAccounts(service.kernel.service("store"));
  const token = (await accounts.listTokens()).find(({ user }) => user === "ann");
  await service.send("DELETE", `/api/tokens/${token?.id}`);
  expect(await ann.closed).toBe(1008);
  await service.kernel.stop();
  expect(await operator.closed).toBe(1001);
});

test("a turn whose socket closes goes on and can be fetched", async () => {
  const model = await scriptedModel();
  const held = Promise.withResolvers<string>();
  model.script({ text: ["Well, ", held.promise] });
  const service = await startService({ model });
  const { socket, send } = await connect(service);
  const created = new Promise<string>((resolve) =>
    socket.once("message", (data) => resolve(JSON.parse(String(data)).response.id)),
  );
  send({ input: "Hi" });
  const id = await created;
  socket.terminate();
  held.resolve("done");
  await expect.poll(async () => (await service.retrieve(id)).status).toBe("completed");
});
