/** `/openai/v1` beside `/api/v1`: turns a second, the first piece of text, and what replaying everything costs the store. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Pool } from "undici";
import { CALLERS, firstText, post, script, TOKEN, throughput } from "./responses/load.ts";
import {
  atLeast,
  atMost,
  type Bench,
  compare,
  type Figure,
  interleave,
  type Progress,
  single,
} from "./support/bench.ts";
import { endProgram, inFolder, type Program, startProgram } from "./support/programs.ts";

const ROUNDS = 3;
const FIRST_TEXTS = 60;
const REPLAYED = 40;
/** As long as a file that a coding agent has read. */
const OUTPUT = "const answer = 42;\n".repeat(400);

const doorsOf = ({ url }: Program) => {
  const { origin } = new URL(url);
  return {
    strict: { url },
    open: { url: `${origin}/openai/v1/responses` },
    chat: { url: `${origin}/openai/v1/chat/completions` },
  };
};

const ASKED = "Where is order 7?";
const RESPONSE = { model: "any", input: ASKED };
const CHAT = { model: "any", messages: [{ role: "user", content: ASKED }] };

async function measureTurns(service: Program, model: Program, progress: Progress): Promise<Figure[]> {
  await script(model, { text: ["It has ", "shipped."] });
  const { strict, open, chat } = doorsOf(service);
  const isAnswer = (text: string) => text.includes("It has shipped.");
  const contestants = {
    [`/api/v1/responses, turns of ${CALLERS} callers`]: () => throughput(strict, RESPONSE, isAnswer),
    "/openai/v1/responses": () => throughput(open, RESPONSE, isAnswer),
    "/openai/v1/chat/completions": () => throughput(chat, CHAT, isAnswer),
  };
  for (const contestant of Object.values(contestants)) await contestant();
  const samples = await interleave(contestants, ROUNDS, progress);
  const goal = atLeast(0.9, "/api/v1");
  const goals = { "/openai/v1/responses": goal, "/openai/v1/chat/completions": goal };
  return compare(samples, { unit: "/s", goals });
}

async function measureFirstText(service: Program, model: Program, progress: Progress): Promise<Figure[]> {
  await script(model, { text: Array.from({ length: 20 }, (_, index) => `word${index} `) });
  const { strict, open, chat } = doorsOf(service);
  const pool = new Pool(new URL(service.url).origin);
  const direct = new Pool(new URL(model.url).origin);
  const streamed = { stream: true };
  const samples = await interleave(
    {
      "first text, model server alone": () =>
        firstText(direct, { url: `${model.url}/chat/completions` }, { ...CHAT, ...streamed }),
      "first text, /api/v1": () => firstText(pool, strict, { ...RESPONSE, ...streamed }),
      "first text, /openai/v1/responses": () => firstText(pool, open, { ...RESPONSE, ...streamed }),
      "first text, chat completions": () => firstText(pool, chat, { ...CHAT, ...streamed }),
    },
    FIRST_TEXTS,
    progress,
  );
  await Promise.all([pool.close(), direct.close()]);
  const [base] = compare(samples, { unit: "ms" });
  const goal = {
    words: "adds ≤ 6 ms",
    met: (_ratio: number, middle: number) => middle - (base?.median ?? 0) <= 6,
  };
  const goals = { "first text, /openai/v1/responses": goal, "first text, chat completions": goal };
  return compare(samples, { unit: "ms", goals });
}

/** Calls of a function, each answered with all that was said before it. */
async function measureReplay(service: Program, model: Program, home: string): Promise<Figure[]> {
  const { open } = doorsOf(service);
  const pool = new Pool(new URL(open.url).origin);
  const tools = [{ type: "function", name: "read_file", parameters: { type: "object" } }];
  const input: unknown[] = [{ role: "user", content: "Read all of them" }];
  let sent = 0;
  const before = sizeOf(home);
  for (let round = 0; round < REPLAYED; round++) {
    const call = { id: `call_${round}`, name: "read_file", arguments: { path: `src/${round}.ts` } };
    await script(model, { text: `Reading number ${round}.`, calls: [call] });
    const body = { model: "any", input, tools };
    sent += JSON.stringify(body).length;
    const { output } = (await (await post(pool, open, body)).body.json()) as { output: unknown[] };
    input.push(...output, {
      type: "function_call_output",
      call_id: call.id,
      output: `// ${round}\n${OUTPUT}`,
    });
  }
  await pool.close();
  const grown = sizeOf(home) - before;
  const goal = atMost(2, "what was sent");
  return [
    single(`sent by a client that replays ${REPLAYED} rounds`, sent / 1024, "KiB"),
    {
      ...single("what they cost the store", grown / 1024, "KiB"),
      ratio: grown / sent,
      target: { words: goal.words, met: goal.met(grown / sent, grown) },
    },
  ];
}

/** What is in the store, in bytes: the file itself may have room to spare. */
function sizeOf(home: string): number {
  const database = new DatabaseSync(join(home, "store.sqlite"), { readOnly: true });
  const number = (pragma: string) =>
    Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);
  const size = (number("page_count") - number("freelist_count")) * number("page_size");
  database.close();
  return size;
}

export const bench: Bench = {
  name: "openai",
  about: "/openai/v1 beside /api/v1, with a scripted model that answers at once, store on disk",
  run: (progress) =>
    inFolder(async (home) => {
      const start = (file: string, ...args: string[]) =>
        startProgram(new URL(`./responses/${file}`, import.meta.url), ...args);
      const model = await start("model.ts");
      const service = await start("service.ts", home, model.url, TOKEN);
      try {
        return [
          ...(await measureTurns(service, model, progress)),
          ...(await measureFirstText(service, model, progress)),
          ...(await measureReplay(service, model, home)),
        ];
      } finally {
        await endProgram(service);
        await endProgram(model);
      }
    }),
};
