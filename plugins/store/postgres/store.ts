/** The store on PostgreSQL, for any number of nodes. */
import { randomBytes } from "node:crypto";
import type { Keys, SealingKey } from "../../../kernel/kit/secrets.ts";
import type { Keyring } from "../../../kernel/kit/store.ts";
import { Fault, type Sql } from "../../../kernel/plugin.ts";
import { nameOf, type PostgresSettings } from "../config/postgres-url.ts";
import { openKeyed, STORE_TABLES } from "../engine/keyed.ts";
import {
  APPLIED,
  type Applied,
  createMigrations,
  type MigrationTarget,
  refuseOtherSchema,
  STAMP,
} from "../engine/migrations.ts";
import { completeStore, type OpenStore } from "../engine/open-store.ts";
import { joinFleet } from "../fleet/fleet.ts";
import { deriveKey, ringOf } from "../keys/ring.ts";
import { type Handle, openDatabase, type PostgresDatabase } from "./database.ts";
import { openSignals } from "./signals.ts";

export interface PostgresStoreOptions {
  /** The same on every node: what one of them sealed, another has to read. */
  readonly secretsKey: SealingKey;
  /** False for a command that works beside the services. */
  readonly serves?: boolean;
}

/** The store that a bench can ask how much it talks. */
export interface PostgresStore extends OpenStore {
  roundTrips(): number;
}

const MIN_VERSION = 14;

export async function openPostgresStore(
  settings: PostgresSettings,
  { secretsKey, serves = true }: PostgresStoreOptions,
): Promise<PostgresStore> {
  const database = await openDatabase(settings);
  const keys = ringOf(secretsKey);
  try {
    const { schema } = await examine(database, settings);
    const migrate = createMigrations(await migrationTarget(database, settings));
    const tables: OpenStore["tables"] = async (owner, migrations) => {
      await migrate(owner, migrations);
      return database;
    };
    await tables("store", STORE_TABLES);
    await refuseOtherKey(database, settings, keys);
    const signals = openSignals(database, database.config, `${schema}\0${await secretOfSignals(database)}`);
    const { leave, ...fleet } = await joinFleet({ tables, signals }, serves);
    const keyed = openKeyed(async () => database);
    const engine = {
      name: nameOf(settings),
      keyed: keyed.get,
      removeKeyed: keyed.remove,
      tables,
      ...fleet,
      signals,
      roundTrips: database.roundTrips,
      probe: database.assertWritable,
      async close() {
        keyed.stop();
        // If the database is away, the other nodes notice by themselves.
        await Promise.all([signals.close(), leave().catch(() => {})]);
        await database.close();
      },
    };
    return completeStore(engine, database, async () => keys);
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** One node at a time changes tables. Any number would do; this one is ours. */
const LOCK = "SELECT pg_advisory_xact_lock(7065737465726)";

const MIGRATION_TABLE = `CREATE TABLE IF NOT EXISTS migrations (
  owner TEXT COLLATE "C" NOT NULL, number BIGINT NOT NULL, applied_at TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (owner, number)
)`;

async function migrationTarget(
  database: PostgresDatabase,
  place: PostgresSettings,
): Promise<MigrationTarget> {
  const name = `${place.database} at ${place.host}`;
  const locked = (work: (tx: Handle) => Promise<void>): Promise<void> =>
    database.transaction(
      async (tx) => {
        // Nothing is read before it is held: what another node did meanwhile has to show.
        await tx.get(LOCK);
        await work(tx);
      },
      { isPatient: true },
    );
  const there = await database.get("SELECT 1 WHERE to_regclass('migrations') IS NOT NULL");
  if (there === undefined) await locked((tx) => tx.script(`${MIGRATION_TABLE}; ${STAMP}`));
  const applied = await database.all<Applied>(APPLIED);
  refuseOtherSchema(applied, name);
  return {
    engine: "postgres",
    applied,
    exclusively: (work) => locked((tx) => work(tx, tx.script)),
    beforeStep() {},
    refuseNewer(owner, number, known) {
      const message = `the database ${name} was written by a newer Postern (${owner} is at ${number}, this one knows ${known}): run that version, or restore a backup from before the upgrade`;
      throw new Fault("config", "store_newer", message, { param: "STORE_URL" });
    },
  };
}

interface Server {
  readonly version: number;
  readonly encoding: string;
  /** The schema that tables are made in. */
  readonly schema: string;
  /** A schema of the search path in which every role may create functions. */
  readonly open_schema: string | null;
}

/** Throws unless a store could be opened there, and measures a round trip. Nothing is made. */
export async function probePostgres(
  settings: PostgresSettings,
): Promise<{ readonly version: number; readonly millis: number }> {
  const database = await openDatabase(settings);
  try {
    const { version } = await examine(database, settings);
    const start = performance.now();
    await database.probe();
    return { version, millis: performance.now() - start };
  } finally {
    await database.close();
  }
}

/** Returns what only those know who can read the store's tables. */
async function secretOfSignals(sql: Sql): Promise<string> {
  const { value } = (await sql.get<{ readonly value: string }>(
    `INSERT INTO store_facts VALUES ('signals', ?)
     ON CONFLICT (name) DO UPDATE SET value = store_facts.value RETURNING value`,
    randomBytes(16).toString("hex"),
  )) as { readonly value: string };
  return value;
}

/** Refuses a server that would fail later. */
async function examine(
  database: PostgresDatabase,
  { database: name, host }: PostgresSettings,
): Promise<Server> {
  const server = (await database.get<{ [Fact in keyof Server]: Server[Fact] | null }>(
    `SELECT current_setting('server_version_num')::integer / 10000 AS version,
            current_setting('server_encoding') AS encoding, current_schema() AS schema,
            (SELECT min(name) FROM unnest(current_schemas(false)) AS name
             WHERE has_schema_privilege('public', name, 'CREATE')) AS open_schema`,
  )) as Server;
  const refuse = (code: string, message: string) =>
    new Fault("config", code, message, { param: "STORE_URL" });
  if (server.version < MIN_VERSION)
    throw refuse(
      "store_old_server",
      `PostgreSQL at ${host} is version ${server.version}: use ${MIN_VERSION} or later`,
    );
  if (server.encoding !== "UTF8")
    throw refuse(
      "store_encoding",
      `the database ${name} at ${host} has the encoding ${server.encoding}: create it with ENCODING 'UTF8'`,
    );
  if (!server.schema)
    throw refuse(
      "store_forbidden",
      `the database ${name} at ${host} has no schema for new tables: create one and name it in search_path`,
    );
  // A function or operator that fits a statement better than PostgreSQL's own is run with our rights.
  if (server.open_schema !== null)
    throw refuse(
      "store_open_schema",
      `every role that may connect to the database ${name} at ${host} can create functions in its schema ${server.open_schema}, which Postern would run: REVOKE CREATE ON SCHEMA ${server.open_schema} FROM PUBLIC`,
    );
  return server;
}

/** Called when everything is sealed under the first key: nodes that have only an older one are refused from now on. */
export async function markKey(sql: Sql, [first]: Keys): Promise<void> {
  await sql.run("UPDATE store_facts SET value = ? WHERE name = 'secrets_key'", markOf(first));
}

function markOf(key: Uint8Array): string {
  return Buffer.from(deriveKey(key, "store mark")).toString("base64");
}

/** The store keeps a mark that is derived from the key: it shows whether two keys are the same, and nothing else. */
async function refuseOtherKey(
  database: PostgresDatabase,
  place: PostgresSettings,
  keys: Keyring,
): Promise<void> {
  const marks = keys.all().map(markOf);
  const [, kept] = await Promise.all([
    database.run("INSERT INTO store_facts VALUES ('secrets_key', ?) ON CONFLICT DO NOTHING", marks[0] ?? ""),
    database.get<{ readonly value: string }>("SELECT value FROM store_facts WHERE name = 'secrets_key'"),
  ]);
  if (marks.includes(kept?.value ?? "")) return;
  const message = `POSTERN_SECRETS_KEY is not the key that the database ${place.database} at ${place.host} was set up with: secrets sealed by other nodes could not be read. Set the same key on every node`;
  throw new Fault("config", "store_other_key", message, { param: "POSTERN_SECRETS_KEY" });
}
