/** The store on one SQLite file. */
import { closeSync, openSync, rmSync } from "node:fs";
import { makePrivate } from "../../../kernel/kit/files.ts";
import type { SealingKey } from "../../../kernel/kit/secrets.ts";
import type { Migrations } from "../../../kernel/kit/store.ts";
import { Fault, type Transaction } from "../../../kernel/plugin.ts";
import type { Durability } from "../config/settings.ts";
import { openKeyed, STORE_TABLES } from "../engine/keyed.ts";
import { createMigrations, type MigrationTarget } from "../engine/migrations.ts";
import { completeStore, type OpenStore } from "../engine/open-store.ts";
import { createSoleFleet } from "../fleet/fleet.ts";
import { createLocalSignals } from "../fleet/signals.ts";
import { onCommit } from "./commits.ts";
import { type Database, openDatabase } from "./database.ts";

export interface StoreOptions {
  /** Read when a plugin first asks for a key of its own. */
  secretsKey?(): Promise<SealingKey>;
  /** A commit waits for the disk unless this says otherwise. */
  readonly durability?: Durability;
}

const noKey = () => Promise.reject(new Error("this store has no secrets key"));

export function openStore(file: string, { secretsKey = noKey, durability }: StoreOptions = {}): OpenStore {
  const database = openDatabase(file, durability);
  let ownWrites = 0;
  const migrate = createMigrations(migrationTarget(database));
  const ownTables = async () => {
    await migrate("store", STORE_TABLES);
    return database;
  };
  const keyed = openKeyed(ownTables, () => ownWrites++);

  const engine = {
    name: file,
    keyed: keyed.get,
    keyedVersion: () => `${ownWrites} ${database.foreignVersion()}`,
    async removeKeyed(tx: Transaction, namespace: string, ending: string) {
      onCommit(tx, () => ownWrites++);
      await keyed.remove(tx, namespace, ending);
    },
    async tables(owner: string, migrations: Migrations) {
      await ownTables();
      await migrate(owner, migrations);
      return database;
    },
    ...createSoleFleet(),
    signals: createLocalSignals(onCommit),
    probe: () => database.probe(),
    async close() {
      keyed.stop();
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
