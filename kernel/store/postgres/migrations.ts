/** Numbered migrations on a database that many nodes may start on at once. */
import { Fault } from "../../fault.ts";
import type { Migrations } from "../../vocabulary/store.ts";
import type { Handle, PostgresDatabase } from "./database.ts";
import type { Place } from "./faults.ts";

/** One node at a time changes tables. Any number would do; this one is ours. */
const LOCK = "SELECT pg_advisory_xact_lock(7065737465726)";

const TABLE = `CREATE TABLE IF NOT EXISTS migrations (
  owner TEXT COLLATE "C" NOT NULL, number BIGINT NOT NULL, applied_at TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (owner, number)
)`;

const APPLIED = "SELECT owner, max(number) AS number FROM migrations GROUP BY owner";

interface Applied {
  readonly owner: string;
  readonly number: number;
}

export async function openMigrations(database: PostgresDatabase, { database: name, host }: Place) {
  const locked = <Result>(work: (tx: Handle) => Promise<Result>): Promise<Result> =>
    database.transaction(
      async (tx) => {
        // Nothing is read before it is held: what another node did meanwhile has to show.
        await tx.get(LOCK);
        return await work(tx);
      },
      { isPatient: true },
    );

  const there = await database.get<{ readonly there: number }>(
    "SELECT to_regclass('migrations') IS NOT NULL AS there",
  );
  if (there?.there !== 1) await locked((tx) => tx.script(TABLE));
  // What a node finds at its start needs no lock, and no question for each owner.
  const applied = new Map<string, number>();
  for (const { owner, number } of await database.all<Applied>(APPLIED)) applied.set(owner, number);

  function refuseNewer(owner: string, number: number, known: number): void {
    if (number <= known) return;
    throw new Fault(
      "config",
      "store_newer",
      `the database ${name} at ${host} was written by a newer Postern (${owner} is at ${number}, this one knows ${known}): run that version, or restore a backup from before the upgrade`,
      { param: "STORE_URL" },
    );
  }

  return async function apply(owner: string, given: Migrations): Promise<void> {
    const migrations = "postgres" in given ? given.postgres : given;
    const found = applied.get(owner) ?? 0;
    refuseNewer(owner, found, migrations.length);
    if (found === migrations.length) return;
    await locked(async (tx) => {
      const query = "SELECT coalesce(max(number), 0) AS number FROM migrations WHERE owner = ?";
      const done = (await tx.get<Applied>(query, owner))?.number ?? 0;
      refuseNewer(owner, done, migrations.length);
      for (const [index, migration] of migrations.entries()) {
        if (index < done) continue;
        if (typeof migration === "string") await tx.script(migration);
        else await migration(tx);
        const insert = "INSERT INTO migrations VALUES (?, ?, ?)";
        await tx.run(insert, owner, index + 1, new Date().toISOString());
      }
    });
    applied.set(owner, migrations.length);
  };
}
