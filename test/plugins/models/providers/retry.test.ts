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
  } = {},
) {
  const notices: string[] = [];
  const served: string[] = [];
  const parts: ModelPart[] = [];
  let signs = 0;
  const request = { system: "", messages: [], tools: [], temperature: undefined, ...options.request };
  const stream = streamSteadily(models, async () => request, {
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
