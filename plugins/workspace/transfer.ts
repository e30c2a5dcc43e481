/** A workspace that becomes another user's: what is at the top and has the name of something of theirs gets another. */
import type { Sql, Transaction } from "../../kernel/plugin.ts";
import { recount } from "./account.ts";
import { foldPath } from "./path.ts";

export async function giveFiles(
  tx: Transaction,
  engine: Sql["engine"],
  from: string,
  to: string,
): Promise<void> {
  for (const user of [from, to].toSorted()) {
    await tx.run(
      'INSERT INTO workspace_accounts ("user", bytes, files, folders) VALUES (?, 0, 0, 0) ON CONFLICT DO NOTHING',
      user,
    );
    if (engine === "postgres")
      await tx.get('SELECT bytes FROM workspace_accounts WHERE "user" = ? FOR UPDATE', user);
  }
  const [own, theirs] = [await topsOf(tx, from), await topsOf(tx, to)];
  const taken = new Set([...own, ...theirs].map(foldPath));
  const occupied = new Set(theirs.map(foldPath));
  for (const top of own) {
    if (!occupied.has(foldPath(top))) continue;
    const free = freeName(top, taken);
    taken.add(foldPath(free));
    await rename(tx, from, top, free);
  }
  await giveContents(tx, from, to);
  // A write that was under way ended with the node that it was on.
  await tx.run('DELETE FROM workspace_pending WHERE "user" = ?', from);
  for (const table of ["workspace_entries", "workspace_versions", "workspace_sets"])
    await tx.run(`UPDATE ${table} SET "user" = ? WHERE "user" = ?`, to, from);
  await tx.run(
    'DELETE FROM workspace_mounts WHERE "user" = ? AND name IN (SELECT name FROM workspace_mounts WHERE "user" = ?)',
    from,
    to,
  );
  await tx.run('UPDATE workspace_mounts SET "user" = ? WHERE "user" = ?', to, from);
  await tx.run('DELETE FROM workspace_accounts WHERE "user" = ?', from);
  await recount(tx, to);
}

/** The first part of every path, also of those that only have versions: `/reports`, or `garden:`. */
async function topsOf(tx: Transaction, user: string): Promise<readonly string[]> {
  const rows = await tx.all<{ path: string }>(
    'SELECT path FROM workspace_entries WHERE "user" = ? UNION SELECT path FROM workspace_versions WHERE "user" = ?',
    user,
    user,
  );
  return [...new Set(rows.map(({ path }) => /^(?:[^/]+|\/[^/]*)/.exec(path)?.[0] ?? path))];
}

/** `/may-2.csv` in place of `/may.csv`. */
function freeName(top: string, taken: ReadonlySet<string>): string {
  const [, stem = top, end = ""] = /^(.+?)(\.[^.]*|:)?$/s.exec(top) ?? [];
  for (let count = 2; ; count++) {
    const free = `${stem}-${count}${end}`;
    if (!taken.has(foldPath(free))) return free;
  }
}

async function rename(tx: Transaction, user: string, before: string, after: string): Promise<void> {
  const moved = (column: string, old: string) =>
    `${column} = CAST(? AS TEXT) || substr(${column}, ${[...old].length + 1})`;
  const within = (column: string) => `(${column} = ? OR ${column} >= ? AND ${column} < ?)`;
  const range = [before, `${before}/`, `${before}0`] as const;
  const folded = foldPath(before);
  await tx.run(
    `UPDATE workspace_entries SET ${moved("path", before)}, ${moved("folded", folded)},
       parent = CASE WHEN ${within("parent")} THEN CAST(? AS TEXT) || substr(parent, ${[...before].length + 1}) ELSE parent END
     WHERE "user" = ? AND ${within("path")}`,
    after,
    foldPath(after),
    ...range,
    after,
    user,
    ...range,
  );
  for (const column of ["path", "other"])
    await tx.run(
      `UPDATE workspace_versions SET ${moved(column, before)} WHERE "user" = ? AND ${within(column)}`,
      after,
      user,
      ...range,
    );
  await tx.run(
    `UPDATE workspace_folder_changes SET ${moved("path", before)}
     WHERE change_set IN (SELECT seq FROM workspace_sets WHERE "user" = ?) AND ${within("path")}`,
    after,
    user,
    ...range,
  );
}

/** What both have is kept once. */
async function giveContents(tx: Transaction, from: string, to: string): Promise<void> {
  const twins = await tx.all<{ mine: number; theirs: number }>(
    `SELECT mine.id AS mine, theirs.id AS theirs FROM workspace_contents AS mine
     JOIN workspace_contents AS theirs ON theirs.digest = mine.digest AND theirs."user" = ? WHERE mine."user" = ?`,
    to,
    from,
  );
  for (const { mine, theirs } of twins) {
    await tx.run("UPDATE workspace_versions SET content = ? WHERE content = ?", theirs, mine);
    await tx.run(
      'UPDATE workspace_entries SET content = ? WHERE "user" = ? AND content = ?',
      theirs,
      from,
      mine,
    );
    await tx.run("DELETE FROM workspace_contents WHERE id = ?", mine);
  }
  await tx.run('UPDATE workspace_contents SET "user" = ? WHERE "user" = ?', to, from);
}
