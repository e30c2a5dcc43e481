/** The store: keyed state through Keyv and ordered state in SQL tables, on one connection to one file. */
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import Keyv from "keyv";
import { Fault } from "../fault.ts";
import { definePlugin } from "../plugin.ts";
import type { Migration, Migrations, SqlValue, SyncMigration } from "../vocabulary/store.ts";
import { createSoleFleet } from "./fleet/fleet.ts";
import { createLocalSignals } from "./fleet/signals.ts";
import KeyvSqlite, { type SqliteDriver } from "./keyv-sqlite.ts";
import type { OpenStore } from "./open-store.ts";
import { makePrivate } from "./ownership.ts";
import { type PostgresSettings, readPostgresSettings } from "./postgres/settings.ts";
import { deriveKey, loadKey, readSecretsKey } from "./secrets-key.ts";
import { type Database, openDatabase } from "./sqlite.ts";
import { type Durability, onCommit } from "./sqlite-commits.ts";

export type { OpenStore } from "./open-store.ts";

export interface StoreOptions {
  /** Read when a plugin first asks for a key of its own. */
  secretsKey?(): Promise<Uint8Array>;
  /** Whether a commit waits for the disk, which it does unless told otherwise. */
  readonly durability?: Durability;
}

// How often rows past their time to live are deleted for good.
const SWEEP_MILLIS = 60_000;

const TABLE = "keyed";

const READS = /^\s*(select|pragma|with)|\breturning\b/i;

const noKey = () => Promise.reject(new Error("this store has no secrets key"));

export function openStore(file: string, { secretsKey = noKey, durability }: StoreOptions = {}): OpenStore {
  const database = openDatabase(file, durability);
  database.sync.run(`CREATE TABLE IF NOT EXISTS migrations (
    owner TEXT NOT NULL, number INTEGER NOT NULL, applied_at TEXT NOT NULL, PRIMARY KEY (owner, number)
  ) WITHOUT ROWID`);
  const driver = sharedDriver(database);
  const adapters: KeyvSqlite[] = [];
  const keyed = new Map<string, Keyv>();

  return {
    name: file,
    keyed<Value>(namespace: string): Keyv<Value> {
      let keyv = keyed.get(namespace);
      if (keyv === undefined) {
        const adapter = new KeyvSqlite({
          uri: `sqlite://${file}`,
          table: TABLE,
          driver,
          // One sweeps for all: they share the table.
          clearExpiredInterval: adapters.length === 0 ? SWEEP_MILLIS : 0,
        });
        adapters.push(adapter);
        // No "error" listener, on purpose: Keyv would then answer `false` or `undefined` for what failed.
        keyv = new Keyv({ store: adapter, namespace });
        keyed.set(namespace, keyv);
      }
      return keyv as Keyv<Value>;
    },
    async tables(owner, migrations) {
      await migrate(database, owner, migrations);
      return database;
    },
    syncTables(owner, migrations) {
      migrateNow(database, owner, migrations);
      return database.sync;
    },
    ...createSoleFleet(),
    signals: createLocalSignals(onCommit),
    keyFor: async (purpose) => deriveKey(await secretsKey(), purpose),
    probe: () => database.probe(),
    async close() {
      // Their timers would keep using a closed connection.
      for (const adapter of adapters) adapter.clearExpiredInterval = 0;
      await database.close();
    },
  };
}

/** Keyed values of a store that may be in use, in the order of the keys. Nothing is written, no table is made. */
export async function readKeyed<Value>(
  file: string,
  namespace: string,
  keys: readonly string[],
): Promise<readonly (Value | undefined)[]> {
  using connection = new DatabaseSync(file, { readOnly: true });
  const driver: SqliteDriver = {
    name: "custom",
    connect: async () => ({
      query: async (sql, ...values) =>
        READS.test(sql) ? connection.prepare(sql).all(...(values as SqlValue[])) : [],
      close: async () => {},
    }),
  };
  const store = new KeyvSqlite({ uri: `sqlite://${file}`, table: TABLE, driver, clearExpiredInterval: 0 });
  const keyv = new Keyv<Value>({ store, namespace });
  return await Promise.all(keys.map((key) => keyv.get(key)));
}

/** Lets Keyv use our connection, so that its writes and ours never compete for the file. */
function sharedDriver(database: Database): SqliteDriver {
  return {
    name: "custom",
    connect: async () => ({
      query: async (sql, ...values) => {
        const given = values.map((value) => (value === undefined ? null : value)) as SqlValue[];
        if (READS.test(sql)) return await database.all(sql, ...given);
        await database.run(sql, ...given);
        return [];
      },
      close: async () => {},
    }),
  };
}

/** Applies what is missing, each with its number in one transaction, and a snapshot before it. */
async function migrate(database: Database, owner: string, given: Migrations): Promise<void> {
  const migrations: readonly Migration[] = "sqlite" in given ? given.sqlite : given;
  for (const number of missing(database, owner, migrations.length)) {
    const migration = migrations[number - 1] as Migration;
    await database.transaction(async (tx) => {
      if (typeof migration === "string") database.script(migration);
      else await migration(tx);
      await tx.run("INSERT INTO migrations VALUES (?, ?, ?)", owner, number, new Date().toISOString());
    });
  }
}

function migrateNow(database: Database, owner: string, migrations: readonly SyncMigration[]): void {
  const { sync } = database;
  for (const number of missing(database, owner, migrations.length)) {
    const migration = migrations[number - 1] as SyncMigration;
    sync.transaction(() => {
      if (typeof migration === "string") database.script(migration);
      else migration(sync);
      sync.run("INSERT INTO migrations VALUES (?, ?, ?)", owner, number, new Date().toISOString());
    });
  }
}

/** The numbers of migrations to apply, with a snapshot before each. */
function* missing(database: Database, owner: string, known: number): Generator<number> {
  const query = "SELECT coalesce(max(number), 0) AS number FROM migrations WHERE owner = ?";
  const applied = database.sync.get<{ number: number }>(query, owner)?.number ?? 0;
  if (applied > known) {
    throw new Fault(
      "config",
      "store_newer",
      `the store ${database.file} was written by a newer Postern (${owner} is at ${applied}, this one knows ${known}): run that version, or restore ${database.file}.before-${owner}-${known + 1}`,
      { param: database.file },
    );
  }
  for (let number = applied + 1; number <= known; number++) {
    // The owner's first tables are added to the file without touching what is there: nothing to save.
    if (applied > 0) snapshot(database, `${database.file}.before-${owner}-${number}`);
    yield number;
  }
}

function snapshot(database: Database, file: string): void {
  if (database.file === ":memory:") return;
  rmSync(file, { force: true });
  database.copyTo(file);
  makePrivate([file], "STORE_URL");
}

/** Where the store is: a file, the home's own where none is named, or a database. */
type Config = { readonly secretsKey: string | undefined } & (
  | { readonly engine: "sqlite"; readonly file: string | undefined; readonly durability: Durability }
  | { readonly engine: "postgres"; readonly settings: PostgresSettings }
);

export default definePlugin({
  name: "store",
  needs: ["kernel"],
  provides: ["store"],
  configure: (env): Config => {
    const url = env.connection(
      "STORE_URL",
      "Where state is kept: sqlite://<file>, or postgres://<user>:<password>@<host>/<database> for any number of nodes; default store.sqlite in the home",
    );
    const durability = env.oneOf(
      "STORE_SYNC",
      ["full", "normal"],
      "full",
      "Whether a commit on SQLite waits for the disk: normal is faster, and a power cut loses the last moments",
    );
    const secretsKey = readSecretsKey(env);
    const settings = readPostgresSettings(env, url);
    if (settings !== undefined) {
      if (secretsKey === undefined)
        env.refuse(
          "POSTERN_SECRETS_KEY",
          "the key that all nodes on PostgreSQL share (openssl rand -base64 32)",
        );
      return { engine: "postgres", settings, secretsKey };
    }
    if (url !== undefined && !/^(sqlite|postgres|postgresql):\/\/.+/i.test(url))
      env.refuse("STORE_URL", "sqlite://<path to a file> or postgres://<user>:<password>@<host>/<database>");
    return { engine: "sqlite", file: url?.replace(/^sqlite:\/\//, ""), durability, secretsKey };
  },
  diagnose: async ({ config, home }) =>
    config.engine === "postgres"
      ? (await import("./diagnosis.ts")).examinePostgres(config.settings)
      : (await import("./diagnosis.ts")).examineFile(fileOf(config, home), config.durability),
  async start({ config, use, home, onStop, check, announce }) {
    const store = await open(config, home, use.kernel.serving);
    onStop(() => store.close());
    check("store", () => store.probe());
    announce(store.name);
    return { store };
  },
});

async function open(config: Config, home: string, serves: boolean): Promise<OpenStore> {
  if (config.engine === "postgres") {
    const { openPostgresStore } = await import("./postgres/store.ts");
    return openPostgresStore(config.settings, {
      secretsKey: await loadKey(home, config.secretsKey),
      serves,
    });
  }
  const file = fileOf(config, home);
  // SQLite would let the whole machine read a new one, and what it writes beside it.
  if (file !== ":memory:") closeSync(openSync(file, "a", 0o600));
  makePrivate([file, `${file}-wal`, `${file}-shm`], "STORE_URL");
  return openStore(file, {
    durability: config.durability,
    secretsKey: () => loadKey(home, config.secretsKey),
  });
}

const fileOf = ({ file }: { readonly file: string | undefined }, home: string): string =>
  file ?? join(home, "store.sqlite");
