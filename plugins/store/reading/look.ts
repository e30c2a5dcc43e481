/** A look into the store that writes nothing, whatever it finds: no table is made, no node joins, no file appears beside it. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { SqlValue } from "../../../kernel/kit/store.ts";
import type { Env, SharedStore, StoreLook } from "../../../kernel/plugin.ts";
import type { PostgresSettings } from "../config/postgres-url.ts";
import { fileOf, readStoreSettings } from "../config/settings.ts";
import { NO_CHANGES } from "../fleet/changes.ts";

export interface Look extends StoreLook {
  /** Its name for people; undefined where there is no store yet. */
  readonly place: string | undefined;
  readonly shared: SharedStore | "unreachable" | undefined;
  close(): Promise<void>;
}

export async function look(env: Env, home: string): Promise<Look> {
  const found = readStoreSettings(env);
  if (found.engine === "sqlite") return lookIntoFile(fileOf(found, home));
  try {
    return await lookIntoDatabase(found.settings);
  } catch {
    // The store's own finding says why.
    const nothing = async () => undefined;
    return { place: undefined, shared: "unreachable", rows: async () => [], keyed: nothing, close: nothing };
  }
}

async function lookIntoDatabase(settings: PostgresSettings): Promise<Look> {
  const { openDatabase } = await import("../postgres/database.ts");
  const database = await openDatabase(settings);
  const has: SharedStore["has"] = async (table) =>
    (await database.get("SELECT 1 WHERE to_regclass(?) IS NOT NULL", table)) !== undefined;
  const rows = <Row>(sql: string, ...values: readonly SqlValue[]): Promise<readonly Row[]> =>
    database.all<Row>(sql, ...values).catch(() => []);
  try {
    await database.probe();
  } catch (error) {
    await database.close();
    throw error;
  }
  return {
    place: `${settings.database} at ${settings.host}`,
    shared: { sql: database, has, changes: NO_CHANGES },
    rows,
    keyed: (namespace, key) => readKeyed(rows, namespace, key),
    close: () => database.close(),
  };
}

function lookIntoFile(file: string): Look {
  const database = existsSync(file) ? openIfReadable(file) : undefined;
  const rows = async <Row>(sql: string, ...values: readonly SqlValue[]): Promise<readonly Row[]> => {
    try {
      return (database?.prepare(sql).all(...values) ?? []) as Row[];
    } catch {
      // The table is not there yet, or the file is damaged, which the store's own finding says.
      return [];
    }
  };
  return {
    place: database && file,
    shared: undefined,
    rows,
    keyed: (namespace, key) => readKeyed(rows, namespace, key),
    async close() {
      database?.close();
    },
  };
}

/** Keyv writes a value as JSON, with the time it expires at beside it. */
async function readKeyed<Value>(
  rows: StoreLook["rows"],
  namespace: string,
  key: string,
): Promise<Value | undefined> {
  const [row] = await rows<{ readonly value: string }>(
    "SELECT value FROM keyed WHERE namespace = ? AND key = ? AND (expires IS NULL OR expires > ?)",
    namespace,
    key,
    Date.now(),
  );
  return row && (JSON.parse(row.value) as { readonly value: Value }).value;
}

function openIfReadable(file: string): DatabaseSync | undefined {
  try {
    return openToRead(file);
  } catch {
    return undefined;
  }
}

export function openToRead(file: string): DatabaseSync {
  const url = pathToFileURL(file);
  // A reader of a file that nobody has open would make the files of its write-ahead log, and leave them there.
  if (!existsSync(`${file}-wal`)) url.searchParams.set("immutable", "1");
  return new DatabaseSync(url, { readOnly: true });
}
