/** What one user's attack costs others, under the default limits: how long their turns take, and how much memory the service has. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { startModelServer } from "../support/servers/model-server.ts";
import { type Bench, type Figure, median, type Progress, quantile, single, within } from "./support/bench.ts";
import {
  BIN,
  endProgram,
  inFolder,
  longestStretch,
  type Program,
  serve,
  startProgram,
  stopServing,
} from "./support/programs.ts";

const TOKEN = "the-operator-of-the-bench";
const SECONDS = 15;
const PAUSE_MS = 100;
/** So many that none of them meets the default limits. */
const OTHERS = 30;
const WANTED_P99_MS = 250;
const WANTED_STRETCH_MS = 50;
/** Characters in a message, the most that are taken. */
const LONGEST = 4_000_000;
const ROUNDS = 5;

async function ask(url: string, token: string, path: string, body: object): Promise<Record<string, string>> {
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, string>;
}

async function addUser(url: string, id: string): Promise<string> {
  await ask(url, TOKEN, "/api/users", { id });
  return (await ask(url, TOKEN, "/api/tokens", { user: id, name: "bench" }))["token"] ?? "";
}

/** The most memory that the process has had, in megabytes. */
function peakMegabytes({ child }: Program): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / 1024;
}

/** Each in turn chats for so long, a message after the other; returns how long each turn took. */
async function chat(url: string, tokens: readonly string[], seconds: number): Promise<number[]> {
  const millis: number[] = [];
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await sleep(PAUSE_MS)) {
    const began = performance.now();
    const token = tokens[millis.length % tokens.length] ?? "";
    const { status } = await ask(url, token, "/api/chat", { message: "Are you there?" });
    if (status !== "completed") throw new Error(`a turn is ${status}`);
    millis.push(performance.now() - began);
  }
  return millis;
}

/** The largest requests that are taken: each about 10 MB of JSON. */
const LARGEST: Readonly<Record<string, () => [path: string, body: object]>> = {
  "a message": () => ["/api/chat", { message: "漢字 ".repeat(LONGEST / 3) }],
  "a message of escapes": () => ["/api/chat", { message: '\n"\\ '.repeat(LONGEST / 4) }],
  instructions: () => [
    "/openai/v1/responses",
    { model: "scripted", input: "Hi", instructions: "漢字 ".repeat(LONGEST / 3 - 1) },
  ],
  "a history": () => [
    "/openai/v1/responses",
    {
      model: "scripted",
      input: Array.from({ length: 9999 }, (_, at) => ({
        role: at % 2 === 0 ? "user" : "assistant",
        content: `${at} ${"some words ".repeat(110)}`,
      })),
    },
  ],
};

/** How long the main thread is busy at a stretch with each of them, where the model's window takes it. */
async function stretches(modelUrl: string, progress: Progress): Promise<readonly Figure[]> {
  return await inFolder(async (home) => {
    const env = {
      GATEWAY_AUTH_TOKEN: TOKEN,
      MODEL_BASE_URL: modelUrl,
      MODEL_NAME: "scripted",
      MODEL_CONTEXT_TOKENS: "10000000",
    };
    const service = await serve(home, env, BIN, { isWatched: true });
    try {
      const first = await addUser(service.url, "first");
      await ask(service.url, first, "/api/chat", { message: "Are you there?" });
      const figures: Figure[] = [];
      for (const [name, request] of Object.entries(LARGEST)) {
        progress(`the largest requests: ${name}`);
        const samples: number[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          // Another user each time: what one has sent counts for a while.
          const token = await addUser(service.url, `user-${figures.length}-${round}`);
          await longestStretch(service);
          await ask(service.url, token, ...request());
          samples.push(await longestStretch(service));
        }
        const title = `the main thread at a stretch, ${name}`;
        figures.push(single(title, median(samples), "ms", within(WANTED_STRETCH_MS, "ms")));
      }
      return figures;
    } finally {
      await stopServing(service);
    }
  });
}

export const bench: Bench = {
  name: "neighbour",
  about: `turns of others for ${SECONDS} s, alone and while one user attacks in every way at once; targets: p99 ≤ ${WANTED_P99_MS} ms, memory bounded`,
  run: (progress) =>
    inFolder(async (home) => {
      const model = await startModelServer();
      model.otherwise({ text: "Here I am." });
      progress("starting");
      const service = await serve(home, {
        GATEWAY_AUTH_TOKEN: TOKEN,
        MODEL_BASE_URL: model.url,
        MODEL_NAME: "scripted",
      });
      const { url } = service;
      try {
        const mallory = await addUser(url, "mallory");
        const others: string[] = [];
        for (let at = 0; at < OTHERS; at++) others.push(await addUser(url, `user-${at}`));
        await chat(url, others, 5);
        progress("alone");
        const alone = await chat(url, others, SECONDS);
        const before = peakMegabytes(service);
        progress("under attack");
        const attacker = await startProgram(new URL("support/attacker.ts", import.meta.url), url, mallory);
        let attacked: number[];
        try {
          attacked = await chat(url, others, SECONDS);
        } finally {
          await endProgram(attacker);
        }
        const after = peakMegabytes(service);
        const figures = (name: string, millis: readonly number[]) => [
          single(`a turn, ${name}, p50`, median(millis), "ms"),
          single(`a turn, ${name}, p99`, quantile(millis, 0.99), "ms", within(WANTED_P99_MS, "ms")),
        ];
        return [
          ...figures("alone", alone),
          single("most memory of the service before the attack", before, "MB"),
          ...figures("under attack", attacked),
          { ...single("most memory of the service", after, "MB", within(1000, "MB")), ratio: after / before },
          ...(await stretches(model.url, progress)),
        ];
      } finally {
        await stopServing(service);
        await model.close();
      }
    }),
};
