/** How far it goes: up to a million threads of ten thousand users on SQLite, and one to four nodes on one PostgreSQL. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { MIGRATIONS as ACCOUNTS } from "../../plugins/accounts/records/tables.ts";
import { MIGRATIONS as AGENT } from "../../plugins/agent/threads/tables.ts";
import { indexAllThreads } from "../../plugins/agent/threads/texts.ts";
import { openStore } from "../../plugins/store/sqlite/store.ts";
import { startPostgres } from "../support/processes/postgres/server.ts";
import { startModelServer } from "../support/servers/model-server.ts";
import {
  atMost,
  type Bench,
  compare,
  type Figure,
  type Progress,
  quantile,
  single,
} from "./support/bench.ts";
import { createDatabase, nodeSettings, post, SETTLE_MS, TOKEN } from "./support/nodes.ts";
import { inFolder, type Program, publish, serve, stopServing } from "./support/programs.ts";

const THREADS = [10_000, 100_000, 1_000_000];
const THREADS_EACH = 100;
const RARE = 5000;
const REPEATED = 20;
const STARTS = 3;
const MOST_NODES = 4;
const CALLERS = 32;
const MEASURE_MS = 5000;

const NUMBERS = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)";
const TIME = "strftime('%Y-%m-%dT%H:%M:%fZ', 1700000000 + n, 'unixepoch')";

/** Writes so many threads, a hundred for each user, into the store of a home. */
async function fill(home: string, count: number): Promise<void> {
  const store = openStore(join(home, "store.sqlite"));
  const users = count / THREADS_EACH;
  const people = await store.tables("gateway", ACCOUNTS);
  await people.run(
    `INSERT INTO gateway_users (id, role, created_at) ${NUMBERS} SELECT 'user-' || n, 'user', ${TIME} FROM numbers`,
    users,
  );
  const threads = await store.tables("agent", AGENT);
  await threads.run(
    `INSERT INTO threads (id, "user", title, channel, created_at, updated_at) ${NUMBERS}
     SELECT printf('%08d-0000-7000-8000-000000000000', n), 'user-' || (n % ? + 1), 'About word' || (n % ?), 'gateway', ${TIME}, ${TIME}
     FROM numbers`,
    ...[count, users, RARE],
  );
  await indexAllThreads(threads);
  await store.close();
}

async function timesOf(repeated: number, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count < repeated; count++) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return times;
}

async function get(url: string, token: string): Promise<void> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}

async function measureThreads(
  folder: string,
  bin: string,
  model: string,
  progress: Progress,
): Promise<Figure[]> {
  const samples = new Map<string, Record<string, number[]>>();
  for (const count of THREADS) {
    const size = `${count.toLocaleString("en")} threads`;
    const home = join(folder, `threads-${count}`);
    mkdirSync(home, { mode: 0o700 });
    const { STORE_URL: _, ...settings } = nodeSettings("", model);
    progress(`writing ${size}`);
    await stopServing(await serve(home, settings, bin));
    await fill(home, count);
    progress(`measuring ${size}`);
    const add = (what: string, times: number[]) => samples.set(what, { ...samples.get(what), [size]: times });
    let service: Program | undefined;
    const starts = await timesOf(STARTS, async () => {
      if (service !== undefined) await stopServing(service);
      service = await serve(home, settings, bin);
    });
    add("a stop and a start", starts.slice(1));
    if (service === undefined) throw new Error("nothing was started");
    const { url } = service;
    const { token } = await post<{ token: string }>(`${url}/api/tokens`, { user: "user-1", name: "bench" });
    add("the newest threads of a user", await timesOf(REPEATED, () => get(`${url}/api/threads`, token)));
    add("a search of threads", await timesOf(REPEATED, () => get(`${url}/api/threads?q=word4200`, token)));
    add("the list of users", await timesOf(REPEATED, () => get(`${url}/api/users`, TOKEN)));
    const chat = () => post(`${url}/api/chat`, { message: "Where is order 7?" }, token);
    add("a turn", await timesOf(REPEATED, chat));
    await stopServing(service);
  }
  const most = `${THREADS.at(-1)?.toLocaleString("en")} threads`;
  // A list of all users is as long as they are many; whatever else a person asks is not to grow with what others have.
  const goalOf = (what: string) => atMost(what === "the list of users" ? 100 : 2);
  return [...samples].flatMap(([what, times]) =>
    compare(times, { unit: "ms", what, goals: { [most]: goalOf(what) } }),
  );
}

async function countConnections(database: string): Promise<number> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  const { rows } = await client.query(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  );
  await client.end();
  return Number(rows[0].count);
}

async function measureNodes(
  folder: string,
  bin: string,
  model: string,
  progress: Progress,
): Promise<Figure[]> {
  const server = await startPostgres({ fsync: true });
  const nodes: Program[] = [];
  const figures: Figure[] = [];
  try {
    const database = await createDatabase(server.url, "scale");
    for (let count = 1; count <= MOST_NODES; count++) {
      const name = count === 1 ? "one node" : `${count} nodes`;
      progress(`${name} on one PostgreSQL`);
      const home = join(folder, `node-${count}`);
      mkdirSync(home, { mode: 0o700 });
      nodes.push(await serve(home, nodeSettings(database, model), bin));
      await sleep(SETTLE_MS);
      const times: number[] = [];
      const end = performance.now() + MEASURE_MS;
      const began = performance.now();
      const caller = async (number: number) => {
        const { url } = nodes[number % nodes.length] as Program;
        while (performance.now() < end)
          times.push(...(await timesOf(1, () => post(`${url}/api/chat`, { message: "Where is order 7?" }))));
      };
      await Promise.all(Array.from({ length: CALLERS }, (_, number) => caller(number)));
      const seconds = (performance.now() - began) / 1000;
      figures.push(
        single(`${name}: turns`, times.length / seconds, "a second"),
        single(`${name}: the slowest hundredth`, quantile(times, 0.99), "ms"),
        single(`${name}: connections`, await countConnections(database), ""),
      );
    }
    return figures;
  } finally {
    await Promise.all(nodes.map(stopServing));
    await server.close();
  }
}

export const bench: Bench = {
  name: "scale",
  about: `growth with the threads and users of others, within 2×; ${CALLERS} callers on one to ${MOST_NODES} nodes that share two cores`,
  isLong: true,
  run: (progress) =>
    inFolder(async (folder) => {
      const model = await startModelServer();
      model.otherwise({ text: "A short answer of some words." });
      const bin = publish(join(folder, "published"));
      try {
        return [
          ...(await measureNodes(folder, bin, model.url, progress)),
          ...(await measureThreads(folder, bin, model.url, progress)),
        ];
      } finally {
        await model.close();
      }
    }),
};
