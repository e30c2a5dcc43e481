/** Opens the catalog: folders in the home, or rows where nodes share a database. */
import type { Log, Sql, Store } from "../../kernel/plugin.ts";
import type { Catalog, InstalledTool } from "./catalog.ts";
import { openFolderCatalog, toolsFolder } from "./storage/folders.ts";
import { recoverTools } from "./storage/recovery.ts";
import { openRowCatalog } from "./storage/rows.ts";

export async function openCatalog(home: string, sql: Sql, store: Store, log: Log): Promise<Catalog> {
  const folders = openFolderCatalog(home);
  if (sql.engine === "postgres") {
    const rows = openRowCatalog(sql, store.changes);
    await warnOfUnused(await folders.list(), rows, toolsFolder(home), log);
    return rows;
  }
  // Before anyone looks: a shipped tool that is not there counts as removed by the user.
  await recoverTools(toolsFolder(home), log);
  return folders;
}

/** After a move from SQLite the tools in the home are still there, and nobody calls them. */
async function warnOfUnused(
  own: readonly InstalledTool[],
  shared: Catalog,
  folder: string,
  log: Log,
): Promise<void> {
  const known = new Set((await shared.list()).map(({ name }) => name));
  const unused = own.flatMap(({ name }) => (known.has(name) ? [] : [name]));
  if (unused.length > 0)
    log.warn(
      `not used in ${folder}: ${unused.join(", ")}. Nodes share the tools in the database: install what you need there with "postern tool install", and delete it here`,
    );
}
