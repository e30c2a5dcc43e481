/** The table of the files that nodes share, and how they go from a home to it and back when a store moves to the other engine. */
import type { OwnedTables } from "../../kernel/kit/store.ts";
import { Fault, type Sql } from "../../kernel/plugin.ts";
import { gather, writeToHome } from "./local-copy.ts";
import { FILE_TABLES, readFileRows, writeFileRow } from "./rows.ts";
import { SKILL_TABLES } from "./skills/added.ts";

export const TABLES: readonly OwnedTables[] = [
  {
    owner: "home files",
    migrations: FILE_TABLES,
    files: { tables: ["home_files"], push: pushFiles, pull: pullFiles },
  },
  { owner: "skills", migrations: SKILL_TABLES },
];

async function pushFiles(home: string, sql: Sql): Promise<void> {
  const now = new Date().toISOString();
  const { files, problems } = await gather(home);
  if (problems.length > 0) {
    const message = `these files in ${home} cannot be shared: ${problems.join("; ")}. Correct or remove them, then copy with --replace`;
    throw new Fault("invalid", "home_unusable", message);
  }
  await sql.transaction(async (tx) => {
    await Promise.all([...files].map(([path, text]) => writeFileRow(tx, path, text, now)));
  });
}

async function pullFiles(home: string, sql: Sql): Promise<void> {
  writeToHome(home, await readFileRows(sql), []);
}
