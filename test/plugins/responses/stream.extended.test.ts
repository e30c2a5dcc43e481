import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import type { ResponseObject } from "../../../plugins/responses/wire/format.ts";
import { scriptedModel } from "../../support/services/agent.ts";
import {
  eventsOf,
  type Service,
  startService,
  TOKEN,
  textOf,
  type WireEvent,
} from "../../support/services/responses.ts";

/** A stream whose bytes the test takes as it pleases. */
async function openStream(service: Service, body: object): Promise<IncomingMessage> {
  const sent = request(`${service.url}/api/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
  });
  sent.end(JSON.stringify({ model: "any", stream: true, ...body }));
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  onTestFinished(() => void answer.destroy());
  return answer.setEncoding("utf8");
}

/** Reads until the text has come, and answers all that has. */
async function readUntil(stream: IncomingMessage, text: string): Promise<string> {
  let all = "";
  while (!all.includes(text)) {
    const chunk = stream.read() as string | null;
    if (chunk === null) await once(stream, "readable");
    else all += chunk;
  }
  return all;
}

test("§4.3 a stream is server-sent events whose event field equals the type, numbered from 0 by one", async () => {
  const model = await scriptedModel();
  model.script({ text: ["Hel", "lo", " there"] });
  const service = await startService({ model });
  const answer = await service.send("POST", "/api/v1/responses", { model: "gpt", stream: true, input: "Hi" });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toMatch(/^text\/event-stream/);
  const events = await eventsOf(answer);
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
  expect(events.map(({ type }) => type.replace("response.", ""))).toEqual([
    "created",
    "in_progress",
    "output_item.added",
    "content_part.added",
    "output_text.delta",
    "output_text.delta",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
    "output_item.done",
    "completed",
  ]);
});

test("§4.3 every event of a stream agrees with the others and with what is retrieved", async () => {
  const model = await scriptedModel();
  model.script({ text: ["Hel", "lo"] });
  const service = await startService({ model });
  const answer = await service.send("POST", "/api/v1/responses", {
    model: "gpt",
    stream: true,
    input: "Hi",
    metadata: { a: "b" },
  });
  const events = await eventsOf(answer);
  const responses = events.flatMap(({ response }) => (response ? [response as ResponseObject] : []));
  expect(new Set(responses.map(({ id }) => id)).size).toBe(1);
  expect(responses[0]).toMatchObject({
    status: "in_progress",
    output: [],
    model: "gpt",
    usage: { total_tokens: 0, cost: 0 },
  });
  const final = responses.at(-1) as ResponseObject;
  const item = final.output[0];
  for (const event of events) {
    if ("item_id" in event) expect(event["item_id"]).toBe(item?.id);
    if ("output_index" in event) expect(event["output_index"]).toBe(0);
  }
  const deltas = events.filter(({ type }) => type === "response.output_text.delta");
  expect(deltas.map(({ delta }) => delta).join("")).toBe(textOf(final));
  expect(events.find(({ type }) => type === "response.output_item.done")?.["item"]).toEqual(item);
  expect(await service.retrieve(final.id)).toEqual({ ...final, model: "reborn" });
});

test("a text before and one after the agent's own tool are two messages with indexes 0 and 1", async () => {
  const model = await scriptedModel();
  model.script({ text: "Looking.", calls: [{ name: "lamp", arguments: {} }] }, { text: "It is on." });
  const run = () => ({ status: "ok", output: "on" }) as const;
  const service = await startService({ model, tools: { lamp: { run } } });
  const events = await eventsOf(
    await service.send("POST", "/api/v1/responses", { model: "gpt", stream: true, input: "Is it on?" }),
  );
  const done = events.filter(({ type }) => type === "response.output_item.done");
  expect(done.map(({ output_index }) => output_index)).toEqual([0, 1]);
  const { response } = events.at(-1) as unknown as { response: ResponseObject };
  expect(response.output).toEqual(done.map(({ item }) => item));
  expect(response.output.map((item) => item.type)).toEqual(["message", "message"]);
  expect(await service.retrieve(response.id)).toEqual({ ...response, model: "reborn" });
});

test("headers and the first events are there before the model has said a word", async () => {
  const model = await scriptedModel();
  model.script({ end: "stall" });
  const service = await startService({ model });
  const stream = await openStream(service, { input: "Hi" });
  expect(stream.statusCode).toBe(200);
  const text = await readUntil(stream, "event: response.in_progress");
  expect(text.startsWith("event: response.created\n")).toBe(true);
});

test("§4.3, §8 a keepalive comment comes every 15 seconds", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const model = await scriptedModel();
  model.script({ end: "stall" });
  const service = await startService({ model });
  const stream = await openStream(service, { input: "Hi" });
  await readUntil(stream, "event: response.in_progress");
  vi.advanceTimersByTime(14_999);
  vi.advanceTimersByTime(1);
  expect(await readUntil(stream, ": keepalive\n\n")).toContain(": keepalive\n\n");
  vi.advanceTimersByTime(30_000);
  const two = await readUntil(stream, ": keepalive\n\n: keepalive\n\n");
  expect(two.match(/: keepalive\n\n/g)).toHaveLength(2);
});

test("a client that goes away cancels nothing: the turn ends, is stored and can be retrieved", async () => {
  const model = await scriptedModel();
  let finish = () => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const run = () => held.then(() => ({ status: "ok", output: "on" }) as const);
  model.script({ text: "Looking.", calls: [{ name: "lamp", arguments: {} }] }, { text: "It is on." });
  const service = await startService({ model, tools: { lamp: { run } } });
  const stream = await openStream(service, { input: "Is it on?" });
  const text = await readUntil(stream, "Looking.");
  const id = /"id":"(resp_[0-9a-f]+)"/.exec(text)?.[1] as string;
  stream.destroy();
  expect(await service.retrieve(id)).toMatchObject({
    status: "in_progress",
    usage: { total_tokens: 0, cost: 0 },
  });
  finish();
  await expect.poll(async () => (await service.retrieve(id)).status).toBe("completed");
  expect(textOf(await service.retrieve(id))).toBe("Looking.It is on.");
});

test("a slow reader holds up its own stream only, and gets every byte in the end", async () => {
  const model = await scriptedModel();
  const piece = "x".repeat(16_000);
  model.script({ text: Array.from({ length: 400 }, () => piece) }, { text: "quick" });
  const service = await startService({ model });
  const stream = await openStream(service, { input: "Write" });
  await expect.poll(() => model.requests.length).toBe(1);
  expect(textOf(await service.create({ input: "Hi" }))).toBe("quick");
  let all = "";
  for await (const chunk of stream) all += chunk;
  const events = all
    .split("\n\n")
    .filter((frame) => frame.startsWith("event:"))
    .map((frame) => JSON.parse(frame.slice(frame.indexOf("data: ") + 6)) as WireEvent);
  const { response } = events.at(-1) as unknown as { response: ResponseObject };
  expect(textOf(response)).toHaveLength(400 * 16_000);
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
});

test("a stream whose turn fails closes its open item and ends with response.failed", async () => {
  const model = await scriptedModel();
  model.script({ text: "Well,", end: "error" });
  const service = await startService({ model });
  const events = await eventsOf(
    await service.send("POST", "/api/v1/responses", { model: "gpt", stream: true, input: "Hi" }),
  );
  expect(events.slice(-4).map(({ type }) => type)).toEqual([
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.failed",
  ]);
  expect(events.at(-2)).toMatchObject({ item: { status: "incomplete", content: [{ text: "Well," }] } });
  const { response } = events.at(-1) as unknown as { response: ResponseObject };
  expect(response).toMatchObject({
    status: "failed",
    error: { code: "server_error", message: expect.stringContaining("scripted"), type: "server_error" },
  });
  expect(await service.retrieve(response.id)).toEqual({ ...response, model: "reborn" });
});

test("a refused request is refused as JSON, also where it asked for a stream", async () => {
  const service = await startService();
  const answer = await service.send("POST", "/api/v1/responses", { model: "", stream: true, input: "Hi" });
  expect(answer.status).toBe(400);
  expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
});
