/** Moves a whole store to another place, whichever engines the two are on, and proves that it arrived. */
import { Fault } from "../../../kernel/plugin.ts";
import { type Digest, digestOf, type Source, type Table, type Target } from "./side.ts";

export interface Progress {
  table(name: string, done: number, of: number): void;
}

/** Copies every row in one transaction of the target's. Returns what was written, table by table. */
export async function copyRows(
  source: Source,
  target: Target,
  derived: ReadonlySet<string>,
  progress: Progress,
): Promise<readonly Digest[]> {
  const pairs = await pairTables(source, target, derived);
  const digests: Digest[] = [];
  for (const { from, to } of pairs) {
    const of = await source.count(from);
    let done = 0;
    async function* passing() {
      for await (const rows of source.rows(from)) {
        await target.write(to, rows);
        done += rows.length;
        progress.table(from.name, done, of);
        yield rows;
      }
    }
    digests.push(await digestOf(from, passing()));
  }
  await target.finish();
  return digests;
}

/** Reads the copy again and compares it with what was written. */
export async function verify(copy: Source, expected: readonly Digest[], progress: Progress): Promise<void> {
  const tables = new Map((await copy.tables()).map((table) => [table.name, table]));
  for (const { table: name, rows, sha256 } of expected) {
    progress.table(name, rows, rows);
    const found = await digestOf(tables.get(name) as Table, copy.rows(tables.get(name) as Table));
    if (found.rows === rows && found.sha256 === sha256) continue;
    throw new Fault(
      "unavailable",
      "store_copy_differs",
      `the copy ${copy.name} differs in ${name}: ${rows} rows were written and ${found.rows} read back${found.rows === rows ? ", with other contents" : ""}. Do not use it; copy again`,
    );
  }
}

/** Every table with rows must have its place, with the same columns. The target says the order. */
async function pairTables(
  source: Source,
  target: Target,
  derived: ReadonlySet<string>,
): Promise<readonly { readonly from: Table; readonly to: Table }[]> {
  const places = (await target.tables()).filter(({ name }) => !derived.has(name));
  const known = new Map(
    (await source.tables()).filter(({ name }) => !derived.has(name)).map((table) => [table.name, table]),
  );
  for (const table of known.values()) {
    const place = places.find(({ name }) => name === table.name);
    const fits = place !== undefined && String(place.columns) === String(table.columns);
    if (fits || (await source.count(table)) === 0) continue;
    throw new Fault(
      "config",
      "store_copy_mismatch",
      place === undefined
        ? `${source.name} has a table ${table.name} that ${target.name} has no place for. If a plugin of yours keeps it, start the service with that plugin on the target once, stop it, and copy with --replace`
        : `the table ${table.name} has other columns in ${source.name} than in ${target.name}: start the service once on ${source.name} with this version, then copy`,
    );
  }
  return places.flatMap((to) => {
    const from = known.get(to.name);
    return from !== undefined && String(from.columns) === String(to.columns) ? [{ from, to }] : [];
  });
}
