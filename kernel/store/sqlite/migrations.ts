/** Numbered migrations of a SQLite file. */
import { rmSync } from "node:fs";
import { Fault } from "../../fault.ts";
import type { Migration, Migrations } from "../../vocabulary/store.ts";
import { makePrivate } from "../files/ownership.ts";
import type { Database } from "./database.ts";

/** Applies what is missing, each with its number in one transaction, and a snapshot before it. */
export async function migrate(database: Database, owner: string, given: Migrations): Promise<void> {
  const migrations: readonly Migration[] = "sqlite" in given ? given.sqlite : given;
  const query = "SELECT coalesce(max(number), 0) AS number FROM migrations WHERE owner = ?";
  const applied = (await database.get<{ number: number }>(query, owner))?.number ?? 0;
  if (applied > migrations.length) {
    throw new Fault(
      "config",
      "store_newer",
      `the store ${database.file} was written by a newer Postern (${owner} is at ${applied}, this one knows ${migrations.length}): run that version, or restore ${database.file}.before-${owner}-${migrations.length + 1}`,
      { param: database.file },
    );
  }
  for (const [at, migration] of migrations.slice(applied).entries()) {
    const number = applied + at + 1;
    // The owner's first tables are added to the file without touching what is there: nothing to save.
    if (applied > 0) snapshot(database, `${database.file}.before-${owner}-${number}`);
    await apply(database, owner, number, migration);
  }
}

async function apply(database: Database, owner: string, number: number, migration: Migration): Promise<void> {
  await database.transaction(async (tx) => {
    // Another process, such as a command, may have been quicker.
    const done = await tx.get("SELECT 1 FROM migrations WHERE owner = ? AND number = ?", owner, number);
    if (done !== undefined) return;
    if (typeof migration === "string") database.script(migration);
    else await migration(tx);
    await tx.run("INSERT INTO migrations VALUES (?, ?, ?)", owner, number, new Date().toISOString());
  });
}

function snapshot(database: Database, file: string): void {
  if (database.file === ":memory:") return;
  rmSync(file, { force: true });
  database.copyTo(file);
  makePrivate([file], "STORE_URL");
}
