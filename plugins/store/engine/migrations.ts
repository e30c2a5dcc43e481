/** The numbered migrations of each owner, on either engine, and the stamp that says which schema they belong to. */
import type { Migration, Migrations } from "../../../kernel/kit/store.ts";
import { Fault, type Sql, type Transaction } from "../../../kernel/plugin.ts";

/** Raised only where the tables of an owner are written anew instead of being migrated. */
const SCHEMA = 3;
/** The stamp is a row of its own beside those of the owners. */
export const STAMP_OWNER = "schema";

export const STAMP = `INSERT INTO migrations SELECT '${STAMP_OWNER}', ${SCHEMA}, '${new Date().toISOString()}'
  WHERE NOT EXISTS (SELECT 1 FROM migrations)`;
export const APPLIED = "SELECT owner, max(number) AS number FROM migrations GROUP BY owner";

export interface Applied {
  readonly owner: string;
  readonly number: number;
}

/** Refuses a store whose tables were made by another version than the migrations here begin with. An empty one has no stamp. */
export function refuseOtherSchema(applied: readonly Applied[], store: string): void {
  if (applied.length === 0) return;
  const stamp = Number(applied.find(({ owner }) => owner === STAMP_OWNER)?.number ?? 0);
  if (stamp === SCHEMA) return;
  const [code, age] = stamp < SCHEMA ? ["store_older", "an older"] : ["store_newer", "a newer"];
  const message = `the store ${store} was made by ${age} Postern whose tables this version cannot use: run that version on it, or set STORE_URL or POSTERN_HOME to a new place and start with an empty store`;
  throw new Fault("config", code, message, { param: "STORE_URL" });
}

export interface MigrationTarget {
  readonly engine: Sql["engine"];
  /** The migrations found when the store was opened: reading them once needs no lock, and no query for each owner. */
  readonly applied: readonly Applied[];
  /** A transaction that no other process is in at the same time. */
  exclusively(work: (tx: Transaction, script: (sql: string) => unknown) => Promise<void>): Promise<void>;
  /** Called before a step changes tables that hold something. */
  beforeStep(owner: string, number: number): void;
  refuseNewer(owner: string, number: number, known: number): never;
}

/** Returns what brings an owner's tables up to date. */
export function createMigrations(target: MigrationTarget) {
  const known = new Map(target.applied.map(({ owner, number }) => [owner, number]));
  return async (owner: string, given: Migrations): Promise<void> => {
    const steps = stepsOf(given, target.engine);
    const found = known.get(owner) ?? 0;
    if (found > steps.length) target.refuseNewer(owner, found, steps.length);
    for (const [index, step] of steps.entries()) {
      const number = index + 1;
      if (number <= found) continue;
      // The owner's first tables are added without touching what is there: nothing to save.
      if (found > 0) target.beforeStep(owner, number);
      await target.exclusively(async (tx, script) => {
        // Another process may have been quicker, also one of a newer version.
        const last = (await tx.get<Applied>(`${APPLIED} HAVING owner = ?`, owner))?.number ?? 0;
        if (last > steps.length) target.refuseNewer(owner, last, steps.length);
        if (last >= number) return;
        await (typeof step === "string" ? script(step) : step(tx));
        await tx.run("INSERT INTO migrations VALUES (?, ?, ?)", owner, number, new Date().toISOString());
      });
    }
    known.set(owner, steps.length);
  };
}

export function stepsOf(given: Migrations, engine: Sql["engine"]): readonly Migration[] {
  return "sqlite" in given ? given[engine] : given;
}
