/** The operator's files as rows, which every node of a fleet reads. `postern home push` writes them. */

import type { Queries, Sql } from "../../kernel/plugin.ts";
import type { Store } from "../store/services.ts";
import { folderOf, type OperatorFiles } from "./files.ts";

export const FILE_TABLES = {
  // One machine has them in its home.
  sqlite: [],
  postgres: [
    `CREATE TABLE home_files (
      path TEXT COLLATE "C" PRIMARY KEY, text TEXT COLLATE "C" NOT NULL, changed_at TEXT COLLATE "C" NOT NULL
    )`,
  ],
};

const TOPIC = "home-files";

export interface RowFiles extends OperatorFiles {
  /** Every file by its path. */
  all(): Promise<ReadonlyMap<string, string>>;
  /** In one transaction: a turn sees all of it or nothing. */
  change(written: ReadonlyMap<string, string>, removed: readonly string[]): Promise<void>;
  close(): void;
}

export function openRowFiles(sql: Sql, changes: Store["changes"]): RowFiles {
  const files = changes.cache(TOPIC, () => readFileRows(sql));
  const self: RowFiles = {
    write: (path, text) => self.change(new Map([[path, text]]), []),
    all: files.get,
    async read(path, mostBytes) {
      const text = (await files.get()).get(path);
      return text === undefined || text.length <= mostBytes ? text : text.slice(0, mostBytes);
    },
    async skills() {
      return [...(await files.get())].flatMap(([path, text]) => {
        const folder = folderOf(path);
        return folder === undefined ? [] : [{ folder, text }];
      });
    },
    skillFiles: async () => [],
    skillFile: async () => undefined,
    onChange: (listener) => changes.follow(TOPIC, listener),
    async change(written, removed) {
      const now = new Date().toISOString();
      await sql.transaction(async (tx) => {
        await Promise.all([
          changes.mark(TOPIC, tx),
          ...[...written].map(([path, text]) => writeFileRow(tx, path, text, now)),
          ...removed.map((path) => tx.run("DELETE FROM home_files WHERE path = ?", path)),
        ]);
      });
      files.forget();
    },
    close: files.close,
  };
  return self;
}

export async function readFileRows(sql: Queries): Promise<ReadonlyMap<string, string>> {
  const rows = await sql.all<{ path: string; text: string }>(
    "SELECT path, text FROM home_files ORDER BY path",
  );
  return new Map(rows.map(({ path, text }) => [path, text]));
}

export function writeFileRow(queries: Queries, path: string, text: string, now: string): Promise<number> {
  return queries.run(
    `INSERT INTO home_files (path, text, changed_at) VALUES (?, ?, ?)
     ON CONFLICT (path) DO UPDATE SET text = excluded.text, changed_at = excluded.changed_at`,
    path,
    text,
    now,
  );
}
