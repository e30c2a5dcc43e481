/** A thousand sockets on a real service, each told of a turn every second: how late, how many lost, how much memory. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import WebSocket from "ws";
import { startModelServer } from "../support/servers/model-server.ts";
import { type Bench, compare, single } from "./support/bench.ts";
import { inFolder, serve, stopServing } from "./support/programs.ts";

const TOKEN = "the-operator-of-the-bench";
const USERS = 50;
const SOCKETS_EACH = 20;
const SECONDS = 10;
const FEW_SECONDS = 5;
const WARM_UP_SECONDS = 2;
const PATIENCE_MS = 30_000;

interface Listener {
  readonly socket: WebSocket;
  /** The last number seen; a frame that does not follow it was lost or doubled. */
  last: number;
  gaps: number;
  readonly done: Map<string, number>;
}

async function ask(url: string, token: string, path: string, body?: object): Promise<string> {
  const answer = await fetch(url + path, {
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return answer.text();
}

async function listenAs(url: string, token: string): Promise<Listener> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/chat/ws`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const listener: Listener = { socket, last: 0, gaps: 0, done: new Map() };
  socket.on("message", (data) => {
    const frame = JSON.parse(String(data)) as { type: string; id: number; turn_id?: string };
    if (frame.turn_id === undefined) {
      if (frame.type === "hello") listener.last = frame.id;
      return;
    }
    if (frame.id !== listener.last + 1) listener.gaps++;
    listener.last = frame.id;
    if (frame.type === "done") listener.done.set(frame.turn_id, performance.now());
  });
  await once(socket, "open");
  return listener;
}

async function residentMegabytes(url: string): Promise<number> {
  const text = await ask(url, TOKEN, "/metrics");
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1] ?? Number.NaN) / 1024 / 1024;
}

interface Outcome {
  readonly millis: readonly number[];
  readonly lost: number;
  readonly sent: number;
}

/** Every user sends a message each second; each of their sockets has to tell its end. */
async function load(url: string, tokens: readonly string[], each: number, seconds: number): Promise<Outcome> {
  const crowds = await Promise.all(
    tokens.map(async (token) => ({
      token,
      listeners: await Promise.all(Array.from({ length: each }, () => listenAs(url, token))),
      turns: new Map<string, number>(),
    })),
  );
  for (let second = 0; second < seconds; second++) {
    const began = performance.now();
    await Promise.all(
      crowds.map(async ({ token, turns }) => {
        const at = performance.now();
        const body = JSON.parse(await ask(url, token, "/api/chat/send", { message: `Second ${second}` }));
        turns.set(body.message_id, at);
      }),
    );
    await sleep(Math.max(0, 1000 - (performance.now() - began)));
  }
  const missing = () =>
    crowds.flatMap(({ listeners, turns }) =>
      listeners.flatMap(({ done }) => [...turns.keys()].filter((turn) => !done.has(turn))),
    ).length;
  for (const end = Date.now() + PATIENCE_MS; missing() > 0 && Date.now() < end; ) await sleep(50);
  const millis = crowds.flatMap(({ listeners, turns }) =>
    [...turns].map(([turn, at]) => Math.max(...listeners.map(({ done }) => done.get(turn) ?? at)) - at),
  );
  const gaps = crowds.flatMap(({ listeners }) => listeners).reduce((sum, { gaps: count }) => sum + count, 0);
  const outcome = { millis, lost: missing() + gaps, sent: millis.length };
  for (const { listeners } of crowds) for (const { socket } of listeners) socket.terminate();
  return outcome;
}

export const bench: Bench = {
  name: "gateway-sockets",
  about: `${USERS * SOCKETS_EACH} sockets, a turn each second on every one for ${SECONDS} s; targets: none lost, memory bounded`,
  run: (progress) =>
    inFolder(async (home) => {
      const model = await startModelServer();
      model.otherwise({ text: ["one ", "two ", "three ", "four ", "five"] });
      progress("starting");
      const service = await serve(home, {
        GATEWAY_AUTH_TOKEN: TOKEN,
        CHAT_RATE_LIMIT: "1000000",
        GATEWAY_CONNECTIONS_PER_ADDRESS: "10000",
        MODEL_BASE_URL: model.url,
        MODEL_NAME: "scripted",
      });
      const { url } = service;
      try {
        const tokens: string[] = [];
        for (let at = 0; at < USERS; at++) {
          await ask(url, TOKEN, "/api/users", { id: `user-${at}` });
          const made = await ask(url, TOKEN, "/api/tokens", { user: `user-${at}`, name: "bench" });
          tokens.push(JSON.parse(made).token);
        }
        progress("waiting for the tools of a first start, which take a core to build");
        for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(200))
          if (JSON.parse(await ask(url, TOKEN, "/api/status")).tools.length > 0) break;
        progress("one socket a user");
        await load(url, tokens, 1, WARM_UP_SECONDS);
        const few = await load(url, tokens, 1, FEW_SECONDS);
        const before = await residentMegabytes(url);
        progress(`${SOCKETS_EACH} sockets a user, for ${SECONDS} s`);
        const many = await load(url, tokens, SOCKETS_EACH, SECONDS);
        const after = await residentMegabytes(url);
        const lost = few.lost + many.lost;
        const samples = {
          [`message to end of turn, ${USERS} sockets`]: few.millis,
          [`message to end of turn on all ${USERS * SOCKETS_EACH} sockets`]: many.millis,
        };
        const none = { words: "none", met: () => lost === 0 };
        const bounded = { words: "less than twice as before", met: () => after < before * 2 };
        return [
          ...compare(samples, { unit: "ms" }),
          single(`frames lost of ${many.sent * SOCKETS_EACH} turns told`, lost, "frames", none),
          { ...single("memory of the service after it", after, "MB", bounded), ratio: after / before },
        ];
      } finally {
        await stopServing(service);
        await model.close();
      }
    }),
};
