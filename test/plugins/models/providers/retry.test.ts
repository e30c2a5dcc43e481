import { expect, test } from "vitest";
import { createMask } from "../../../../kernel/mask/mask.ts";
import { Fault } from "../../../../kernel/plugin.ts";
import { SILENT } from "../../../../kernel/silent-telemetry.ts";
import { createObservers } from "../../../../plugins/agent/live/observer.ts";
import type { Turn } from "../../../../plugins/agent/services.ts";
import { createProviderModel } from "../../../../plugins/models/providers/provider.ts";
import { streamSteadily } from "../../../../plugins/models/providers/retry.ts";
import type { Model, ModelPart, ModelRequest } from "../../../../plugins/models/services.ts";
import { scriptedModel } from "../../../support/services/agent.ts";

type Play = (attempt: number, signal: AbortSignal) => AsyncGenerator<readonly ModelPart[]>;

function playing(name: string, play: Play): Model & { attempts: number } {
  const model = {
    name: { provider: "test", name },
    window: 1000,
    takes: new Set<never>(),
    formats: new Set<never>(),
    attempts: 0,
    stream(_request: unknown, signal: AbortSignal) {
      model.attempts += 1;
      return play(model.attempts, signal);
    },
  };
  return model;
}

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
const TURN: Turn = { user: "ann", channel: "test", input: { type: "message", text: "Hello" } };

async function run(
  models: readonly Model[],
  options: {
    stallMillis?: number;
    signal?: AbortSignal;
    request?: Partial<ModelRequest>;
    onNotice?: () => void;
    patienceSecs?: number;
    /** Tokens that the request cannot do without. */
    least?: number;
  } = {},
) {
  const notices: string[] = [];
  const served: string[] = [];
  const parts: ModelPart[] = [];
  let signs = 0;
  const request = { system: "", messages: [], tools: [], temperature: undefined, ...options.request };
  const requestFor = async ({ window }: Model) => {
    if (window < (options.least ?? 0)) throw fails("too_long");
    return { ...request, system: `${window}` };
  };
  const stream = streamSteadily(models, requestFor, {
    signal: options.signal ?? new AbortController().signal,
    notice: (code) => {
      notices.push(code);
      options.onNotice?.();
    },
    alive: () => void signs++,
    observer: createObservers(SILENT, createMask(), QUIET).turn(TURN, { id: "turn", thread: "thread" }),
    onModel: ({ name }) => served.push(name.name),
    pauseMillis: 1,
    ...(options.stallMillis && { stallMillis: options.stallMillis }),
    ...(options.patienceSecs && { patienceSecs: options.patienceSecs }),
  });
  const end = await (async () => {
    try {
      for await (const some of stream) parts.push(...some);
      return undefined;
    } catch (error) {
      return error;
    }
  })();
  return { notices, served, parts, signs, error: end };
}

const fails = (code: string) => new Fault("turn", code, `it is ${code}.`);

test("says so each time nothing has come for long, and goes on waiting", async () => {
  const told = Promise.withResolvers<void>();
  const slow = playing("slow", async function* () {
    await told.promise;
    yield [{ type: "text", delta: "at last" }];
  });
  let count = 0;
  const onNotice = () => {
    if (++count === 2) told.resolve();
  };
  const { notices, parts } = await run([slow], { stallMillis: 5, onNotice });
  expect(new Set(notices)).toEqual(new Set(["model_stalled"]));
  expect(parts).toEqual([{ type: "text", delta: "at last" }]);
});

test("a model that thinks before it speaks is alive, and may still be tried again", async () => {
  const thinker = playing("thinker", async function* (attempt) {
    yield [];
    if (attempt === 1) throw fails("model_cut");
    yield [{ type: "text", delta: "so" }];
  });
  const { signs, parts, error } = await run([thinker]);
  expect({ signs, parts, error }).toEqual({
    signs: 3,
    parts: [{ type: "text", delta: "so" }],
    error: undefined,
  });
});

test("thoughts are passed on, and those of another try are a paragraph of their own", async () => {
  const thinker = playing("thinker", async function* (attempt) {
    yield [{ type: "reasoning", delta: `Try ${attempt}.` }];
    if (attempt === 1) throw fails("model_cut");
    yield [{ type: "text", delta: "so" }];
  });
  const { parts, notices, error } = await run([thinker]);
  expect({ notices, error }).toEqual({ notices: ["model_retry"], error: undefined });
  expect(parts).toEqual([
    { type: "reasoning", delta: "Try 1." },
    { type: "reasoning", delta: "\n\n" },
    { type: "reasoning", delta: "Try 2." },
    { type: "text", delta: "so" },
  ]);
});

test("a format that the provider refuses is told in words, at once and without a notice", async () => {
  const server = await scriptedModel();
  server.script({ status: 400, error: { message: "This response_format type is unavailable now" } });
  const model = createProviderModel({
    provider: "openai-compatible",
    name: "m",
    baseUrl: server.url,
    key: undefined,
    window: 1000,
  });
  const format = { type: "json_schema", name: "x", schema: { type: "object" }, strict: true } as const;
  const { parts, notices } = await run([model], { request: { format } });
  expect({ notices, first: parts[0] }).toEqual({ notices: [], first: { type: "text", delta: "ok" } });
  expect(server.requests.map((request) => "response_format" in request)).toEqual([true, false]);
  expect(server.requests[1]?.messages[0]?.content).toMatch(
    /only with JSON that matches.*\n\{"type":"object"\}$/,
  );
});

test("tries again until the first token has come, never after", async () => {
  const flaky = playing("flaky", async function* (attempt) {
    if (attempt < 3) throw fails("model_error");
    yield [{ type: "text", delta: "half" }];
    throw fails("model_cut");
  });
  const { notices, error } = await run([flaky]);
  expect(flaky.attempts).toBe(3);
  expect(notices).toEqual(["model_retry", "model_retry"]);
  expect(error).toMatchObject({ code: "model_cut" });
});

test("gives up after four tries and goes on to the next model; the last one's failure is told", async () => {
  const down = (name: string) =>
    playing(name, async function* (attempt) {
      if (attempt > 0) throw fails("model_unreachable");
      yield [{ type: "text", delta: "never" }];
    });
  const [one, two] = [down("one"), down("two")];
  const { served, notices, error } = await run([one, two]);
  expect([one.attempts, two.attempts]).toEqual([4, 4]);
  expect(served).toEqual(["one", "two"]);
  expect(notices.filter((code) => code === "model_failover")).toHaveLength(1);
  expect(error).toMatchObject({ code: "model_unreachable" });
});

test("an abort ends the wait even where the model does not look at its signal", async () => {
  const stopper = new AbortController();
  const deaf = playing("deaf", async function* () {
    setImmediate(() => stopper.abort(new Error("stop")));
    await new Promise(() => {});
    yield [{ type: "text", delta: "never" }];
  });
  const { error } = await run([deaf], { signal: stopper.signal });
  expect(error).toMatchObject({ message: "stop" });
});

const declining = (name: string, ...before: ModelPart[]) =>
  playing(name, async function* () {
    const why = { code: "model_declined", message: "The model declined to answer (cyber)." } as const;
    const usage = { inputTokens: 5, outputTokens: 1, cachedTokens: 0, reasoningTokens: 0 };
    yield [...before, { type: "finish", reason: "content_filter", why }, { type: "usage", ...usage }];
  });

test("if a model declines, the next one is asked; the last one's word counts, and is told", async () => {
  const other = playing("two", async function* () {
    yield [{ type: "text", delta: "Sure." }];
  });
  const first = await run([declining("one"), other]);
  expect(first).toMatchObject({ served: ["one", "two"], notices: ["model_failover"] });
  // What it cost is counted all the same.
  expect(first.parts.map(({ type }) => type)).toEqual(["usage", "text"]);
  const last = await run([declining("one")]);
  expect(last.notices).toEqual(["model_declined"]);
  expect(last.parts).toMatchObject([{ type: "finish", reason: "content_filter" }, { type: "usage" }]);
  const midway = await run([declining("one", { type: "text", delta: "Well, " }), other]);
  expect(midway).toMatchObject({ served: ["one"], notices: ["model_declined"] });
});

test.each([
  [
    "OpenAI's",
    "This model's maximum context length is 6000 tokens. However, you requested 9000.",
    6000,
    6000,
  ],
  ["Anthropic's", "prompt is too long: 9000 tokens > 90000 maximum", 7500, 10_000],
  ["llama.cpp's", "the request exceeds the available context size", 7500, 10_000],
  ["repeated", "Too long: 'its maximum context length is 100'", 7500, 10_000],
])(
  "what is too long in %s words is asked again with less; only a window that the server names is kept",
  async (_, message, window, later) => {
    const server = await scriptedModel();
    server.script({ status: 400, error: { message } });
    const model = createProviderModel({
      provider: "openai-compatible",
      name: "m",
      baseUrl: server.url,
      key: undefined,
      window: 10_000,
    });
    expect(await run([model])).toMatchObject({ notices: ["model_shortened"], error: undefined });
    await run([model]);
    const asked = server.requests.map(({ messages }) => Number(messages[0]?.content));
    expect(asked).toEqual([10_000, window, later]);
  },
);

test("a conversation that stays too long for the server ends with the code that callers know", async () => {
  const server = await scriptedModel();
  server.otherwise({ status: 400, error: { message: "prompt is too long" } });
  const settings = { provider: "openai-compatible", name: "m", baseUrl: server.url, key: undefined } as const;
  const { error } = await run([createProviderModel({ ...settings, window: 1000 })]);
  expect(error).toMatchObject({ code: "too_long" });
});

test.each([
  ["from the start", 2000, 0],
  ["after its server refused it", 900, 1],
])("a conversation that does not fit a model %s goes to a larger one", async (_, least, attempts) => {
  const small = playing("small", async function* () {
    yield* [];
    throw fails("too_long");
  });
  const answering = playing("large", async function* () {
    yield [{ type: "text", delta: "Sure." }];
  });
  const large = { ...answering, window: 5000 };
  const { parts, notices, served, error } = await run([small, large], { least });
  expect({ parts, error }).toEqual({ parts: [{ type: "text", delta: "Sure." }], error: undefined });
  expect(small.attempts).toBe(attempts);
  expect([notices.at(-1), served.at(-1)]).toEqual(["model_failover", "large"]);
  expect((await run([small], { least })).error).toMatchObject({ code: "too_long" });
});

test("an answer for which no room was left is asked for again with less; one that was cut is told", async () => {
  const why = {
    code: "model_window_full",
    message: "The answer was cut: the model's context window is full.",
  } as const;
  const full = playing("full", async function* (attempt) {
    if (attempt === 2) yield [{ type: "text", delta: "Half" }];
    yield [{ type: "finish", reason: "length", why }];
  });
  const { notices, parts } = await run([full]);
  expect(notices).toEqual(["model_shortened", "model_window_full"]);
  expect(parts).toMatchObject([{ type: "text" }, { type: "finish", reason: "length" }]);
});

const HOUR = 3_600_000;
const inAnHour = () => new Date(Date.now() + HOUR).toISOString();

test.each([
  [{ "retry-after-ms": "3600000" }, {}],
  [{ "anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": inAnHour() }, {}],
  [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "59m59s900ms" }, {}],
  [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(Date.now() + HOUR) }, {}],
  [{ "x-ratelimit-remaining-tokens": "7", "x-ratelimit-reset-tokens": "6m0s", "retry-after": "3600" }, {}],
  [{ "retry-after": inAnHour() }, {}],
  [{}, { details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "3600s" }] }],
])("how long a limit lasts is said and waited for: %j %j", async (headers, more) => {
  const server = await scriptedModel();
  server.otherwise({ status: 429, headers, error: { message: "Too fast.", ...more } });
  const settings = { provider: "openai-compatible", name: "m", baseUrl: server.url, key: undefined } as const;
  const model = createProviderModel({ ...settings, window: 1000 });
  // Nobody waits longer than the turn may be silent.
  const { error, notices } = await run([model], { patienceSecs: 600 });
  expect(notices).toEqual([]);
  expect(error).toMatchObject({
    code: "model_limited",
    message: expect.stringMatching(/is rate limited \(try again in (?:60|5\d) min\): Too fast\./),
  });
});

test("a wait that cannot be read is not told", async () => {
  const server = await scriptedModel();
  const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1.2.3s" };
  server.otherwise({ status: 429, headers, error: { message: "Too fast." } });
  const settings = { provider: "openai-compatible", name: "m", baseUrl: server.url, key: undefined } as const;
  const { error } = await run([createProviderModel({ ...settings, window: 1000 })]);
  expect(error).toMatchObject({ message: expect.stringContaining("is rate limited: Too fast.") });
});

test("waits out a long rate limit if no other model is left", async () => {
  const limited = () =>
    playing("limited", async function* () {
      yield* [];
      throw new Fault("turn", "model_limited", "It is limited.", { retryAfterSecs: 40 });
    });
  const stopper = new AbortController();
  const onNotice = () => stopper.abort(new Error("seen"));
  const alone = await run([limited()], { patienceSecs: 500, signal: stopper.signal, onNotice });
  expect(alone.notices).toEqual(["model_retry"]);
  const two = await run([limited(), declining("other")], { patienceSecs: 500 });
  expect(two.notices).toEqual(["model_failover", "model_declined"]);
});
