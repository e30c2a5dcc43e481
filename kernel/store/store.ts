/** The store: keyed state through Keyv and ordered state in SQL tables, on one connection to one file. */
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import Keyv from "keyv";
import { Fault } from "../fault.ts";
import { definePlugin } from "../plugin.ts";
import type { Migration, SqlValue, Store } from "../vocabulary/store.ts";
import { type Database, openDatabase } from "./database.ts";
import KeyvSqlite, { type SqliteDriver } from "./keyv-sqlite.ts";
import { makePrivate } from "./ownership.ts";
import { deriveKey, loadKey, readSecretsKey } from "./secrets-key.ts";

export interface OpenStore extends Store {
  readonly file: string;
  /** Throws where the file no longer answers. */
  probe(): void;
  close(): void;
}

// How often rows past their time to live are deleted for good.
const SWEEP_MILLIS = 60_000;

const TABLE = "keyed";

const READS = /^\s*(select|pragma|with)|\breturning\b/i;

/** `secretsKey` is read when a plugin first asks for a key of its own. */
export function openStore(
  file: string,
  secretsKey: () => Promise<Uint8Array> = () => Promise.reject(new Error("this store has no secrets key")),
): OpenStore {
  const database = openDatabase(file);
  database.exec(`CREATE TABLE IF NOT EXISTS migrations (
    owner TEXT NOT NULL, number INTEGER NOT NULL, applied_at TEXT NOT NULL, PRIMARY KEY (owner, number)
  ) WITHOUT ROWID`);
  const driver = sharedDriver(database);
  const adapters: KeyvSqlite[] = [];
  const keyed = new Map<string, Keyv>();

  return {
    file,
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
    tables(owner, migrations) {
      migrate(database, owner, migrations);
      return database;
    },
    keyFor: async (purpose) => deriveKey(await secretsKey(), purpose),
    probe: () => void database.get("SELECT count(*) FROM migrations"),
    close() {
      // Their timers would keep using a closed connection.
      for (const adapter of adapters) adapter.clearExpiredInterval = 0;
      database.close();
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
        if (READS.test(sql)) return database.all(sql, ...given);
        database.run(sql, ...given);
        return [];
      },
      close: async () => {},
    }),
  };
}

/** Applies what is missing, each with its number in one transaction, and a snapshot before it. */
function migrate(database: Database, owner: string, migrations: readonly Migration[]): void {
  const query = "SELECT coalesce(max(number), 0) AS number FROM migrations WHERE owner = ?";
  const applied = database.get<{ number: number }>(query, owner)?.number ?? 0;
  if (applied > migrations.length) {
    throw new Fault(
      "config",
      "store_newer",
      `the store ${database.file} was written by a newer Postern (${owner} is at ${applied}, this one knows ${migrations.length}): run that version, or restore ${database.file}.before-${owner}-${migrations.length + 1}`,
      { param: database.file },
    );
  }
  for (const [index, migration] of migrations.entries()) {
    const number = index + 1;
    if (number <= applied) continue;
    // The owner's first tables are added to the file without touching what is there: nothing to save.
    if (applied > 0) snapshot(database, `${database.file}.before-${owner}-${number}`);
    database.transaction(() => {
      if (typeof migration === "string") database.exec(migration);
      else migration(database);
      database.run("INSERT INTO migrations VALUES (?, ?, ?)", owner, number, new Date().toISOString());
    });
  }
}

function snapshot(database: Database, file: string): void {
  if (database.file === ":memory:") return;
  rmSync(file, { force: true });
  database.run("VACUUM INTO ?", file);
  makePrivate([file], "STORE_URL");
}

export default definePlugin({
  name: "store",
  provides: ["store"],
  configure: (env) => {
    const url = env.text(
      "STORE_URL",
      undefined,
      "Where state is kept: sqlite://<file>; default store.sqlite in the home",
    );
    if (url !== undefined && !/^sqlite:\/\/.+/.test(url))
      env.refuse("STORE_URL", "sqlite://<path to a file>");
    return { file: url?.replace(/^sqlite:\/\//, ""), secretsKey: readSecretsKey(env) };
  },
  start({ config, home, onStop, check, announce }) {
    const file = config.file ?? join(home, "store.sqlite");
    // SQLite would let the whole machine read a new one, and what it writes beside it.
    if (file !== ":memory:") closeSync(openSync(file, "a", 0o600));
    makePrivate([file, `${file}-wal`, `${file}-shm`], "STORE_URL");
    const store = openStore(file, () => loadKey(home, config.secretsKey));
    onStop(() => store.close());
    check("store", () => store.probe());
    announce(store.file);
    return { store };
  },
});
