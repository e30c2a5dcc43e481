/** The store on each engine, as one node uses it. */
import { join } from "node:path";
import { readPostgresUrl } from "../../../plugins/store/config/postgres-url.ts";
import type { OpenStore } from "../../../plugins/store/engine/open-store.ts";
import { openPostgresStore, type PostgresStore } from "../../../plugins/store/postgres/store.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";

export const SECRETS_KEY = Buffer.alloc(32, 7);
// As a node that nobody has told otherwise.
const DEFAULTS = { poolSize: 10, statementSecs: 30, tls: "prefer" } as const;

export const FULL = "SQLite, full";
export const POSTGRES = "PostgreSQL";

export async function openPostgres(url: string): Promise<PostgresStore> {
  const settings = readPostgresUrl(url, DEFAULTS);
  if (typeof settings === "string") throw new Error(settings);
  return openPostgresStore(settings, { secretsKey: SECRETS_KEY });
}

/** The first is what the others stand beside. */
export async function openEngines(folder: string, postgres: string): Promise<ReadonlyMap<string, OpenStore>> {
  const secretsKey = async () => SECRETS_KEY;
  return new Map<string, OpenStore>([
    [FULL, openStore(join(folder, "full.sqlite"), { secretsKey })],
    ["SQLite, normal", openStore(join(folder, "normal.sqlite"), { secretsKey, durability: "normal" })],
    [POSTGRES, await openPostgres(postgres)],
  ]);
}
