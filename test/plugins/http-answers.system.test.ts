/** What goes wrong is answered by one table, and a limit in one vocabulary, on every channel that speaks HTTP. */
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import type { FaultKind } from "../../kernel/fault.ts";
import { createLog } from "../../kernel/log/log.ts";
import { createMask } from "../../kernel/mask/mask.ts";
import { createProxies } from "../../kernel/net/proxies.ts";
import { type AnyPlugin, Fault } from "../../kernel/plugin.ts";
import accounts from "../../plugins/accounts/plugin.ts";
import agentRoutes from "../../plugins/agent/routes/plugin.ts";
import gateway from "../../plugins/gateway/plugin.ts";
import responses from "../../plugins/responses/plugin.ts";
import store from "../../plugins/store/plugin.ts";
import { createApp } from "../../plugins/webhook/requests/app.ts";
import { createSenders } from "../../plugins/webhook/requests/senders.ts";
import { createScriptedAgent } from "../channel-contract/scripted-agent.ts";
import { bootKernel } from "../support/services/kernel.ts";
import { startService } from "../support/services/responses.ts";
import { bootWebhook, SECRET } from "../support/services/webhook.ts";

const TOKEN = "the-operator-of-the-table";

interface ErrorResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

type Channels = Readonly<Record<(typeof CHANNELS)[number], Send>>;
type Send = (body: BodyInit, headers?: Record<string, string>) => Promise<ErrorResponse>;

function sender(url: string, usual: Record<string, string>): Send {
  return async (body, headers) => {
    const all = { "content-type": "application/json", connection: "close", ...usual, ...headers };
    const answer = await fetch(url, { method: "POST", body, headers: all });
    const { error } = (await answer.json()) as Pick<ErrorResponse, "error">;
    return { status: answer.status, headers: answer.headers, error };
  };
}

/** Each channel with its real request path, in front of an agent or a queue that throws what the test wants. */
async function openChannels(thrown: { error: unknown }): Promise<Channels> {
  const agent = createScriptedAgent();
  agent.script = () => {
    throw thrown.error;
  };
  const kernel = await bootKernel(
    [store, agent.plugin, accounts, gateway, agentRoutes, responses] as readonly AnyPlugin[],
    {
      GATEWAY_PORT: "0",
      GATEWAY_AUTH_TOKEN: TOKEN,
    },
  );
  const { url } = kernel.service("web");
  const bearer = { authorization: `Bearer ${TOKEN}` };
  return {
    gateway: sender(`${url}/api/chat`, bearer),
    responses: sender(`${url}/api/v1/responses`, bearer),
    webhook: sender(await openWebhook(thrown), { "x-webhook-secret": SECRET }),
  };
}

async function openWebhook(thrown: { error: unknown }): Promise<string> {
  const verdict = async () => ({ ok: true, limit: 1000, windowSecs: 60, remaining: 1000, resetSecs: 1 });
  const app = createApp({
    jobs: { find: async () => undefined, wait: async () => undefined },
    userOf: { named: async (user) => ({ user }), fixed: async ({ user }) => ({ user }) },
    submit: async () => {
      throw thrown.error;
    },
    limiter: { take: verdict, peek: verdict },
    proxies: createProxies([]),
    senders: createSenders(SECRET, {
      find: async () => undefined,
      senders: async () => [],
      secretsOf: async () => [SECRET],
      markUsed: () => {},
    }),
    log: createLog("silent", createMask(), { pretty: false, write: () => {} }),
    stopping: new AbortController().signal,
  });
  const server = app.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/webhook`;
}

/** A model is a name for one of them, and none of the business of the others. */
const bodyFor = (channel: string) =>
  JSON.stringify({
    message: "Hi",
    user_id: "ada",
    input: "Hi",
    ...(channel.includes("responses") && { model: "any" }),
  });

const CHANNELS = ["gateway", "responses", "webhook"] as const;

/** By kind: what every channel answers, or each of the three. */
const TABLE: Readonly<
  Record<FaultKind, string | readonly [gateway: string, responses: string, webhook: string]>
> = {
  config: "500 server_error",
  invalid: "400 invalid_request_error",
  unauthenticated: ["401 authentication_error", "401 invalid_request_error", "401 authentication_error"],
  forbidden: ["403 permission_error", "403 invalid_request_error", "403 permission_error"],
  missing: "404 not_found_error",
  limited: "429 rate_limit_error",
  unavailable: "503 server_error",
  turn: ["200 turn_error", "500 server_error", "500 server_error"],
};

describe("a fault", () => {
  test("of each kind has the same status and type on each channel, but for the exceptions named here", async () => {
    const thrown: { error: unknown } = { error: undefined };
    const channels = await openChannels(thrown);
    for (const [kind, expected] of Object.entries(TABLE)) {
      const rows = typeof expected === "string" ? CHANNELS.map(() => expected) : expected;
      for (const [at, channel] of CHANNELS.entries()) {
        thrown.error = new Fault(kind as FaultKind, "some_code", "Some words.", { param: "field" });
        const { status, error, headers } = await channels[channel](bodyFor(channel));
        expect([kind, channel, `${status} ${error.type}`]).toEqual([kind, channel, rows[at]]);
        expect(error).toEqual({
          message: "Some words.",
          type: error.type,
          param: "field",
          code: "some_code",
        });
        expect(headers.get("retry-after"), kind).toBe(kind === "limited" ? "1" : null);
      }
    }
  });

  test("says when to come back, and a bug says nothing of itself", async () => {
    const thrown: { error: unknown } = {
      error: new Fault("unavailable", "x", "Later.", { retryAfterSecs: 7 }),
    };
    const channels = await openChannels(thrown);
    for (const channel of CHANNELS) {
      const { headers } = await channels[channel](bodyFor(channel));
      expect(headers.get("retry-after")).toBe("7");
    }
    thrown.error = new TypeError("the secret plan");
    const bugs = await Promise.all(CHANNELS.map((channel) => channels[channel](bodyFor(channel))));
    expect(new Set(bugs.map((answer) => JSON.stringify(answer.error))).size).toBe(1);
    expect(bugs[0]).toMatchObject({
      status: 500,
      error: { type: "server_error", code: "internal_error", param: null },
    });
    expect(JSON.stringify(bugs)).not.toContain("secret plan");
  });

  test("that the web framework found is put into the same words", async () => {
    const channels = await openChannels({ error: undefined });
    const known = async (channel: keyof Channels, ...sent: Parameters<Send>) => {
      const { status, error } = await channels[channel](...sent);
      expect(error).toMatchObject({
        type: "invalid_request_error",
        param: null,
        message: expect.stringMatching(/\.$/),
      });
      return `${status} ${error.code}`;
    };
    const large = JSON.stringify("x".repeat(14 * 2 ** 20));
    for (const channel of CHANNELS) expect(await known(channel, large)).toBe("413 body_too_large");
    for (const channel of ["gateway", "responses"] as const) {
      expect(await known(channel, "{")).toBe("400 bad_request");
      const packed = await known(channel, gzipSync(bodyFor(channel)), { "content-encoding": "gzip" });
      expect(packed).toBe("415 unsupported_media_type");
    }
    for (const channel of ["gateway", "webhook"] as const)
      expect(await known(channel, bodyFor(channel), { "content-type": "text/plain" })).toBe(
        "415 unsupported_media_type",
      );
  });
});

describe("§8 a rate limit", () => {
  const REQUESTS = ["limit", "remaining", "reset"].map((name) => `x-ratelimit-${name}-requests`);

  test("answers with one code, the same headers and when the next request may come", async () => {
    const service = await startService({ variables: { CHAT_RATE_LIMIT: "1" } });
    const webhook = await bootWebhook({ HTTP_RATE_LIMIT: "1" });
    const post = (path: string, token: string) =>
      sender(`${service.url}${path}`, { authorization: `Bearer ${token}` });
    const senders = {
      "/api/chat": post("/api/chat", await service.tokenOf("ann")),
      "/api/chat/send": post("/api/chat/send", await service.tokenOf("ben")),
      "/api/v1/responses": post("/api/v1/responses", await service.tokenOf("cleo")),
      webhook: sender(`${webhook.url}/webhook`, { "x-webhook-secret": SECRET }),
    };
    for (const [name, send] of Object.entries(senders)) {
      const first = await send(bodyFor(name));
      const refused = await send(bodyFor(name));
      for (const { headers } of [first, refused]) {
        expect([name, headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]).toEqual([
          name,
          "1",
          "0",
        ]);
        expect(headers.get("x-ratelimit-reset")).toMatch(/^\d+$/);
      }
      expect(refused).toMatchObject({
        status: 429,
        error: { type: "rate_limit_error", code: "rate_limit_exceeded" },
      });
      expect(refused.headers.get("retry-after")).toBe(refused.headers.get("x-ratelimit-reset"));
      expect(refused.error.message).toMatch(
        /^The rate limit of 1 request a minute is reached; next request in \d+ s\.$/,
      );
      const named = REQUESTS.map((header) => refused.headers.get(header));
      if (name === "/api/v1/responses") expect(named).toEqual(["1", "0", expect.stringMatching(/^\d+s$/)]);
      else expect(named).toEqual([null, null, null]);
    }
  });
});
