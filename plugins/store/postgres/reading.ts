/** A look into the database that nodes share, for commands that must not change it: no table is made, no node joins. */

import type { SharedStore } from "../../../kernel/plugin.ts";
import type { Env } from "../../../kernel/settings/env.ts";
import { type PostgresSettings, readPostgresSettings } from "../config/postgres-url.ts";

interface Look {
  /** Undefined where nodes share nothing. */
  readonly shared: SharedStore | "unreachable" | undefined;
  close(): Promise<void>;
}

const NOTHING_OPEN = async () => {};

export async function lookIntoShared(env: Env): Promise<Look> {
  const settings = readPostgresSettings(env, env.connection("STORE_URL"));
  if (settings === undefined) return { shared: undefined, close: NOTHING_OPEN };
  try {
    return await look(settings);
  } catch {
    // Why, the store's own finding says.
    return { shared: "unreachable", close: NOTHING_OPEN };
  }
}

async function look(settings: PostgresSettings): Promise<Look> {
  const [{ openDatabase }, { openKeyed }] = await Promise.all([
    import("./database.ts"),
    import("./keyed.ts"),
  ]);
  const database = await openDatabase(settings);
  try {
    const found = await database.get<{ readonly schema: string }>("SELECT current_schema() AS schema");
    const keyed = openKeyed(database, found?.schema ?? "public");
    const has: SharedStore["has"] = async (table) =>
      (await database.get<{ name: string | null }>("SELECT to_regclass(?)::text AS name", table))?.name !=
      null;
    return {
      shared: { sql: database, keyed: (namespace) => keyed.get(namespace), has },
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
