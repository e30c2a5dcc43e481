/** From a message in a chat to its answer there, beside a request of the gateway; and many conversations while sending fails. */
import { setTimeout as sleep } from "node:timers/promises";
import { type ModelServer, startModelServer } from "../support/servers/model-server.ts";
import { startTelegram, type TelegramServer } from "../support/servers/telegram.ts";
import { pairSenders } from "../support/services/pairing.ts";
import {
  type Bench,
  compare,
  type Figure,
  interleave,
  median,
  type Progress,
  single,
  within,
} from "./support/bench.ts";
import { inFolder, type Program, serve, stopServing } from "./support/programs.ts";

const TOKEN = "the-operator-of-the-bench";
const ROUNDS = 3;
const MESSAGES = 20;
const PEOPLE = 100;
const SAID_EACH = 2;
/** Longer than the least pause between two messages of a bot, which would be measured otherwise. */
const PAUSE_MS = 50;
const PATIENCE_MS = 120_000;

export const bench: Bench = {
  name: "channels",
  about:
    "from an update of Telegram to the answer's request beside POST /api/chat, and 100 conversations with 1 % failures",
  run: (progress) =>
    inFolder(async (home) => {
      const [model, telegram] = await Promise.all([startModelServer(), startTelegram()]);
      const people = Array.from({ length: PEOPLE }, (_, at) => at + 1);
      await pairSenders(
        home,
        people.map((id) => `telegram/${id}`),
      );
      const service = await serve(home, {
        TELEGRAM_API_URL: telegram.url,
        TELEGRAM_BOT_TOKEN: telegram.token,
        GATEWAY_AUTH_TOKEN: TOKEN,
        MODEL_BASE_URL: model.url,
        MODEL_NAME: "scripted",
        CHAT_RATE_LIMIT: "1000000",
        TOOLS_SHIPPED: "false",
      });
      const given = { service, telegram, model, people, progress };
      try {
        return [...(await latency(given)), ...(await load(given))];
      } finally {
        await stopServing(service);
        await Promise.all([model.close(), telegram.close()]);
      }
    }),
};

interface Given {
  readonly service: Program;
  readonly telegram: TelegramServer;
  readonly model: ModelServer;
  readonly people: readonly number[];
  readonly progress: Progress;
}

async function latency({ service, telegram, people, progress }: Given): Promise<readonly Figure[]> {
  let next = 0;
  const several = async (once: () => Promise<unknown>): Promise<number> => {
    const millis: number[] = [];
    for (let count = 0; count < MESSAGES; count++) {
      const began = performance.now();
      await once();
      millis.push(performance.now() - began);
      await sleep(PAUSE_MS);
    }
    return median(millis);
  };
  const contestants = {
    "POST /api/chat": () => several(() => ask(service.url, "/api/chat", { message: "hello" })),
    "a message of Telegram": () =>
      several(async () => {
        const { length } = telegram.shown;
        // Another person each time: to one of them a bot sends once a second.
        telegram.person(people[next++ % people.length] as number).says("hello");
        await telegram.until(() => telegram.shown.length > length);
      }),
  };
  for (const warmUp of Object.values(contestants)) await warmUp();
  const samples = await interleave(contestants, ROUNDS, progress);
  const [gateway, chat] = Object.values(samples).map((values) => median(values));
  return [
    ...compare(samples, { unit: "ms" }),
    single("a message of Telegram takes longer by", (chat ?? 0) - (gateway ?? 0), "ms", within(15, "ms")),
  ];
}

async function load({ service, telegram, model, people, progress }: Given): Promise<readonly Figure[]> {
  model.otherwise(({ messages }) => {
    const last = messages.findLast(({ role }) => role === "user")?.content ?? "";
    const text = typeof last === "string" ? last : (last?.map((part) => part.text).join("") ?? "");
    return { text: `You said: ${/question \d+ of \d+/.exec(text)?.[0]}.` };
  });
  telegram.failsSometimes(
    0.01,
    ...[{ status: 429, retryAfter: 1 }, { status: 429 }, { status: 502, isTaken: true }],
    ...[{ isCut: true, isTaken: true }, { isCut: true }],
  );
  const before = await residentMegabytes(service.url);
  const { length } = telegram.shown;
  const began = performance.now();
  const said: { readonly chat: number; readonly answer: string }[] = [];
  for (let count = 1; count <= SAID_EACH; count++)
    for (const id of people) {
      telegram.person(id).says(`question ${count} of ${id}`);
      said.push({ chat: id, answer: `You said: question ${count} of ${id}.` });
    }
  const over = Date.now() + PATIENCE_MS;
  const lost = () => {
    const shown = new Set(telegram.shown.slice(length).map(({ chat, text }) => `${chat} ${text}`));
    return said.filter(({ chat, answer }) => !shown.has(`${chat} ${answer}`)).length;
  };
  while (lost() > 0 && Date.now() < over) {
    progress(`${PEOPLE} conversations at once: ${lost()} answers to come`);
    await sleep(200);
  }
  const seconds = (performance.now() - began) / 1000;
  const none = { words: "none", must: true, met: () => lost() === 0 };
  const repeated = telegram.shown.length - length - (said.length - lost());
  return [
    single(`${said.length} messages in ${PEOPLE} conversations, answered in`, seconds, "s"),
    single("of these never answered", lost(), "messages", none),
    single("of these answered twice", repeated, "messages"),
    single(
      "more memory afterwards",
      (await residentMegabytes(service.url)) - before,
      "MB",
      within(150, "MB"),
    ),
  ];
}

async function ask(url: string, path: string, body?: object): Promise<string> {
  const answer = await fetch(url + path, {
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return await answer.text();
}

async function residentMegabytes(url: string): Promise<number> {
  const text = await ask(url, "/metrics");
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1] ?? Number.NaN) / 1024 / 1024;
}
