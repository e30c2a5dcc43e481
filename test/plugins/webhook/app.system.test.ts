import { describe, expect, test } from "vitest";
import { scriptedModel } from "../../support/services/agent.ts";
import {
  bootWebhook,
  completed,
  SECRET,
  scripted,
  signature,
  standardHeaders,
} from "../../support/services/webhook.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const HELLO = { user_id: "ada", message: "hello" };
const KB64 = 64 * 1024;

/** A body of exactly so many bytes. */
const sized = (bytes: number) => {
  const frame = JSON.stringify({ ...HELLO, message: "" }).length;
  return JSON.stringify({ ...HELLO, message: "x".repeat(bytes - frame) });
};

function expectError(
  answer: { status: number; json: unknown },
  status: number,
  code: string,
  param?: string,
) {
  expect(answer.json).toEqual({
    error: { message: expect.any(String), type: expect.any(String), param: param ?? null, code },
  });
  expect(answer.status).toBe(status);
}

describe("submitting", () => {
  test("§2.3 a fresh submission answers its job_id, a UUID, and the status queued, with no response", async () => {
    const webhook = await bootWebhook();
    const { status, json, headers } = await webhook.post(HELLO);
    expect(status).toBe(200);
    expect(json).toEqual({ job_id: expect.stringMatching(UUID), status: "queued" });
    expect(headers).toMatchObject({
      "content-type": expect.stringMatching("application/json"),
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
  });

  test("§2.4 the job record has id, status, response and ISO 8601 UTC times once completed", async () => {
    const webhook = await bootWebhook();
    const { json } = await webhook.post(HELLO);
    const job = await completed(webhook, json.job_id);
    expect(job).toEqual({
      id: json.job_id,
      status: "completed",
      response: expect.stringMatching(/./),
      created_at: expect.any(String),
      completed_at: expect.any(String),
    });
    for (const time of [job.created_at, job.completed_at]) expect(new Date(time).toISOString()).toBe(time);
  });

  test("Prefer: wait answers completed with the response at once, and says that it was applied", async () => {
    const webhook = await bootWebhook();
    const { status, json, headers } = await webhook.post(HELLO, { prefer: "respond-async, wait=59" });
    expect(status).toBe(200);
    expect(json).toEqual({
      job_id: expect.stringMatching(UUID),
      status: "completed",
      response: expect.any(String),
    });
    expect(headers["preference-applied"]).toBe("wait=59");
  });

  test("Prefer: wait waits at most 60 s, and a preference that makes no sense is ignored", async () => {
    const webhook = await bootWebhook();
    const long = await webhook.post(HELLO, { prefer: "wait=86400" });
    expect(long.headers["preference-applied"]).toBe("wait=60");
    for (const prefer of ["wait=soon", "wait=-1", "wait", "await=3", "wait=1.5"]) {
      const { json, headers } = await webhook.post(HELLO, { prefer });
      expect(headers["preference-applied"]).toBeUndefined();
      expect(json.status).toBe("queued");
    }
  });

  test("the same Idempotency-Key answers the first submission's job; another key makes another", async () => {
    const webhook = await bootWebhook();
    const [first, again, other, none] = [
      await webhook.post(HELLO, { "idempotency-key": "one" }),
      await webhook.post(HELLO, { "idempotency-key": "one" }),
      await webhook.post(HELLO, { "idempotency-key": "two" }),
      await webhook.post(HELLO),
    ];
    expect(again.json.job_id).toBe(first.json.job_id);
    expect(new Set([first, other, none].map(({ json }) => json.job_id)).size).toBe(3);
  });

  test("the same Idempotency-Key with another body is 422 and runs nothing", async () => {
    const webhook = await bootWebhook();
    const key = { "idempotency-key": "one" };
    const first = await webhook.post(HELLO, key);
    for (const body of [
      { ...HELLO, message: "changed" },
      { ...HELLO, metadata: {} },
      { ...HELLO, extra: 1 },
    ])
      expectError(await webhook.post(body, key), 422, "idempotency_key_reused", "Idempotency-Key");
    expect((await webhook.post(HELLO, key)).json.job_id).toBe(first.json.job_id);
    expect((await webhook.kernel.service("jobs").list()).items).toHaveLength(1);
  });

  test("conversation_id continues the conversation of the same user, in order; metadata reaches the agent", async () => {
    const model = await scriptedModel();
    model.otherwise(({ messages }) => ({
      text: `turn ${messages.filter(({ role }) => role === "user").length}`,
    }));
    const webhook = await bootWebhook(scripted(model));
    const say = (user_id: string, conversation_id: string) =>
      webhook.post({ user_id, message: "next", conversation_id, metadata: { ticket: "T-77" } });
    const jobs = [await say("ada", "c1"), await say("ada", "c1"), await say("ada", "c1")];
    const others = [await say("ada", "c2"), await say("bob", "c1")];
    const responses = async (answers: readonly { json: { job_id: string } }[]) =>
      Promise.all(answers.map(async ({ json }) => (await completed(webhook, json.job_id)).response));
    expect(await responses(jobs)).toEqual(["turn 1", "turn 2", "turn 3"]);
    expect(await responses(others)).toEqual(["turn 1", "turn 1"]);
    expect(JSON.stringify(model.requests[0])).toContain("T-77");
  });

  test("a job that failed is completed, with error beside a response that says so in words", async () => {
    const model = await scriptedModel();
    model.otherwise({ status: 400 });
    const webhook = await bootWebhook(scripted(model));
    const { json } = await webhook.post(HELLO);
    const job = await completed(webhook, json.job_id);
    expect(job).toMatchObject({
      status: "completed",
      error: { code: expect.any(String), message: expect.any(String) },
      response: expect.stringMatching(/./),
    });
    const { json: waited } = await webhook.post(HELLO, { prefer: "wait=60" });
    expect(waited).toMatchObject({ status: "completed", error: job.error });
  });

  test("§3.1 a job is queued, then running, then completed; a wait that is over answers it as it is", async () => {
    const model = await scriptedModel();
    model.otherwise({ text: ["thinking"], end: "stall" });
    const webhook = await bootWebhook(scripted(model));
    const { json } = await webhook.post(HELLO, { prefer: "wait=1" });
    // A busy machine may not have begun it by then.
    expect(json).toEqual({
      job_id: expect.stringMatching(UUID),
      status: expect.stringMatching(/^(?:queued|running)$/),
    });
    await expect
      .poll(async () => (await webhook.get(`/jobs/${json.job_id}`)).json)
      .toEqual({ id: json.job_id, status: "running", created_at: expect.any(String) });
    await webhook.kernel.service("jobs").cancel(json.job_id);
    expect(await completed(webhook, json.job_id)).toMatchObject({ error: { code: "cancelled" } });
  });

  test("unknown fields never matter, and an optional field may be null", async () => {
    const webhook = await bootWebhook();
    const { status } = await webhook.post({ ...HELLO, conversation_id: null, metadata: null, extra: [1] });
    expect(status).toBe(200);
  });
});

describe("§7.1 400: the body", () => {
  const cases: readonly (readonly [string, unknown, string, string?])[] = [
    ["no JSON at all", "{", "invalid_json"],
    ["an empty body", "", "invalid_json"],
    ["bytes that are not UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), "invalid_json"],
    ["an array", [], "invalid_body"],
    ["null", null, "invalid_body"],
    ["a string", '"hello"', "invalid_body"],
    ["user_id missing", { message: "hello" }, "invalid_field", "user_id"],
    ["user_id empty", { ...HELLO, user_id: "" }, "invalid_field", "user_id"],
    ["user_id a number", { ...HELLO, user_id: 7 }, "invalid_field", "user_id"],
    ["user_id longer than 256", { ...HELLO, user_id: "a".repeat(257) }, "invalid_field", "user_id"],
    ["user_id with a line break", { ...HELLO, user_id: "a\nb" }, "invalid_field", "user_id"],
    ["user_id that turns text around", { ...HELLO, user_id: "ann\u202e" }, "invalid_field", "user_id"],
    [
      "user_id with an escape for terminals",
      { ...HELLO, user_id: "ann\u009b2J" },
      "invalid_field",
      "user_id",
    ],
    ["message missing", { user_id: "ada" }, "invalid_field", "message"],
    ["message blank", { ...HELLO, message: " \n" }, "invalid_field", "message"],
    ["message an object", { ...HELLO, message: {} }, "invalid_field", "message"],
    ["message with a NUL", { ...HELLO, message: "a\0b" }, "invalid_field", "message"],
    ["conversation_id a number", { ...HELLO, conversation_id: 1 }, "invalid_field", "conversation_id"],
    ["conversation_id empty", { ...HELLO, conversation_id: "" }, "invalid_field", "conversation_id"],
    ["metadata an array", { ...HELLO, metadata: [] }, "invalid_field", "metadata"],
    ["metadata a string", { ...HELLO, metadata: "x" }, "invalid_field", "metadata"],
    [
      "metadata nested so deep that walking it would overflow",
      `{"user_id":"ada","message":"hi","metadata":{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}}`,
      "invalid_field",
      "metadata",
    ],
  ];
  test.for(cases)("%s", async ([, body, code, param]) => {
    const webhook = await bootWebhook();
    expectError(await webhook.post(body), 400, code, param);
  });

  test("an Idempotency-Key of more than 255 characters", async () => {
    const webhook = await bootWebhook();
    const answer = await webhook.post(HELLO, { "idempotency-key": "k".repeat(256) });
    expectError(answer, 400, "invalid_field", "Idempotency-Key");
  });
});

describe("§5 the secret", () => {
  test("a missing or wrong secret gives 401, on POST /webhook and on GET /jobs/{job_id}", async () => {
    const webhook = await bootWebhook();
    const { json } = await webhook.post(HELLO);
    const path = `/jobs/${json.job_id}`;
    expectError(await webhook.post(HELLO, { "x-webhook-secret": "" }), 401, "missing_secret");
    expectError(await webhook.post(HELLO, { "x-webhook-secret": "wrong" }), 401, "invalid_secret");
    expectError(await webhook.post(HELLO, { "x-webhook-secret": `${SECRET}x` }), 401, "invalid_secret");
    expectError(await webhook.get(path, {}), 401, "missing_secret");
    expectError(await webhook.get(path, { "x-webhook-secret": "wrong" }), 401, "invalid_secret");
    expect((await webhook.get(path)).status).toBe(200);
  });

  test("a secret beyond ASCII is accepted in UTF-8, as curl sends it, and in Latin-1, as fetch does", async () => {
    const secret = "schlüssel-für-die-tür";
    const webhook = await bootWebhook({ HTTP_WEBHOOK_SECRET: secret });
    const utf8 = Buffer.from(secret).toString("latin1");
    // Beside a body of text Node would write the headers in that text's encoding.
    const send = (given: string) =>
      webhook.post(Buffer.from(JSON.stringify(HELLO)), { "x-webhook-secret": given });
    for (const given of [utf8, secret]) expect((await send(given)).status).toBe(200);
    for (const wrong of ["schlussel-fur-die-tur", `${utf8}!`])
      expectError(await send(wrong), 401, "invalid_secret");
  });

  test("an unknown job is 401 without the secret, so that nobody can probe for ids", async () => {
    const webhook = await bootWebhook();
    expectError(await webhook.get("/jobs/0c9c2a52-6b1d-4f6e-8a44-3c1f7a0f8d11", {}), 401, "missing_secret");
  });

  test("X-Hub-Signature-256 of the raw body is accepted in place of the secret", async () => {
    const webhook = await bootWebhook();
    // Spacing and escapes that a parser would lose: the signature covers the bytes.
    const body = '{ "user_id":"ada",\r\n "message" : "h\\u00e9 – ü 🦊" }';
    const headers = { "x-webhook-secret": "", "x-hub-signature-256": signature(body) };
    expect((await webhook.post(body, headers)).status).toBe(200);
    expectError(await webhook.post(`${body} `, headers), 401, "invalid_secret");
    for (const wrong of [signature(body, "other"), "sha256=", "sha1=00", signature(body).slice(7)]) {
      const answer = await webhook.post(body, { ...headers, "x-hub-signature-256": wrong });
      expectError(answer, 401, "invalid_secret");
    }
  });

  test("a body signed with X-Hub-Signature-256 is one job for a day, whatever its delivery is called", async () => {
    const webhook = await bootWebhook();
    const body = JSON.stringify(HELLO);
    const send = (more: Record<string, string>) =>
      webhook.post(body, { "x-webhook-secret": "", "x-hub-signature-256": signature(body), ...more });
    const first = await send({ "x-github-delivery": "one" });
    for (const more of [{ "x-github-delivery": "two" }, { "idempotency-key": "three" }, {}])
      expect((await send(more as Record<string, string>)).json.job_id).toBe(first.json.job_id);
    const other = JSON.stringify({ ...HELLO, message: "other" });
    const headers = { "x-webhook-secret": "", "x-hub-signature-256": signature(other) };
    const reused = await webhook.post(other, { ...headers, "x-github-delivery": "one" });
    expectError(reused, 422, "idempotency_key_reused", "Idempotency-Key");
    expect((await webhook.post(other, headers)).json.job_id).not.toBe(first.json.job_id);
  });

  test.for([SECRET, `whsec_${Buffer.from("0123456789abcdef01234567").toString("base64")}`, "whsec_!"])(
    "Standard Webhooks' signature is accepted in place of the secret, and webhook-id is the key: %s",
    async (secret) => {
      const webhook = await bootWebhook({ HTTP_WEBHOOK_SECRET: secret });
      const send = (body: unknown, how: Parameters<typeof standardHeaders>[2] = {}) => {
        const text = JSON.stringify(body);
        return webhook.post(text, { "x-webhook-secret": "", ...standardHeaders(text, secret, how) });
      };
      const first = await send(HELLO, { id: "msg_1" });
      expect(first.status).toBe(200);
      expect((await send(HELLO, { id: "msg_1" })).json.job_id).toBe(first.json.job_id);
      expect((await send(HELLO, { id: "msg_2" })).json.job_id).not.toBe(first.json.job_id);
      expectError(
        await send({ ...HELLO, extra: 1 }, { id: "msg_1" }),
        422,
        "idempotency_key_reused",
        "Idempotency-Key",
      );
      // It takes a moment to arrive, on a busy machine a long one.
      for (const off of [-301, 330])
        expectError(await send(HELLO, { id: "msg_3", offSecs: off }), 401, "stale_timestamp");
      expect((await send(HELLO, { id: "msg_4", offSecs: -290 })).status).toBe(200);
      const text = JSON.stringify(HELLO);
      const signed = { "x-webhook-secret": "", ...standardHeaders(text, secret, { id: "msg_5" }) };
      const changes: Record<string, string>[] = [
        { "webhook-id": "msg_6" },
        { "webhook-id": "" },
        { "webhook-signature": "v1,AAAA" },
      ];
      for (const change of changes)
        expectError(await webhook.post(text, { ...signed, ...change }), 401, "invalid_secret");
      expectError(await webhook.post(`${text} `, signed), 401, "invalid_secret");
      expectError(await webhook.get("/jobs/x", signed), 401, "missing_secret");
    },
  );

  test("a right signature does not excuse a wrong secret beside it", async () => {
    const webhook = await bootWebhook();
    const body = JSON.stringify(HELLO);
    const answer = await webhook.post(body, {
      "x-webhook-secret": "wrong",
      "x-hub-signature-256": signature(body),
    });
    expectError(answer, 401, "invalid_secret");
  });

  test("a signature proves nothing on a request without a body", async () => {
    const webhook = await bootWebhook();
    const answer = await webhook.get("/jobs/x", { "x-hub-signature-256": signature("") });
    expectError(answer, 401, "missing_secret");
  });

  test("where none is set the channel listens, refuses everything, and says so here and at start-up", async () => {
    const webhook = await bootWebhook({ HTTP_WEBHOOK_SECRET: undefined });
    for (const secret of ["", "undefined", SECRET]) {
      const answer = await webhook.post(HELLO, { "x-webhook-secret": secret });
      expectError(answer, 401, "secret_not_configured");
      expect(answer.json.error.message).toContain("HTTP_WEBHOOK_SECRET");
    }
    const [state] = webhook.kernel.states.filter(({ name }) => name === "webhook");
    expect(state).toMatchObject({
      on: true,
      detail: expect.stringContaining("HTTP_WEBHOOK_SECRET is not set"),
    });
  });
});

describe("§8 size and type", () => {
  test("a body of exactly 64 KB is taken, one byte more is 413", async () => {
    const webhook = await bootWebhook();
    expect((await webhook.post(sized(KB64))).status).toBe(200);
    expectError(await webhook.post(sized(KB64 + 1)), 413, "body_too_large");
  });

  test("a chunked body that never says its length is 413 as soon as it is over", async () => {
    const webhook = await bootWebhook();
    const chunked = { "transfer-encoding": "chunked" };
    expect((await webhook.post(sized(KB64), chunked)).status).toBe(200);
    expectError(await webhook.post(sized(KB64 * 4), chunked), 413, "body_too_large");
  });

  test.for([
    "text/plain",
    "",
    "application/x-www-form-urlencoded",
    "application/json; charset=utf-16",
    "nonsense",
  ])("the content type %j is 415", async (type) => {
    const webhook = await bootWebhook();
    expectError(await webhook.post(HELLO, { "content-type": type }), 415, "unsupported_media_type");
  });

  test.for(["application/json; charset=utf-8", "Application/JSON", 'application/json;charset="UTF-8"'])(
    "the content type %j is JSON",
    async (type) => {
      const webhook = await bootWebhook();
      expect((await webhook.post(HELLO, { "content-type": type })).status).toBe(200);
    },
  );

  test("a compressed body is 415, whatever it would unpack to", async () => {
    const webhook = await bootWebhook();
    expectError(await webhook.post(HELLO, { "content-encoding": "gzip" }), 415, "unsupported_media_type");
  });
});

describe("the order of checks: rate, size, content type, secret, body", () => {
  test("of several things wrong at once the earlier check answers", async () => {
    const webhook = await bootWebhook({ HTTP_RATE_LIMIT: "4" });
    const wrong = { "content-type": "text/plain", "x-webhook-secret": "wrong" };
    expectError(
      await webhook.post("x".repeat(KB64 + 1), { ...wrong, "transfer-encoding": "chunked" }),
      413,
      "body_too_large",
    );
    expectError(await webhook.post("{", wrong), 415, "unsupported_media_type");
    expectError(await webhook.post("{", { "x-webhook-secret": "wrong" }), 401, "invalid_secret");
    expectError(await webhook.post("{"), 400, "invalid_json");
    expectError(await webhook.post("x".repeat(KB64 + 1), wrong), 429, "rate_limit_exceeded");
  });
});

describe("§8 the rate", () => {
  test("60 requests a minute for each address by default; the next is 429 with retry-after", async () => {
    const webhook = await bootWebhook({ HTTP_RATE_LIMIT: undefined });
    for (let count = 0; count < 60; count++) expect((await webhook.get("/jobs/none")).status).toBe(404);
    const answer = await webhook.post(HELLO);
    expectError(answer, 429, "rate_limit_exceeded");
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
    expect(Number(answer.headers["retry-after"])).toBeLessThanOrEqual(60);
    expect(answer.headers["x-ratelimit-limit"]).toBe("60");
    expect(answer.headers["x-ratelimit-remaining"]).toBe("0");
  });

  test("X-Forwarded-For is not believed from a stranger", async () => {
    const webhook = await bootWebhook({ HTTP_RATE_LIMIT: "2" });
    const from = (address: string) => webhook.post(HELLO, { "x-forwarded-for": address });
    expect([(await from("1.1.1.1")).status, (await from("2.2.2.2")).status]).toEqual([200, 200]);
    expect((await from("3.3.3.3")).status).toBe(429);
  });

  test("behind a trusted proxy each client has its own rate, and cannot forge another's", async () => {
    const webhook = await bootWebhook({ HTTP_RATE_LIMIT: "1", TRUSTED_PROXIES: "127.0.0.0/8, 10.0.0.7" });
    const from = async (forwarded: string) =>
      (await webhook.post(HELLO, { "x-forwarded-for": forwarded })).status;
    expect(await from("1.1.1.1")).toBe(200);
    expect(await from("1.1.1.1")).toBe(429);
    expect(await from("2.2.2.2, 10.0.0.7")).toBe(200);
    // The client wrote 9.9.9.9 itself; the proxy appended where it really came from.
    expect(await from("9.9.9.9, 1.1.1.1")).toBe(429);
    expect(await from("::ffff:1.1.1.1")).toBe(429);
  });
});

describe("paths", () => {
  test("an unknown job is 404, with the envelope", async () => {
    const webhook = await bootWebhook();
    expectError(
      await webhook.get("/jobs/0c9c2a52-6b1d-4f6e-8a44-3c1f7a0f8d11"),
      404,
      "job_not_found",
      "job_id",
    );
  });

  test("an unknown path is 404 and a wrong method is 405 with Allow", async () => {
    const webhook = await bootWebhook();
    expectError(await webhook.get("/nowhere"), 404, "not_found");
    for (const path of ["/webhook/%E0%A4%A", "/webhook/a/b", "/jobs/%"]) {
      const { status } = await webhook.send({ method: "POST", path });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
    }
    const answer = await webhook.get("/webhook");
    expectError(answer, 405, "method_not_allowed");
    expect(answer.headers.allow).toContain("POST");
    const deleted = await webhook.send({ method: "DELETE", path: "/jobs/x" });
    expectError(deleted, 405, "method_not_allowed");
    expect(deleted.headers.allow).toContain("GET");
  });
});
