/** Where the nodes of a world keep their state: in memory, or in the real thing, whose clock is the world's. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SqlValue } from "../../kernel/kit/store.ts";
import type { Sql, Transaction } from "../../kernel/plugin.ts";
import { readPostgresUrl } from "../../plugins/store/config/postgres-url.ts";
import { stepsOf } from "../../plugins/store/engine/migrations.ts";
import { openDatabase } from "../../plugins/store/postgres/database.ts";
import { openStore } from "../../plugins/store/sqlite/store.ts";
import { startPostgres } from "../support/processes/postgres/server.ts";
import { type Database, NOW, openMemory } from "./memory.ts";

export interface Engine {
  /** Whether it can have one node alone, or a fleet. */
  readonly fleets: readonly boolean[];
  open(engine: Sql["engine"], now: () => number): Promise<Database>;
  close(): Promise<void>;
}

const ENGINES: Readonly<Record<string, () => Engine | Promise<Engine>>> = {
  memory: () => ({
    fleets: [false, true],
    open: async (engine, now) => openMemory(engine, now),
    close: async () => {},
  }),
  sqlite: openFiles,
  postgres: openServer,
};

export async function openEngine(name: string): Promise<Engine> {
  const open = ENGINES[name];
  if (open === undefined)
    throw new Error(`There is no engine "${name}": ${Object.keys(ENGINES).join(", ")}.`);
  return await open();
}

/** A new file for each world. */
function openFiles(): Engine {
  const folder = mkdtempSync(join(tmpdir(), "postern-simulation-"));
  let files = 0;
  return {
    fleets: [false],
    async open(_, now) {
      const store = openStore(join(folder, `${++files}.sqlite`), { durability: "normal" });
      const sql = await store.tables("simulation", []);
      const migrate = async (...given: Parameters<Database["migrate"]>) =>
        void (await store.tables(...given));
      return { ...timed(sql, now), migrate, close: () => store.close() };
    },
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

const EMPTY = `SELECT 'TRUNCATE ' || string_agg(format('%I', tablename), ', ') || ' RESTART IDENTITY CASCADE' AS text
  FROM pg_tables WHERE schemaname = 'public'`;

/** One database, which is emptied for each world. What several nodes ask for at once it is asked at once. */
async function openServer(): Promise<Engine> {
  const server = await startPostgres();
  const settings = readPostgresUrl(server.url, { poolSize: 8, statementSecs: 30, tls: "prefer" });
  if (typeof settings === "string") throw new Error(settings);
  const database = await openDatabase(settings);
  const owners = new Set<string>();
  return {
    fleets: [true],
    async open(_, now) {
      const { text } = (await database.get<{ text: string | null }>(EMPTY)) ?? {};
      if (text) await database.run(text);
      return {
        ...timed(database, now),
        isConcurrent: true,
        async migrate(owner, migrations) {
          if (owners.has(owner)) return;
          owners.add(owner);
          await database.transaction(async (tx) => {
            for (const step of stepsOf(migrations, "postgres"))
              await (typeof step === "string" ? tx.script(step) : step(tx));
          });
        },
        close: async () => {},
      };
    },
    async close() {
      await database.close();
      await server.close();
    },
  };
}

/** Its statements see the world's time. */
function timed(sql: Sql, now: () => number): Sql {
  const at = (text: string) => text.replaceAll(NOW, () => String(now()));
  const query =
    (on: Pick<Sql, "all" | "get" | "run">, kind: "all" | "get" | "run") =>
    (text: string, ...values: SqlValue[]) =>
      on[kind](at(text), ...values) as Promise<never>;
  return {
    engine: sql.engine,
    ...{ all: query(sql, "all"), get: query(sql, "get"), run: query(sql, "run") },
    transaction: (work, options) =>
      sql.transaction(
        (tx) =>
          work({
            ...{ all: query(tx, "all"), get: query(tx, "get"), run: query(tx, "run") },
            last: (text, ...values) => tx.last(at(text), ...values),
            demand: (unmet, text, ...values) => tx.demand(unmet, at(text), ...values),
          } as Transaction),
        options,
      ),
  };
}
