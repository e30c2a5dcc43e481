/** Opens the operator's files where they are: in the home, or in the database that nodes share. */

import type { Log } from "../../kernel/plugin.ts";
import type { Store } from "../store/services.ts";
import { FETCHED_MODELS_FILE, IDENTITY_FILES, type OperatorFiles } from "./files.ts";
import { openFolderFiles } from "./folder.ts";
import { findUnused } from "./local-copy.ts";
import { readModels } from "./model-files.ts";
import { parseModelTable } from "./model-table.ts";
import { FILE_TABLES, openRowFiles } from "./rows.ts";
import type { HomeFiles } from "./services.ts";

export async function openOperatorFiles(
  store: Store,
  home: string,
  log: Log,
): Promise<{ readonly files: OperatorFiles; close(): void }> {
  const sql = await store.tables("home files", FILE_TABLES);
  if (sql.engine === "sqlite") return { files: openFolderFiles(home), close() {} };
  const files = openRowFiles(sql, store.changes);
  const unused = await findUnused(home, await files.all());
  if (unused.length > 0)
    log.warn(
      `${unused.join(", ")} in ${home} differ from what the nodes share in the database, which is what counts: send them with "postern home push", or get what is shared with "postern home pull"`,
    );
  return { files, close: files.close };
}

export function homeFilesOf(files: OperatorFiles): HomeFiles {
  return {
    identity: IDENTITY_FILES,
    read: files.read,
    models: () => readModels(files),
    async keepModels(text) {
      parseModelTable(text, "the table");
      await files.write(FETCHED_MODELS_FILE, text);
    },
    onChange: files.onChange,
  };
}
