/**
 * The Responses API with a scripted model that answers at once and the durable store on: turns a second
 * beside a bare Koa route, what it adds to the first token, and five hundred streams at once.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Dispatcher, Pool } from "undici";
import { type ModelServer, startModelServer } from "../support/model-server.ts";
import { type Bench, type Figure, interleave, median, spread } from "./bench.ts";

const TOKEN = "the-token-of-the-bench";
const HEADERS = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
const CALLERS = 32;
const REQUESTS = 640;
const ROUNDS = 5;
const FIRST_TOKENS = 60;
const STREAMS = 500;
/** What a turn answers where turns are counted. */
const SHORT = ["It has ", "shipped."];
/** What a stream says, long enough that all of them are open at once. */
const WORDS = Array.from({ length: 20 }, (_, index) => `word${index} `);

interface Program {
  readonly url: string;
  readonly child: ChildProcess;
}

async function start(program: URL, ...args: string[]): Promise<Program> {
  const child = fork(fileURLToPath(program), args, {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    execArgv: ["--expose-gc"],
  });
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  return { url, child };
}

async function memoryOf({ child }: Program): Promise<number> {
  child.send("memory");
  const [{ rss }] = (await once(child, "message")) as [{ rss: number }];
  return rss;
}

async function post(pool: Pool, url: string, body: object): Promise<Dispatcher.ResponseData> {
  const answer = await pool.request({
    path: new URL(url).pathname,
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify(body),
  });
  if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode} ${await answer.body.text()}`);
  return answer;
}

/** Requests a second, so many callers at once, each waiting for its answer. */
async function throughput(url: string, body: object, check: (text: string) => boolean): Promise<number> {
  const pool = new Pool(new URL(url).origin, { connections: CALLERS });
  let left = REQUESTS;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (left-- > 0) {
        const text = await (await post(pool, url, body)).body.text();
        if (!check(text)) throw new Error(`a wrong answer: ${text}`);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  await pool.close();
  return REQUESTS / seconds;
}

/** Milliseconds from the request to the first piece of text. */
async function firstText(pool: Pool, url: string, body: object, mark: string): Promise<number> {
  const began = performance.now();
  const { body: stream } = await post(pool, url, body);
  let took = Number.NaN;
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) {
    text += chunk;
    if (Number.isNaN(took) && text.includes(mark)) took = performance.now() - began;
  }
  return took;
}

async function askModel({ child }: Program): Promise<number> {
  child.send("go");
  const [{ perSecond }] = (await once(child, "message")) as [{ perSecond: number }];
  return perSecond;
}

interface Programs {
  readonly model: ModelServer;
  readonly service: Program;
  readonly echo: Program;
  readonly ask: Program;
}

async function measureThroughput(
  { model, service, echo, ask }: Programs,
  progress: (text: string) => void,
): Promise<Figure[]> {
  const body = { model: "any", input: "Where is order 7?", temperature: 0.5, metadata: { ticket: "7" } };
  const isAnswer = (text: string) =>
    text.includes('"status":"completed"') && text.includes("It has shipped.");
  const isEcho = (text: string) => text === JSON.stringify(body);
  model.otherwise({ text: SHORT });
  await throughput(service.url, body, isAnswer);
  const samples = await interleave(
    {
      "bare Koa route": () => throughput(echo.url, body, isEcho),
      "the model asked, and nothing else": () => askModel(ask),
      "turns, 32 callers": () => throughput(service.url, body, isAnswer),
    },
    ROUNDS,
    progress,
  );
  const baseline = median(samples["bare Koa route"] ?? []);
  return Object.entries(samples).map(([name, values], index): Figure => {
    const middle = median(values);
    const target = { words: "≥ 1/8 of the route", met: middle >= baseline / 8 };
    return {
      name,
      median: middle,
      spread: spread(values),
      unit: "/s",
      ratio: middle / baseline,
      ...(index === 2 && { target }),
    };
  });
}

async function measureFirstText(
  service: Program,
  model: ModelServer,
  progress: (text: string) => void,
): Promise<Figure[]> {
  model.otherwise({ text: WORDS });
  const ours = new Pool(new URL(service.url).origin);
  const theirs = new Pool(new URL(model.url).origin);
  const samples = await interleave(
    {
      "first token, model server alone": () =>
        firstText(
          theirs,
          `${model.url}/chat/completions`,
          { model: "x", messages: [], stream: true },
          "word0",
        ),
      "first text delta": () =>
        firstText(ours, service.url, { model: "any", input: "Hi", stream: true }, "word0"),
    },
    FIRST_TOKENS,
    progress,
  );
  await Promise.all([ours.close(), theirs.close()]);
  const baseline = median(samples["first token, model server alone"] ?? []);
  return Object.entries(samples).map(([name, values], index): Figure => {
    const middle = median(values);
    const target = { words: "adds ≤ 10 ms", met: middle - baseline <= 10 };
    return {
      name,
      median: middle,
      spread: spread(values),
      unit: "ms",
      ratio: middle / baseline,
      ...(index > 0 && { target }),
    };
  });
}

async function measureStreams(service: Program, model: ModelServer): Promise<Figure[]> {
  const pool = new Pool(new URL(service.url).origin, { connections: STREAMS });
  const whole = `"text":"${WORDS.join("")}"`;
  let open = 0;
  const allOpen = Promise.withResolvers<void>();
  // Two seconds of words: when the last stream opens the first has long to go.
  model.otherwise({ text: WORDS, delay: 100 });
  const before = await memoryOf(service);
  const began = performance.now();
  const texts = Array.from({ length: STREAMS }, async (_, index) => {
    const { body } = await post(pool, service.url, { model: "any", input: `Stream ${index}`, stream: true });
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
  return [
    {
      name: `${STREAMS} streams at once, finished and right`,
      median: right,
      spread: 0,
      unit: "streams",
      ratio: right / STREAMS,
      target: { words: "all", met: right === STREAMS },
    },
    { name: `${STREAMS} streams, until the last has ended`, median: seconds, spread: 0, unit: "s", ratio: 1 },
    {
      name: "memory of an open stream",
      median: (during - before) / STREAMS / 1024,
      spread: 0,
      unit: "KiB",
      ratio: 1,
    },
  ];
}

export const bench: Bench = {
  name: "responses",
  about: "the Responses API with a scripted model that answers at once, store on disk",
  async run(progress) {
    const home = mkdtempSync(join(tmpdir(), "postern-bench-"));
    const model = await startModelServer();
    const service = await start(new URL("./responses/service.ts", import.meta.url), home, model.url, TOKEN);
    const echo = await start(new URL("./responses/echo.ts", import.meta.url));
    const ask = await start(
      new URL("./responses/ask.ts", import.meta.url),
      model.url,
      String(CALLERS),
      String(REQUESTS),
    );
    try {
      return [
        ...(await measureThroughput({ model, service, echo, ask }, progress)),
        ...(await measureFirstText(service, model, progress)),
        ...(await measureStreams(service, model)),
      ];
    } finally {
      const programs = [service, echo, ask];
      const ends = programs.map(({ child }) => once(child, "exit"));
      for (const { child } of programs) child.disconnect();
      await Promise.all(ends);
      await model.close();
      rmSync(home, { recursive: true, force: true });
    }
  },
};
