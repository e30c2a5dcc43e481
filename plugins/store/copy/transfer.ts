/** Copies everything of one store into another, whichever engines the two are on, and proves that it arrived. */
import type { SealingKey } from "../../../kernel/kit/secrets.ts";
import type { OwnedTables } from "../../../kernel/kit/store.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { refuseOtherSchema, STAMP_OWNER } from "../engine/migrations.ts";
import type { OpenStore } from "../engine/open-store.ts";
import { prepare, type StoreLocation } from "./place.ts";
import { type Digest, digestOf, type Source, type Table, type Target } from "./side.ts";

export interface TransferOptions {
  readonly owned: readonly OwnedTables[];
  readonly secretsKey: SealingKey;
  /** Empties the target first. Without it a target that holds something is refused. */
  readonly replace: boolean;
  progress(table: string, done: number, of: number): void;
}

export async function transfer(
  from: StoreLocation,
  to: StoreLocation,
  options: TransferOptions,
): Promise<readonly Digest[]> {
  const left = new Set(options.owned.flatMap(({ derived = [] }) => derived));
  // Between two engines what the one has in a home goes another way.
  if (from.engine !== to.engine)
    for (const { files } of options.owned) for (const table of files?.tables ?? []) left.add(table);
  await using source = await from.source();
  refuseOtherSchema(await source.applied(), source.name);
  await makeReady(to, options);
  const digests = await copyRows(source, to, left, options);
  await verify(to, digests, options);
  await derive(to, options);
  if (from.engine === "sqlite" && to.engine === "postgres") await carryFiles("push", from.home, to, options);
  if (from.engine === "postgres" && to.engine === "sqlite") await carryFiles("pull", to.home, from, options);
  return digests;
}

async function makeReady(to: StoreLocation, { owned, secretsKey, replace }: TransferOptions): Promise<void> {
  await using store = await to.open(secretsKey);
  await refuseServed(to, store);
  if (!replace && (await isInUse(store))) {
    const message = `${to.name} already holds something. Name an empty place, or use --replace to take away what it holds`;
    throw new Fault("invalid", "store_not_empty", message);
  }
  await prepare(store, owned);
}

/** A service that runs there would not expect its rows to change. */
async function refuseServed(to: StoreLocation, store: OpenStore): Promise<void> {
  const others = (await store.node.list()).filter(({ id }) => id !== store.node.id).length;
  if (others === 0) return;
  const [services, them] = others === 1 ? ["a service runs", "it"] : [`${others} services run`, "them"];
  throw new Fault("unavailable", "store_in_use", `${services} on ${to.name}: stop ${them} first`);
}

/** True when a service has kept something there, if only its tables. */
async function isInUse(store: OpenStore): Promise<boolean> {
  const sql = await store.tables("copy", []);
  const others = `SELECT 1 FROM migrations WHERE owner NOT IN ('${STAMP_OWNER}', 'store', 'fleet') LIMIT 1`;
  return (await sql.get(others)) !== undefined;
}

/** Copies every row in one transaction of the target's. Returns what was written, table by table. */
async function copyRows(
  source: Source,
  to: StoreLocation,
  left: ReadonlySet<string>,
  { progress }: TransferOptions,
): Promise<readonly Digest[]> {
  await using target = await to.target();
  // A new store is not empty either: migrations put something there.
  await target.clear(await target.tables());
  const digests: Digest[] = [];
  for (const [from, place] of await pairTables(source, target, left)) {
    const of = await source.count(from);
    let done = 0;
    async function* passing() {
      for await (const rows of source.rows(from)) {
        await target.write(place, rows);
        done += rows.length;
        progress(from.name, done, of);
        yield rows;
      }
    }
    digests.push(await digestOf(from, passing()));
  }
  await target.finish();
  return digests;
}

/** Every table with rows must have its place, with the same columns. The target says the order. */
async function pairTables(
  source: Source,
  target: Target,
  left: ReadonlySet<string>,
): Promise<readonly (readonly [from: Table, to: Table])[]> {
  const places = (await target.tables()).filter(({ name }) => !left.has(name));
  const tables = (await source.tables()).filter(({ name }) => !left.has(name));
  const fits = (one: Table, other: Table) =>
    one.name === other.name && String(one.columns) === String(other.columns);
  for (const table of tables) {
    if (places.some((place) => fits(place, table)) || (await source.count(table)) === 0) continue;
    const message = places.some(({ name }) => name === table.name)
      ? `the table ${table.name} has other columns in ${source.name} than in ${target.name}: start the service once on ${source.name} with this version, then copy`
      : `${source.name} has a table ${table.name} that ${target.name} has no place for. If a plugin of yours keeps it, start the service with that plugin on the target once, stop it, and copy with --replace`;
    throw new Fault("config", "store_copy_mismatch", message);
  }
  return places.flatMap((to) => {
    const from = tables.find((table) => fits(table, to));
    return from === undefined ? [] : [[from, to] as const];
  });
}

/** Reads the copy again and compares it with what was written. */
async function verify(
  to: StoreLocation,
  expected: readonly Digest[],
  { progress }: TransferOptions,
): Promise<void> {
  await using copy = await to.source();
  const tables = new Map((await copy.tables()).map((table) => [table.name, table]));
  for (const { table: name, rows, sha256 } of expected) {
    progress(name, rows, rows);
    const table = tables.get(name) as Table;
    const found = await digestOf(table, copy.rows(table));
    if (found.rows === rows && found.sha256 === sha256) continue;
    const contents = found.rows === rows ? ", with other contents" : "";
    const message = `the copy ${copy.name} differs in ${name}: ${rows} rows were written and ${found.rows} read back${contents}. Do not use it; copy again`;
    throw new Fault("unavailable", "store_copy_differs", message);
  }
}

async function derive(to: StoreLocation, { owned, secretsKey }: TransferOptions): Promise<void> {
  await using store = await to.open(secretsKey);
  for (const tables of owned) await tables.derive?.(await store.tables(tables.owner, tables.migrations));
}

/** Takes what SQLite has in the home's files to PostgreSQL's tables, or the other way. */
async function carryFiles(
  way: "push" | "pull",
  home: string | undefined,
  database: StoreLocation,
  { owned, secretsKey }: TransferOptions,
): Promise<void> {
  if (home === undefined) return;
  await using store = await database.open(secretsKey);
  for (const { owner, migrations, files } of owned)
    await files?.[way](home, await store.tables(owner, migrations));
}
