import { connect } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { bootWebhook, SECRET, type Sending } from "../../support/services/webhook.ts";

const HELLO = JSON.stringify({ user_id: "ada", message: "hello" });

// What Node's client can put into a header at all.
const headerValue = fc.string({
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter((code) => code !== 0x7f)
    .map((code) => String.fromCharCode(code)),
  maxLength: 300,
});

const field = fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue(), fc.constant(undefined));

const body = fc.oneof(
  fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes)),
  fc.json({ maxDepth: 20 }),
  fc.string({ unit: "binary" }),
  fc
    .record({ user_id: field, message: field, conversation_id: field, metadata: field })
    .map((fields) => JSON.stringify(fields)),
  fc.constantFrom(
    HELLO,
    `\ufeff${HELLO}`,
    '{"__proto__":{"user_id":"x"},"user_id":"a","message":"b"}',
    "[".repeat(60_000),
  ),
  fc
    .constantFrom("utf16le" as const, "latin1" as const, "utf8" as const)
    .map((encoding) => Buffer.from(HELLO.replace("hello", "hé\ud800llo"), encoding)),
);

const sending: fc.Arbitrary<Sending> = fc.record({
  method: fc.constantFrom("POST", "POST", "POST", "GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"),
  path: fc.oneof(
    fc.constantFrom(
      "/webhook",
      "/webhook",
      "/webhook/",
      "/jobs/",
      "/jobs/%",
      "/jobs/%00",
      "/jobs/..%2f",
      "//",
      "/webhook?a=%ff",
    ),
    fc.webPath().map((path) => `/jobs/${path}`),
  ),
  headers: fc
    .record(
      {
        "content-type": fc.oneof(fc.constant("application/json"), headerValue),
        "content-encoding": fc.constantFrom("gzip", "br", "identity", "deflate", "x"),
        "x-webhook-secret": fc.oneof(fc.constant(SECRET), headerValue),
        "x-hub-signature-256": headerValue,
        "x-forwarded-for": headerValue,
        "idempotency-key": headerValue,
        prefer: fc.oneof(
          fc.constantFrom("wait=0", "wait=999999999999", "wait"),
          headerValue.filter((text) => !/wait/i.test(text)),
        ),
        "transfer-encoding": fc.constant("chunked"),
      },
      { requiredKeys: ["content-type", "x-webhook-secret"] },
    )
    .map((headers) => ({ ...headers }) as Record<string, string>),
  body,
});

test("§7.1 no body, header or encoding is ever answered with a 500", async () => {
  const webhook = await bootWebhook({ TRUSTED_PROXIES: "127.0.0.1", HTTP_RATE_LIMIT: "1000000" });
  await fc.assert(
    fc.asyncProperty(sending, async (request) => {
      const bodyless = request.method === "GET" || request.method === "HEAD";
      const answer = await webhook.send(bodyless ? { ...request, body: undefined } : request);
      expect([200, 400, 401, 404, 405, 413, 415]).toContain(answer.status);
      if (answer.status !== 200 && request.method !== "HEAD" && answer.text !== "")
        expect(answer.json.error).toMatchObject({ message: expect.any(String), code: expect.any(String) });
    }),
    { numRuns: 600 },
  );
  expect(webhook.kernel.logged.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

test("bytes that are no HTTP at all leave the channel answering", async () => {
  const webhook = await bootWebhook();
  const { hostname, port } = new URL(webhook.url);
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.uint8Array({ minLength: 1, maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
        fc.constantFrom(
          "POST /webhook HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
          "POST /webhook HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
          "POST /webhook HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
          `POST /webhook HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(40_000)}\r\n\r\n`,
          "POST /webhook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{",
        ),
      ),
      async (bytes) => {
        const said = await new Promise<string>((resolve) => {
          let text = "";
          const socket = connect(Number(port), hostname, () => socket.end(bytes));
          socket.on("data", (chunk) => {
            text += chunk;
          });
          socket.on("error", () => resolve(text));
          socket.on("close", () => resolve(text));
        });
        expect(said).not.toMatch(/^HTTP\/1\.1 5/);
      },
    ),
    { numRuns: 150 },
  );
  expect((await webhook.post(HELLO)).status).toBe(200);
});
