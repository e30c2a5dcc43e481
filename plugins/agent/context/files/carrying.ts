/** The operator's files between a home and rows, when a store moves from one engine to the other. */
import type { Sql } from "../../../../kernel/plugin.ts";
import { gather, writeToHome } from "./home.ts";

export async function pushFiles(home: string, sql: Sql): Promise<void> {
  const now = new Date().toISOString();
  const { files } = await gather(home);
  await sql.transaction(async (tx) => {
    for (const [path, text] of files)
      void tx.run(
        `INSERT INTO home_files (path, text, changed_at) VALUES (?, ?, ?)
         ON CONFLICT (path) DO UPDATE SET text = excluded.text, changed_at = excluded.changed_at`,
        path,
        text,
        now,
      );
  });
}

export async function pullFiles(home: string, sql: Sql): Promise<void> {
  const rows = await sql.all<{ path: string; text: string }>("SELECT path, text FROM home_files");
  writeToHome(home, new Map(rows.map(({ path, text }) => [path, text])), []);
}
