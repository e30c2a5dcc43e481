import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { expect, test } from "vitest";
import type { ResponseObject } from "../../../../plugins/responses/wire/format.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { eventsOf, type Service, startService, type WireEvent } from "../../../support/services/responses.ts";

const PREFIXES = ["/api/v1", "/openai/v1"];

const follow = async (service: Service, prefix: string, id: string, query = ""): Promise<Response> =>
  service.send("GET", `${prefix}/responses/${id}?stream=true${query}`);

const idOf = ([first]: readonly WireEvent[]): string =>
  (first as unknown as { response: ResponseObject }).response.id;

/** In another dialect, or later, the response says another model's name; what happened is the same. */
const withoutModel = (events: readonly WireEvent[]): readonly unknown[] =>
  events.map((event) =>
    "response" in event ? { ...event, response: { ...Object(event["response"]), model: "" } } : event,
  );

/** A stream that was opened, and its id as soon as it is known. */
async function begin(service: Service, prefix: string): Promise<{ id: string; rest: Promise<string> }> {
  const answer = await service.send("POST", `${prefix}/responses`, { model: "m", stream: true, input: "Hi" });
  const chunks = Readable.fromWeb(answer.body as ReadableStream<Uint8Array>).setEncoding("utf8");
  const reader = chunks[Symbol.asyncIterator]();
  let text = "";
  while (!text.includes("output_text.delta")) text += (await reader.next()).value;
  const [id] = /resp_[0-9a-f]{64}/.exec(text) ?? [];
  const rest = (async () => {
    for (let chunk = await reader.next(); !chunk.done; chunk = await reader.next()) text += chunk.value;
    return text;
  })();
  return { id: id as string, rest };
}

test.each(PREFIXES)(
  "%s: ?stream=true tells the events of a response again, from any number on",
  async (prefix) => {
    const model = await scriptedModel();
    model.script({ text: ["One", " two", " three"] });
    const service = await startService({ model });
    const body = { model: "m", stream: true, input: "Count" };
    const told = await eventsOf(await service.send("POST", `${prefix}/responses`, body));
    const id = idOf(told);
    const again = await eventsOf(await follow(service, prefix, id));
    expect(withoutModel(again)).toEqual(withoutModel(told));
    const after = await eventsOf(await follow(service, prefix, id, "&starting_after=3"));
    expect(withoutModel(after)).toEqual(withoutModel(told.slice(4)));
    const beyond = await eventsOf(await follow(service, prefix, id, "&starting_after=500"));
    expect(beyond.map(({ type }) => type)).toEqual(["response.completed"]);
  },
);

test("a response that is still running is followed from its first event to its end", async () => {
  const model = await scriptedModel();
  const more = Promise.withResolvers<string>();
  model.script({ text: ["Well,", more.promise] });
  const service = await startService({ model });
  const { id, rest } = await begin(service, "/openai/v1");
  const second = follow(service, "/openai/v1", id);
  const third = follow(service, "/openai/v1", id, "&starting_after=4");
  await second;
  more.resolve(" so.");
  const told = await eventsOf(new Response(await rest));
  expect(withoutModel(await eventsOf(await second))).toEqual(withoutModel(told));
  expect(withoutModel(await eventsOf(await third))).toEqual(withoutModel(told.slice(5)));
  expect(told.at(-1)).toMatchObject({ type: "response.completed" });
});

test("a stream of the open dialect ends with [DONE], one of the specification does not", async () => {
  const service = await startService();
  for (const prefix of PREFIXES) {
    const body = { model: "m", stream: true, input: "Hello" };
    const text = await (await service.send("POST", `${prefix}/responses`, body)).text();
    expect(text.endsWith("data: [DONE]\n\n")).toBe(prefix === "/openai/v1");
  }
});

test("a number or a flag that is none is refused, and so is a response that is not there", async () => {
  const service = await startService();
  const { id } = await service.create({ input: "Hello" });
  for (const [query, param] of [
    ["stream=yes", "stream"],
    ["stream=true&starting_after=-1", "starting_after"],
    ["stream=true&starting_after=a", "starting_after"],
  ]) {
    const answer = await service.send("GET", `/openai/v1/responses/${id}?${query}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param } });
  }
  const missing = await follow(service, "/api/v1", `resp_${"0".repeat(64)}`);
  expect(missing.status).toBe(404);
});
