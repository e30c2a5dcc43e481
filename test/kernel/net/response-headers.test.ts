import { PassThrough } from "node:stream";
import Koa, { type Context } from "koa";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../../kernel/net/listen.ts";
import { createProxies } from "../../../kernel/net/proxies.ts";
import { secureAnswers } from "../../../kernel/net/response-headers.ts";
import { compressAnswers } from "../../../plugins/gateway/middleware/compression.ts";

async function open(handle: (context: Context) => void) {
  const koa = new Koa();
  koa
    .use(secureAnswers(createProxies([])))
    .use(compressAnswers())
    .use(handle);
  const settings = { host: "127.0.0.1", port: 0, hostVariable: "HOST", portVariable: "PORT" };
  const { url, close } = await listen(koa.callback(), settings);
  onTestFinished(() => close(0));
  return (encoding = "zstd, br, gzip, deflate") => fetch(url, { headers: { "accept-encoding": encoding } });
}

const LONG = "word ".repeat(1000);

test("an answer worth it is compressed, as the caller takes it, and keeps its whole content type", async () => {
  const ask = await open((context) => {
    context.body = { text: LONG };
    context.set("Content-Type", "application/json; profile=x");
  });
  for (const [accepted, encoding] of [
    ["zstd, br, gzip, deflate", "br"],
    ["gzip, deflate", "gzip"],
    ["br;q=0.1, gzip", "gzip"],
    ["zstd, deflate", null],
    ["identity", null],
  ] as const) {
    const answer = await ask(accepted);
    expect(answer.headers.get("content-encoding")).toBe(encoding);
    expect(answer.headers.get("content-type")).toBe("application/json; profile=x");
    expect(answer.headers.get("vary")).toBe("Accept-Encoding");
    expect(await answer.json()).toEqual({ text: LONG });
  }
});

test.for([
  ["short", "text/plain", "word"],
  ["packed already", "application/zip", LONG],
])("an answer that is %s is left as it is", async ([, type, body]) => {
  const ask = await open((context) => {
    context.type = type as string;
    context.body = body;
  });
  const answer = await ask();
  expect(answer.headers.get("content-encoding")).toBeNull();
  expect(await answer.text()).toBe(body);
});

test("an event leaves when it happens: a stream of events is neither compressed nor held back", async () => {
  const events = new PassThrough();
  const ask = await open((context) => {
    context.type = "text/event-stream";
    context.body = events;
  });
  events.write("data: first\n\n");
  const answer = await ask();
  expect(answer.headers.get("content-encoding")).toBeNull();
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toBe("data: first\n\n");
  events.end("data: last\n\n");
  expect((await reader?.read())?.value).toBe("data: last\n\n");
});

test("what is not asked for by name is forbidden to a browser", async () => {
  const ask = await open((context) => {
    context.body = "text";
  });
  const { headers } = await ask();
  expect(headers.get("content-security-policy")).toBe(
    "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
  );
  expect(headers.get("x-powered-by")).toBeNull();
  expect(headers.get("strict-transport-security")).toBeNull();
});
