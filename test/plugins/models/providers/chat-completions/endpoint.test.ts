/** What servers that call themselves compatible really send. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createProviderModel } from "../../../../../plugins/models/providers/provider.ts";
import type { ModelPart } from "../../../../../plugins/models/services.ts";
import { listen } from "../../../../support/servers/listening.ts";

type Serve = (response: ServerResponse, body: string) => void;

async function served(serve: Serve, path = "/v1"): Promise<string> {
  const server = createServer(async (request, response) => {
    expect(request.url).toMatch(/^\/v1\/chat\/completions/);
    let body = "";
    for await (const chunk of request) body += String(chunk);
    serve(response, body);
  });
  return (await listen(server)).url + path;
}

const REQUEST = { system: "", messages: [], tools: [], temperature: undefined };

async function ask(baseUrl: string, signal = new AbortController().signal): Promise<ModelPart[]> {
  const settings = {
    provider: "openai-compatible",
    name: "m",
    baseUrl,
    key: undefined,
    window: 1000,
  } as const;
  const parts: ModelPart[] = [];
  for await (const some of createProviderModel(settings).stream(REQUEST, signal)) parts.push(...some);
  return parts;
}

const event = (body: object) => `data: ${JSON.stringify(body)}\n\n`;
const delta = (value: object, finish: string | null = null) =>
  event({ choices: [{ index: 0, delta: value, finish_reason: finish }] });
const STOP = delta({}, "stop");
const STOPPED = { type: "finish", reason: "stop" };
const CALLED = { type: "finish", reason: "tool_calls" };

const answering =
  (...texts: (string | Buffer)[]): Serve =>
  async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const text of texts) {
      response.write(text);
      await sleep(2);
    }
    response.end();
  };

test("letters and events that arrive in pieces are put together", async () => {
  const whole = Buffer.from(delta({ content: "Grüße aus Köln 🏰" }) + STOP);
  const pieces = Array.from({ length: whole.length }, (_, at) => whole.subarray(at, at + 1));
  expect(await ask(await served(answering(...pieces)))).toEqual([
    { type: "text", delta: "Grüße aus Köln 🏰" },
    STOPPED,
  ]);
});

test("lines may end as on Windows, comments and other fields are passed over, [DONE] may be missing", async () => {
  const text = `: keepalive\r\n\r\nevent: message\r\nid: 1\r\n${delta({ content: "Hi", role: "assistant" })}${STOP}`;
  expect(await ask(await served(answering(text)))).toEqual([{ type: "text", delta: "Hi" }, STOPPED]);
});

test("text may come as a list of parts, with thoughts among them, or as a refusal", async () => {
  const parts = [
    { type: "thinking", thinking: [{ type: "text", text: "Hmm." }] },
    { type: "text", text: "Yes." },
  ];
  const url = await served(
    answering(
      delta({ content: parts }),
      delta({ content: null, reasoning_content: "Ah.", reasoning: "Ah." }),
      delta({ refusal: "No." }),
      STOP,
    ),
  );
  expect(await ask(url)).toEqual([
    { type: "reasoning", delta: "Hmm." },
    { type: "text", delta: "Yes." },
    { type: "reasoning", delta: "Ah." },
    { type: "text", delta: "No." },
    STOPPED,
  ]);
});

test("calls are put together by their number, in whichever order the pieces come", async () => {
  const url = await served(
    answering(
      delta({ tool_calls: [{ index: 0, id: "a", function: { name: "one", arguments: '{"x"' } }] }),
      delta({ tool_calls: [{ index: 1, id: "b", function: { arguments: "{" } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: ":1}" } }] }),
      delta({ tool_calls: [{ index: 1, function: { name: "two", arguments: "}" } }] }),
      delta({}, "tool_calls"),
    ),
  );
  expect(await ask(url)).toEqual([
    { type: "call", call: { id: "a", name: "one", params: '{"x":1}' } },
    { type: "call", call: { id: "b", name: "two", params: "{}" } },
    CALLED,
  ]);
});

test("calls without numbers are told apart by their ids", async () => {
  const url = await served(
    answering(
      delta({ tool_calls: [{ id: "a", function: { name: "one", arguments: "{}" } }] }),
      delta({ tool_calls: [{ id: "b", function: { name: "two", arguments: "{" } }] }),
      delta({ tool_calls: [{ function: { arguments: "}" } }] }),
      delta({}, "tool_calls"),
    ),
  );
  expect(await ask(url)).toEqual([
    { type: "call", call: { id: "a", name: "one", params: "{}" } },
    { type: "call", call: { id: "b", name: "two", params: "{}" } },
    CALLED,
  ]);
});

test.each([
  ["OpenAI's", { error: { message: "no such model", type: "x" } }],
  ["Ollama's", { error: "no such model" }],
  ["FastAPI's", { detail: "no such model" }],
])("a refusal is told in its own words, in %s shape", async (_, body) => {
  const url = await served((response) => {
    response.writeHead(404, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  });
  await expect(ask(url)).rejects.toMatchObject({
    code: "model_refused",
    message:
      "The model m (openai-compatible) was not found: no such model. Choose another model, or check its name and its server's URL.",
  });
});

test("a refusal without words, or with a page of them, stays short", async () => {
  const refusing = (text: string) =>
    served((response) => {
      response.writeHead(503, { "retry-after": "7" });
      response.end(text);
    });
  await expect(ask(await refusing(""))).rejects.toMatchObject({
    code: "model_error",
    message: "The model m (openai-compatible) reported an error: HTTP 503",
    retryAfterSecs: 7,
  });
  const error = await ask(await refusing("<html>".padEnd(200_000, "x"))).catch((thrown: Error) => thrown);
  expect((error as Error).message.length).toBeLessThan(600);
});

test.each([
  ["without a finish reason", delta({ content: "Half" }), /without a finish reason/],
  [
    "in an error",
    delta({ content: "Half" }) + event({ error: { message: "out of memory" } }),
    /out of memory/,
  ],
  ["in what is not JSON", "data: {oops\n\n", /stopped in the middle.*JSON/],
])("an answer that ends %s has been cut", async (_, text, words) => {
  await expect(ask(await served(answering(text)))).rejects.toMatchObject({
    code: "model_cut",
    message: expect.stringMatching(words),
  });
});

test("nobody there is told as such", async () => {
  await expect(ask("http://127.0.0.1:9/v1")).rejects.toMatchObject({ code: "model_unreachable" });
});

test("an abort closes the connection, before the answer and in the middle of it", async () => {
  for (const first of ["", delta({ content: "Half" })]) {
    const closed = Promise.withResolvers<void>();
    const stopper = new AbortController();
    const stop = () => stopper.abort(new Error("stop"));
    const url = await served((response) => {
      response.on("close", closed.resolve);
      if (first === "") return stop();
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(first, stop);
    });
    await expect(ask(url, stopper.signal)).rejects.toThrow("stop");
    await closed.promise;
  }
});

test("unfinished calls are signs of life without parts; a keepalive is none", async () => {
  const piece = (index: number, args: string) => ({
    tool_calls: [{ index, id: "c", function: { name: "f", arguments: args } }],
  });
  const url = await served(
    answering(
      ": keepalive\n\n",
      delta({ reasoning: "hm" }),
      delta(piece(0, "{")),
      delta(piece(0, "}")),
      STOP,
    ),
  );
  const settings = { provider: "ollama", name: "m", baseUrl: url, key: "k", window: 1000 } as const;
  const { signal } = new AbortController();
  const lots: (readonly ModelPart[])[] = [];
  for await (const parts of createProviderModel(settings).stream(REQUEST, signal)) lots.push(parts);
  expect(lots.slice(0, -1)).toEqual([[{ type: "reasoning", delta: "hm" }], [], [], []]);
  expect(lots.at(-1)).toEqual([{ type: "call", call: { id: "c", name: "f", params: "{}" } }, CALLED]);
});

test("whoever stops listening lets go of the connection", async () => {
  const closed = Promise.withResolvers<void>();
  const url = await served((response) => {
    response.on("close", closed.resolve);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(delta({ content: "Half" }));
  });
  const settings = { provider: "ollama", name: "m", baseUrl: url, key: "k", window: 1000 } as const;
  const { signal } = new AbortController();
  for await (const parts of createProviderModel(settings).stream(REQUEST, signal)) {
    expect(parts).toEqual([{ type: "text", delta: "Half" }]);
    break;
  }
  await closed.promise;
});

test("the address may end in a slash and bear a query; a server without usage tells none", async () => {
  const url = await served(answering(delta({ content: "Hi" }), STOP), "/v1/?version=2");
  expect(await ask(url)).toEqual([{ type: "text", delta: "Hi" }, STOPPED]);
});

test("a turn that was stopped before the request is not sent, and waits for nobody", async () => {
  let asked = 0;
  const url = await served(() => void asked++);
  await expect(ask(url, AbortSignal.abort(new Error("stopped")))).rejects.toThrow("stopped");
  expect(asked).toBe(0);
});

test("a line without an end is cut off before it fills the memory", async () => {
  const gone = Promise.withResolvers<void>();
  const flood = async (response: ServerResponse) => {
    response.on("close", gone.resolve);
    response.write("data: ");
    const piece = "x".repeat(1024 * 1024);
    while (!response.destroyed)
      if (!response.write(piece)) await Promise.race([once(response, "drain"), gone.promise]);
  };
  const url = await served((response) => void flood(response));
  await expect(ask(url)).rejects.toMatchObject({ code: "model_cut" });
  await gone.promise;
});

test("calls that all bear the same number are told apart by their ids", async () => {
  const piece = (id: string | undefined, name: string | undefined, text: string) =>
    delta({
      tool_calls: [{ index: 0, ...(id && { id }), function: { ...(name && { name }), arguments: text } }],
    });
  const url = await served(
    answering(
      piece("a", "first", '{"n":'),
      piece(undefined, undefined, "1}"),
      piece("b", "second", ""),
      piece("b", "second", '{"n":'),
      piece(undefined, undefined, "2}"),
      STOP,
    ),
  );
  expect(await ask(url)).toEqual([
    { type: "call", call: { id: "a", name: "first", params: '{"n":1}' } },
    { type: "call", call: { id: "b", name: "second", params: '{"n":2}' } },
    CALLED,
  ]);
});

test("a redirect is a refusal that another try does not change", async () => {
  const url = await served((response) => response.writeHead(308, { location: "/elsewhere" }).end());
  await expect(ask(url)).rejects.toMatchObject({
    code: "model_refused",
    message: expect.stringContaining("308"),
  });
});

test.each([
  ["stop", "stop"],
  ["eos", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["content_filter", "content_filter"],
  ["tool_calls", "stop"],
])("an answer without calls that ends with %s has ended with %s", async (given, reason) => {
  const url = await served(answering(delta({ content: "Hi" }), delta({}, given)));
  expect(await ask(url)).toMatchObject([
    { type: "text", delta: "Hi" },
    { type: "finish", reason },
  ]);
});

test("a call that was cut by the end of the tokens is not made", async () => {
  const call = (index: number, text: string) =>
    delta({ tool_calls: [{ index, id: `c${index}`, function: { name: "f", arguments: text } }] });
  const url = await served(answering(call(0, '{"n":1}'), call(1, '{"n":'), delta({}, "length")));
  expect(await ask(url)).toEqual([
    { type: "call", call: { id: "c0", name: "f", params: '{"n":1}' } },
    { type: "finish", reason: "length" },
  ]);
});
