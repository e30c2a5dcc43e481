/** What one user's attack costs others, under the default limits: how long their turns take, and how much memory the service has. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { startModelServer } from "../support/servers/model-server.ts";
import { type Bench, median, quantile, single, within } from "./support/bench.ts";
import { endProgram, inFolder, type Program, serve, startProgram, stopServing } from "./support/programs.ts";

const TOKEN = "the-operator-of-the-bench";
const SECONDS = 30;
const PAUSE_MS = 100;
/** So many that none of them meets the default limits. */
const OTHERS = 30;
const WANTED_P99_MS = 250;

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
        ];
      } finally {
        await stopServing(service);
        await model.close();
      }
    }),
};
