/** The operator's files between a home and rows, when a store moves from one engine to the other. */
import { Fault, type Sql } from "../../kernel/plugin.ts";
import { gather, writeToHome } from "./local-copy.ts";
import { writeFileRow } from "./rows.ts";

export async function pushFiles(home: string, sql: Sql): Promise<void> {
  const now = new Date().toISOString();
  const { files, problems } = await gather(home);
  if (problems.length > 0)
    throw new Fault(
      "invalid",
      "home_unusable",
      `these files in ${home} cannot be shared: ${problems.join("; ")}. Correct or remove them, then copy with --replace`,
    );
  await sql.transaction(async (tx) => {
    await Promise.all([...files].map(([path, text]) => writeFileRow(tx, path, text, now)));
  });
}

export async function pullFiles(home: string, sql: Sql): Promise<void> {
  const rows = await sql.all<{ path: string; text: string }>("SELECT path, text FROM home_files");
  writeToHome(home, new Map(rows.map(({ path, text }) => [path, text])), []);
}
