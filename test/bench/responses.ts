/** The Responses API with a model that answers at once: turns a second, what it adds to the first token, and 500 streams. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { freePort } from "../support/servers/port.ts";
import {
  CALLERS,
  type Endpoint,
  firstText,
  post,
  REQUESTS,
  script,
  TOKEN,
  throughput,
} from "./responses/load.ts";
import { type Bench, compare, type Figure, interleave, type Progress, single } from "./support/bench.ts";
import { endProgram, inFolder, type Program, startProgram } from "./support/programs.ts";
import { openRivals, type Rivals } from "./support/rivals.ts";

const ROUNDS = 5;
const FIRST_TOKENS = 60;
const STREAMS = 500;
/** What a turn answers where turns are counted. */
const SHORT = ["It has ", "shipped."];
/** What a stream says, long enough that all of them are open at once. */
const WORDS = Array.from({ length: 20 }, (_, index) => `word${index} `);

const PORTKEY = "@portkey-ai/gateway";
const PATIENCE_MS = 20_000;

async function memoryOf({ child }: Program): Promise<number> {
  child.send("memory");
  const [{ rss }] = (await once(child, "message")) as [{ rss: number }];
  return rss;
}

/** Portkey's gateway, which passes a chat on to the provider that a header names. */
async function startPortkey(rivals: Rivals, model: Program): Promise<Program & Endpoint> {
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [rivals.find(`${PORTKEY}/build/start-server.js`), "--headless", `--port=${port}`],
    {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      env: { PATH: process.env["PATH"] ?? "", NODE_ENV: "production" },
    },
  );
  const url = `http://127.0.0.1:${port}`;
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(50))
    if (await fetch(url).catch(() => undefined)) break;
  const headers = { "x-portkey-provider": "openai", "x-portkey-custom-host": model.url };
  return { url: `${url}/v1/chat/completions`, headers, child };
}

async function askModel({ child }: Program): Promise<number> {
  child.send("go");
  const [{ perSecond }] = (await once(child, "message")) as [{ perSecond: number }];
  return perSecond;
}

interface Programs {
  readonly model: Program;
  readonly service: Program;
  readonly echo: Program;
  readonly ask: Program;
  readonly portkey: (Program & Endpoint) | undefined;
}

const CHAT = { model: "scripted", messages: [{ role: "user", content: "Where is order 7?" }], stream: true };

async function measureThroughput(
  { model, service, echo, ask, portkey }: Programs,
  progress: Progress,
): Promise<Figure[]> {
  const body = { model: "any", input: "Where is order 7?", temperature: 0.5, metadata: { ticket: "7" } };
  const isAnswer = (text: string) =>
    text.includes('"status":"completed"') && text.includes("It has shipped.");
  const isEcho = (text: string) => text === JSON.stringify(body);
  const isChat = (text: string) => text.includes("shipped.") && text.includes("[DONE]");
  await script(model, { text: SHORT });
  const contestants = {
    "bare Koa route": () => throughput(echo, body, isEcho),
    "the model asked by the AI SDK, and nothing else": () => askModel(ask),
    ...(portkey && { "passed on by Portkey's gateway": () => throughput(portkey, CHAT, isChat) }),
    "turns, 32 callers": () => throughput(service, body, isAnswer),
  };
  // A first round of each that does not count: what has just begun is not compiled yet.
  for (const contestant of Object.values(contestants)) await contestant();
  const samples = await interleave(contestants, ROUNDS, progress);
  const goal = { words: "≥ 1/8 of the route", met: (ratio: number) => ratio >= 1 / 8 };
  return compare(samples, { unit: "/s", goals: { "turns, 32 callers": goal } });
}

async function measureFirstText(
  { model, service, portkey }: Programs,
  progress: Progress,
): Promise<Figure[]> {
  await script(model, { text: WORDS });
  const direct = { url: `${model.url}/chat/completions` };
  const pools = new Map<string, Pool>();
  const first = (to: Endpoint, body: object) => () => {
    const { origin } = new URL(to.url);
    const pool = pools.get(origin) ?? new Pool(origin);
    pools.set(origin, pool);
    return firstText(pool, to, body);
  };
  const alone = "first token, model server alone";
  const samples = await interleave(
    {
      [alone]: first(direct, CHAT),
      ...(portkey && { "first token through Portkey's gateway": first(portkey, CHAT) }),
      "first text delta": first(service, { model: "any", input: "Hi", stream: true }),
    },
    FIRST_TOKENS,
    progress,
  );
  await Promise.all([...pools.values()].map((pool) => pool.close()));
  const [base] = compare(samples, { unit: "ms" });
  const goal = {
    words: "adds ≤ 10 ms",
    met: (_ratio: number, middle: number) => middle - (base?.median ?? 0) <= 10,
  };
  return compare(samples, { unit: "ms", goals: { "first text delta": goal } });
}

async function measureStreams(service: Program, model: Program): Promise<Figure[]> {
  const pool = new Pool(new URL(service.url).origin, { connections: STREAMS });
  const whole = `"text":"${WORDS.join("")}"`;
  let open = 0;
  const allOpen = Promise.withResolvers<void>();
  // Two seconds of words: when the last stream opens the first has long to go.
  await script(model, { text: WORDS, delay: 100 });
  const before = await memoryOf(service);
  const began = performance.now();
  const texts = Array.from({ length: STREAMS }, async (_, index) => {
    const { body } = await post(pool, service, { model: "any", input: `Stream ${index}`, stream: true });
    if (++open === STREAMS) allOpen.resolve();
    return body.text();
  });
  await allOpen.promise;
  const during = await memoryOf(service);
  const right = (await Promise.all(texts)).filter(
    (text) => text.includes("event: response.completed") && text.includes(whole),
  ).length;
  const seconds = (performance.now() - began) / 1000;
  await pool.close();
  const all = { words: "all", met: () => right === STREAMS };
  return [
    {
      ...single(`${STREAMS} streams at once, finished and right`, right, "streams", all),
      ratio: right / STREAMS,
    },
    single(`${STREAMS} streams, until the last has ended`, seconds, "s"),
    single("memory of an open stream", (during - before) / STREAMS / 1024, "KiB"),
  ];
}

export const bench: Bench = {
  name: "responses",
  about: "the Responses API with a scripted model that answers at once, store on disk",
  run: (progress) =>
    inFolder(async (home) => {
      const start = (file: string, ...args: string[]) =>
        startProgram(new URL(`./responses/${file}`, import.meta.url), ...args);
      const model = await start("model.ts");
      const rivals = await openRivals(progress);
      const programs: Programs = {
        model,
        service: await start("service.ts", home, model.url, TOKEN),
        echo: await start("echo.ts"),
        ask: await start("ask.ts", model.url, String(CALLERS), String(REQUESTS)),
        portkey: rivals && (await startPortkey(rivals, model)),
      };
      const { service, echo, ask, portkey } = programs;
      try {
        return [
          ...(await measureThroughput(programs, progress)),
          ...(await measureFirstText(programs, progress)),
          ...(await measureStreams(service, model)),
        ];
      } finally {
        portkey?.child.kill();
        await Promise.all([service, echo, ask].map(endProgram));
        await endProgram(model);
      }
    }),
};
