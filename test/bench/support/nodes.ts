/** What a fleet costs: how often a turn asks the database, and how late another node hears of it. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import WebSocket from "ws";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import agentRoutesPlugin from "../../../plugins/agent/routes/plugin.ts";
import gatewayPlugin from "../../../plugins/gateway/plugin.ts";
import responsesPlugin from "../../../plugins/responses/plugin.ts";
import storePlugin from "../../../plugins/store/plugin.ts";
import type { PostgresStore } from "../../../plugins/store/postgres/store.ts";
import { startModelServer } from "../../support/servers/model-server.ts";
import { agentPlugins } from "../../support/services/agent-plugins.ts";
import { bootBare } from "../../support/services/bare-kernel.ts";
import { openAgent } from "./agent.ts";
import { compare, type Figure, median, type Progress, single, within } from "./bench.ts";
import { openPostgres, SECRETS_KEY } from "./engines.ts";
import { type Program, publish, serve, stopServing } from "./programs.ts";

export const TOKEN = "the-operator-of-the-bench";
const MOST_TRIPS = within(5, "round trips");
const MOST_CONTINUED = within(4, "round trips");
const TURNS = 21;
const PIECES = ["one ", "two ", "three ", "four ", "five"];
const PIECE_MS = 20;
const PATIENCE_MS = 10_000;
// A start is followed by chores: tools, sweeps, the first look at other nodes.
export const SETTLE_MS = 5000;

const bearer = (token: string) => ({
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
});
const headers = bearer(TOKEN);

export async function createDatabase(server: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return Object.assign(new URL(server), { pathname: `/${name}` }).href;
}

export async function post<Body>(url: string, body: object, token = TOKEN): Promise<Body> {
  const answer = await fetch(url, { method: "POST", headers: bearer(token), body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Body;
}

/** The median of many turns: a beat of the node's heart may fall into any of them. */
async function tripsOf(store: PostgresStore, turn: () => Promise<unknown>): Promise<number> {
  const trips: number[] = [];
  for (let count = 0; count < TURNS; count++) {
    const before = store.roundTrips();
    await turn();
    trips.push(store.roundTrips() - before);
  }
  return median(trips);
}

export async function measureTrips(database: string, home: string, progress: Progress): Promise<Figure[]> {
  progress("round trips of the agent");
  const figures: Figure[] = [];
  const add = (name: string, trips: number, goal = MOST_TRIPS) =>
    void figures.push(single(`round trips of a turn: ${name}`, trips, "", goal));
  const alone = await openPostgres(database);
  const { agent, turn } = await openAgent(alone, home);
  const thread = await turn();
  add("agent, new thread", await tripsOf(alone, () => turn()));
  add("agent, thread continued", await tripsOf(alone, () => turn(thread)));
  await agent.stop();
  await alone.close();

  progress("round trips through the gateway");
  const model = await startModelServer();
  model.otherwise({ text: "A short answer of some words." });
  const running = await bootBare(
    [storePlugin, ...agentPlugins, gatewayPlugin, agentRoutesPlugin, responsesPlugin] as AnyPlugin[],
    home,
    { ...nodeSettings(database, model.url), GATEWAY_PORT: "0" },
  );
  try {
    const { url } = running.service("web");
    const store = running.service("store") as PostgresStore;
    // A token that is looked up in the database, as those of people are.
    await post(`${url}/api/users`, { id: "ann" });
    const { token } = await post<{ token: string }>(`${url}/api/tokens`, { user: "ann", name: "bench" });
    const chat = (known?: string) =>
      post<{ thread_id: string }>(
        `${url}/api/chat`,
        { message: "Where is order 7?", ...(known && { thread_id: known }) },
        token,
      );
    const respond = (previous?: string) =>
      post<{ id: string }>(
        `${url}/api/v1/responses`,
        {
          model: "scripted",
          input: "Where is order 7?",
          ...(previous && { previous_response_id: previous }),
        },
        token,
      );
    const { thread_id } = await chat();
    let { id } = await respond();
    add("POST /api/chat, new thread", await tripsOf(store, () => chat()));
    add("POST /api/chat, thread continued", await tripsOf(store, () => chat(thread_id)));
    add("POST /api/v1/responses, new thread", await tripsOf(store, () => respond()));
    add(
      "POST /api/v1/responses, thread continued",
      await tripsOf(store, async () => {
        ({ id } = await respond(id));
      }),
      MOST_CONTINUED,
    );
  } finally {
    await running.stop();
    await model.close();
  }
  return figures;
}

export const nodeSettings = (database: string, modelUrl: string) => ({
  STORE_URL: database,
  POSTERN_SECRETS_KEY: SECRETS_KEY.toString("base64"),
  GATEWAY_AUTH_TOKEN: TOKEN,
  CHAT_RATE_LIMIT: "1000000",
  MODEL_BASE_URL: modelUrl,
  MODEL_NAME: "scripted",
});

interface Listener {
  /** When each frame of this turn came, once its last has. */
  framesOf(turn: string): Promise<readonly number[]>;
  close(): void;
}

async function listen({ url }: Program): Promise<Listener> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/chat/ws`, { headers });
  const turns = new Map<string, { readonly times: number[]; readonly ended: PromiseWithResolvers<void> }>();
  const known = (turn: string) => {
    const one = turns.get(turn) ?? { times: [], ended: Promise.withResolvers<void>() };
    turns.set(turn, one);
    return one;
  };
  socket.on("message", (data) => {
    const { turn_id: turn, type } = JSON.parse(String(data)) as { turn_id?: string; type: string };
    if (turn === undefined) return;
    known(turn).times.push(performance.now());
    if (type === "done") known(turn).ended.resolve();
  });
  await once(socket, "open");
  return {
    async framesOf(turn) {
      const { times, ended } = known(turn);
      await Promise.race([ended.promise, sleep(PATIENCE_MS, undefined, { ref: false })]);
      return times;
    },
    close: () => socket.terminate(),
  };
}

/** Two real nodes on one database: each frame at a socket of the node that runs the turn, and of the other. */
export async function measureFrames(database: string, folder: string, progress: Progress): Promise<Figure[]> {
  progress("starting two nodes");
  const model = await startModelServer();
  model.otherwise({ text: PIECES, delay: PIECE_MS });
  const homes = ["first", "second"].map((name) => join(folder, name));
  const settings = nodeSettings(database, model.url);
  for (const home of homes) mkdirSync(home);
  // One after the other: a first start is a core's work.
  const first = await serve(homes[0] as string, settings);
  const second = await serve(homes[1] as string, settings);
  try {
    await sleep(SETTLE_MS);
    const [here, there] = [await listen(first), await listen(second)];
    await sleep(1000);
    const [near, far, added]: [number[], number[], number[]] = [[], [], []];
    for (let count = 0; count < TURNS; count++) {
      progress(`frames of turn ${count + 1} of ${TURNS}`);
      const began = performance.now();
      const { message_id } = await post<{ message_id: string }>(`${first.url}/api/chat/send`, {
        message: "Count to five",
      });
      const [own, other] = [await here.framesOf(message_id), await there.framesOf(message_id)];
      if (own.length !== other.length || own.length === 0)
        throw new Error(`${own.length} frames on one node, ${other.length} on the other`);
      near.push(...own.map((at) => at - began));
      far.push(...other.map((at) => at - began));
      added.push(...own.map((at, index) => (other[index] as number) - at));
    }
    here.close();
    there.close();
    return [
      ...compare(
        { "a socket of the same node": near, "a socket of another node": far },
        { unit: "ms", what: "frame after the message" },
      ),
      {
        ...single("frame on another node: added", median(added), "ms", within(20, "ms")),
        ratio: median(far) / median(near),
      },
    ];
  } finally {
    await Promise.all([stopServing(first), stopServing(second)]);
    await model.close();
  }
}

async function residentMegabytes({ url }: Program): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers })).text();
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / 1024 / 1024;
}

/** Measures a node that nobody uses, as published. */
export async function measureMemory(database: string, folder: string, progress: Progress): Promise<Figure[]> {
  const samples: Record<string, number[]> = {};
  const bin = publish(join(folder, "published"));
  for (const [name, url] of Object.entries({ SQLite: undefined, PostgreSQL: database })) {
    progress(`memory of a node on ${name}`);
    const home = join(folder, `idle-${name}`);
    mkdirSync(home);
    const { STORE_URL: _, ...rest } = nodeSettings(database, "http://127.0.0.1:9/v1");
    const settings = url === undefined ? rest : { ...rest, STORE_URL: url };
    // A start would install the tools that come with Postern while it is measured.
    const env = { PATH: process.env["PATH"] ?? "", POSTERN_HOME: home, ...settings };
    await promisify(execFile)(process.execPath, [bin, "tool", "list"], { env });
    const node = await serve(home, settings, bin);
    await sleep(SETTLE_MS);
    samples[name] = [await residentMegabytes(node)];
    await stopServing(node);
  }
  const goals = { SQLite: within(140, "MB") };
  return compare(samples, { unit: "MB", what: "memory of an idle node", goals });
}
