/** Everything of one store into another: places made ready, rows copied and compared, indexes made again. */
import type { OwnedTables, SealingKey } from "../../../kernel/kit.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { refuseOtherSchema, STAMP_OWNER } from "../engine/migrations.ts";
import type { OpenStore } from "../engine/open-store.ts";
import { copyRows, type Progress, verify } from "./copy.ts";
import { type Place, prepare } from "./place.ts";
import type { Digest } from "./side.ts";

export interface TransferOptions {
  readonly owned: readonly OwnedTables[];
  readonly secretsKey: SealingKey;
  /** What the target holds is taken away first. Without it a target that holds something is refused. */
  readonly replace: boolean;
  readonly progress: Progress;
}

export async function transfer(from: Place, to: Place, options: TransferOptions): Promise<readonly Digest[]> {
  const { owned, secretsKey, replace, progress } = options;
  const derived = new Set(owned.flatMap((tables) => tables.derived ?? []));
  // Between two engines what the one has in a home goes another way.
  if (from.engine !== to.engine)
    for (const { files } of owned) for (const table of files?.tables ?? []) derived.add(table);
  const source = await from.source();
  try {
    refuseOtherSchema(await source.applied(), source.name);
    const ready = await to.open(secretsKey);
    try {
      await refuseServed(to, ready);
      if (!replace && (await isInUse(ready))) throw notEmpty(to);
      await prepare(ready, owned);
    } finally {
      await ready.close();
    }
    const target = await to.target();
    let digests: readonly Digest[];
    try {
      // A new store is not empty either: migrations put something there.
      await target.clear(await target.tables());
      digests = await copyRows(source, target, derived, progress);
    } finally {
      await target.close();
    }
    const copy = await to.source();
    try {
      await verify(copy, digests, progress);
    } finally {
      await copy.close();
    }
    await derive(to, owned, secretsKey);
    await carryFiles(from, to, options);
    return digests;
  } finally {
    await source.close();
  }
}

/** Takes what SQLite has in the home's files to PostgreSQL's tables, or the other way. */
async function carryFiles(
  from: Place,
  to: Place,
  { owned, secretsKey }: Pick<TransferOptions, "owned" | "secretsKey">,
): Promise<void> {
  if (from.engine === to.engine) return;
  const [files, database] = from.engine === "sqlite" ? [from, to] : [to, from];
  const { home } = files;
  if (home === undefined) return;
  const store = await database.open(secretsKey);
  try {
    for (const { owner, migrations, files: carried } of owned) {
      if (carried === undefined) continue;
      const sql = await store.tables(owner, migrations);
      await (from.engine === "sqlite" ? carried.push(home, sql) : carried.pull(home, sql));
    }
  } finally {
    await store.close();
  }
}

async function derive(to: Place, owned: readonly OwnedTables[], secretsKey: SealingKey): Promise<void> {
  const store = await to.open(secretsKey);
  try {
    for (const tables of owned) await tables.derive?.(await store.tables(tables.owner, tables.migrations));
  } finally {
    await store.close();
  }
}

/** True when a service has kept something there, if only its tables. */
async function isInUse(store: OpenStore): Promise<boolean> {
  const sql = await store.tables("copy", []);
  const others = `SELECT 1 FROM migrations WHERE owner NOT IN ('${STAMP_OWNER}', 'store', 'fleet') LIMIT 1`;
  return (await sql.get(others)) !== undefined;
}

/** What runs on it would be surprised. */
async function refuseServed(
  to: Place,
  store: { readonly node: { readonly id: string; list(): Promise<readonly { readonly id: string }[]> } },
): Promise<void> {
  const others = (await store.node.list()).filter(({ id }) => id !== store.node.id);
  if (others.length === 0) return;
  throw new Fault(
    "unavailable",
    "store_in_use",
    `${others.length === 1 ? "a service runs" : `${others.length} services run`} on ${to.name}: stop ${others.length === 1 ? "it" : "them"} first`,
  );
}

const notEmpty = (to: Place) =>
  new Fault(
    "invalid",
    "store_not_empty",
    `${to.name} already holds something. Name an empty place, or use --replace to take away what it holds`,
    { usage: true },
  );
