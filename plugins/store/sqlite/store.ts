/** The store on one SQLite file: keyed state through Keyv and ordered state in SQL tables. */
import { closeSync, openSync, rmSync } from "node:fs";
import Keyv from "keyv";
import { makePrivate } from "../../../kernel/kit/files.ts";
import type { SealingKey } from "../../../kernel/kit/secrets.ts";
import type { Migrations, SqlValue } from "../../../kernel/kit/store.ts";
import { Fault } from "../../../kernel/plugin.ts";
import type { Durability } from "../config/settings.ts";
import { createMigrations, type MigrationTarget } from "../engine/migrations.ts";
import { completeStore, type OpenStore } from "../engine/open-store.ts";
import { createSoleFleet } from "../fleet/fleet.ts";
import { createLocalSignals } from "../fleet/signals.ts";
import { onCommit } from "./commits.ts";
import { type Database, openDatabase } from "./database.ts";
import KeyvSqlite, { type SqliteDriver } from "./keyv.ts";

export interface StoreOptions {
  /** Read when a plugin first asks for a key of its own. */
  secretsKey?(): Promise<SealingKey>;
  /** A commit waits for the disk unless this says otherwise. */
  readonly durability?: Durability;
}

// Rows past their time to live are deleted for good this often.
const SWEEP_MS = 60_000;

const TABLE = "keyed";

const READS = /^\s*(select|pragma|with)|\breturning\b/i;
const SELECTS = /^\s*select\b/i;

const noKey = () => Promise.reject(new Error("this store has no secrets key"));

export function openStore(file: string, { secretsKey = noKey, durability }: StoreOptions = {}): OpenStore {
  const database = openDatabase(file, durability);
  let ownWrites = 0;
  const driver = sharedDriver(database, () => ownWrites++);
  const adapters: KeyvSqlite[] = [];
  const keyed = new Map<string, Keyv>();
  const migrate = createMigrations(migrationTarget(database));

  const engine = {
    name: file,
    keyed<Value>(namespace: string): Keyv<Value> {
      let keyv = keyed.get(namespace);
      if (keyv === undefined) {
        const adapter = new KeyvSqlite({
          uri: `sqlite://${file}`,
          table: TABLE,
          driver,
          // One sweeps for all: they share the table.
          clearExpiredInterval: adapters.length === 0 ? SWEEP_MS : 0,
        });
        adapters.push(adapter);
        // No "error" listener, on purpose: Keyv would then return `false` or `undefined` for what failed.
        keyv = new Keyv({ store: adapter, namespace });
        keyed.set(namespace, keyv);
      }
      return keyv as Keyv<Value>;
    },
    keyedVersion: () => `${ownWrites} ${database.foreignVersion()}`,
    async tables(owner: string, migrations: Migrations) {
      await migrate(owner, migrations);
      return database;
    },
    ...createSoleFleet(),
    signals: createLocalSignals(onCommit),
    probe: () => database.probe(),
    async close() {
      // Their timers would keep using a closed connection.
      for (const adapter of adapters) adapter.clearExpiredInterval = 0;
      await database.close();
    },
  };
  return completeStore(engine, database, secretsKey);
}

/** SQLite would let the whole machine read a new file, and what it writes beside it. */
export function openPrivateStore(file: string, options: StoreOptions): OpenStore {
  if (file !== ":memory:") closeSync(openSync(file, "a", 0o600));
  makePrivate([file, `${file}-wal`, `${file}-shm`], "STORE_URL");
  return openStore(file, options);
}

function migrationTarget(database: Database): MigrationTarget {
  const { file, applied } = database;
  const snapshotOf = (owner: string, number: number) => `${file}.before-${owner}-${number}`;
  return {
    engine: "sqlite",
    applied,
    exclusively: (work) => database.transaction((tx) => work(tx, database.script)),
    beforeStep(owner, number) {
      if (file === ":memory:") return;
      const snapshot = snapshotOf(owner, number);
      rmSync(snapshot, { force: true });
      database.copyTo(snapshot);
      makePrivate([snapshot], "STORE_URL");
    },
    refuseNewer(owner, number, known) {
      const message = `the store ${file} was written by a newer Postern (${owner} is at ${number}, this one knows ${known}): run that version, or restore ${snapshotOf(owner, known + 1)}`;
      throw new Fault("config", "store_newer", message, { param: file });
    },
  };
}

/** Lets Keyv use our connection, so that its writes and ours never compete for the file. */
function sharedDriver(database: Database, onWrite: () => void): SqliteDriver {
  return {
    name: "custom",
    connect: async () => ({
      query: async (sql, ...values) => {
        const given = values.map((value) => (value === undefined ? null : value)) as SqlValue[];
        const hasRows = READS.test(sql);
        const rows = hasRows ? await database.all(sql, ...given) : [];
        if (!hasRows) await database.run(sql, ...given);
        // Only now: a caller that has read before the write was done must read again.
        if (!SELECTS.test(sql)) onWrite();
        return rows;
      },
      close: async () => {},
    }),
  };
}
