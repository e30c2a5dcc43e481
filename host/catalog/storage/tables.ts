/** Installed tools as rows, for nodes that share a database. One machine has folders, where people look for them. */
import type { Sql } from "../../../kernel/plugin.ts";
import type { Store } from "../../../plugins/store/services.ts";

const VERSION = `(
  name TEXT COLLATE "C" PRIMARY KEY,
  sha256 TEXT COLLATE "C" NOT NULL,
  installed_at TEXT COLLATE "C" NOT NULL,
  record TEXT COLLATE "C" NOT NULL,
  capabilities TEXT COLLATE "C" NOT NULL,
  component BYTEA NOT NULL
)`;

/** On SQLite tools are files in the home. */
export const TABLES = {
  sqlite: [],
  postgres: [
    `CREATE TABLE tools ${VERSION};
     CREATE TABLE previous_tools ${VERSION};
     CREATE TABLE shipped_tools (name TEXT COLLATE "C" PRIMARY KEY, digest TEXT COLLATE "C" NOT NULL)`,
  ],
};

export type ToolTable = "tools" | "previous_tools";

/** Its number rises with every tool that comes or goes, which also lets one install at a time. */
export const TOPIC = "tools";

export function openToolTables(store: Store): Promise<Sql> {
  return store.tables("catalog", TABLES);
}
