/** The tree as it is now, and the steps that change it. Each step leaves a version of every file that it touches. */
import { randomUUID } from "node:crypto";
import { isTextual } from "../../kernel/kit/files.ts";
import { distinctOrigins } from "../../kernel/kit/turns.ts";
import { Fault, type Origin, type Page, type Queries, type Transaction } from "../../kernel/plugin.ts";
import { type Account, ROW_BYTES } from "./account.ts";
import type { Content } from "./contents.ts";
import { mimeOfFile } from "./file-type.ts";
import { cleanPath, foldPath, isBelow, parentOf, prefixOf, ROOT, rebase } from "./path.ts";
import type { SearchSource } from "./search.ts";
import type { Change, WorkspaceEntry, WorkspaceVersion } from "./services.ts";

const MAX_LISTED = 1000;
export const FOLDER_TYPE = "inode/directory";

export interface StoredEntry {
  readonly path: string;
  /** Null for a folder. */
  readonly content: number | null;
  readonly version: number;
  readonly updatedAt: string;
  readonly origins: string | null;
  readonly bytes: number | null;
  readonly digest: string | null;
  readonly mime: string | null;
}

const ENTRIES = `SELECT entry.path, entry.content, entry.version, entry.updated_at AS "updatedAt", entry.origins,
    contents.bytes, contents.digest, contents.mime
  FROM workspace_entries AS entry LEFT JOIN workspace_contents AS contents ON contents.id = entry.content`;

/** One transaction that changes the workspace of a user. */
export interface Changing {
  readonly tx: Transaction;
  readonly user: string;
  readonly account: Account;
  readonly at: string;
  readonly change: Change;
  /** The number of the set that the changes belong to, which is made when there is a first. */
  set(): Promise<number>;
}

/** What a file is to be: this content, with these origins. */
export interface Target {
  readonly content: Content;
  readonly origins: readonly Origin[] | undefined;
}

export function rootEntry(path: string): WorkspaceEntry {
  return {
    path,
    kind: "folder",
    bytes: 0,
    mime: FOLDER_TYPE,
    version: 0,
    updatedAt: new Date(0).toISOString(),
  };
}

export function showEntry(row: StoredEntry): WorkspaceEntry {
  const { path, version, updatedAt, bytes, digest, mime } = row;
  if (row.content === null)
    return { path, kind: "folder", bytes: 0, mime: FOLDER_TYPE, version: 0, updatedAt };
  return {
    path,
    kind: "file",
    bytes: bytes ?? 0,
    mime: mimeOfFile(path, mime ?? ""),
    version,
    digest: digest ?? undefined,
    updatedAt,
    origins: parseOrigins(row.origins),
  };
}

export function parseOrigins(origins: string | null): readonly Origin[] | undefined {
  return origins === null ? undefined : (JSON.parse(origins) as readonly Origin[]);
}

export const storeOrigins = (origins: readonly Origin[] | undefined): string | null =>
  origins?.length ? JSON.stringify(distinctOrigins(origins)) : null;

export const findEntry = (sql: Queries, user: string, path: string): Promise<StoredEntry | undefined> =>
  sql.get<StoredEntry>(`${ENTRIES} WHERE entry."user" = ? AND entry.path = ?`, user, path);

export async function listEntries(
  sql: Queries,
  user: string,
  folder: string,
  query: { readonly deep?: boolean; readonly limit?: number; readonly after?: string },
): Promise<Page<WorkspaceEntry>> {
  if (folder !== ROOT) {
    const found = await findEntry(sql, user, folder);
    if (found === undefined) throw noFolder(folder);
    if (found.content !== null) throw notFolder(folder);
  }
  const limit = Math.max(1, Math.min(MAX_LISTED, Math.floor(query.limit ?? MAX_LISTED)));
  const prefix = prefixOf(folder);
  const after = query.after === undefined || query.after < prefix ? prefix : query.after;
  const rows = query.deep
    ? await sql.all<StoredEntry>(
        `${ENTRIES} WHERE entry."user" = ? AND entry.path > ? AND entry.path < ? ORDER BY entry.path LIMIT ?`,
        user,
        after,
        endOf(prefix),
        limit + 1,
      )
    : await sql.all<StoredEntry>(
        `${ENTRIES} WHERE entry."user" = ? AND entry.parent = ? AND entry.path > ? ORDER BY entry.path LIMIT ?`,
        user,
        folder,
        after,
        limit + 1,
      );
  const items = rows.slice(0, limit).map(showEntry);
  const last = items.at(-1);
  return { items, ...(rows.length > limit && last && { next: last.path }) };
}

/** The text files below a folder, as a search reads them. */
export function searchSource(sql: Queries, user: string): SearchSource {
  return {
    async *files(folder) {
      for (let after: string | undefined; ; ) {
        const page = await listEntries(sql, user, folder, {
          deep: true,
          ...(after !== undefined && { after }),
        });
        for (const { path, bytes, mime, digest, origins } of page.items)
          if (isTextual(mime) && bytes > 0) yield { path, bytes, digest, origins };
        after = page.next;
        if (after === undefined) return;
      }
    },
    async read(files) {
      const rows = await sql.all<{ digest: string; data: Uint8Array }>(
        `SELECT digest, data FROM workspace_contents AS contents JOIN workspace_parts AS part ON part.content = contents.id
         WHERE contents."user" = ? AND digest IN (${files.map(() => "?").join()}) ORDER BY part.content, part.part`,
        user,
        ...files.map(({ digest }) => digest ?? ""),
      );
      const parts = Map.groupBy(rows, ({ digest }) => digest);
      // One that was swept away meanwhile is empty.
      return files.map(({ digest }) =>
        Buffer.concat((parts.get(digest ?? "") ?? []).map(({ data }) => data)),
      );
    },
  };
}

/** The first text after all that begin with this prefix, which ends with a slash. */
const endOf = (prefix: string): string => `${prefix.slice(0, -1)}0`;

/** The entry that has this name, or a fault where another has it in other letters. */
async function findForChange({ tx, user }: Changing, path: string): Promise<StoredEntry | undefined> {
  const found = await tx.get<StoredEntry>(
    `${ENTRIES} WHERE entry."user" = ? AND entry.folded = ?`,
    user,
    foldPath(path),
  );
  if (found !== undefined && found.path !== path) throw sameName(path, found.path);
  return found;
}

/** Makes the folders that are missing above a path. */
async function makeParents(on: Changing, path: string): Promise<void> {
  const parent = parentOf(path);
  if (parent === undefined || parent === ROOT) return;
  const found = await findForChange(on, parent);
  if (found === undefined) await makeFolder(on, parent);
  else if (found.content !== null) throw notFolder(parent);
}

/** Does nothing where the folder is there. */
export async function makeFolder(on: Changing, path: string): Promise<void> {
  if (path === ROOT) return;
  const found = await findForChange(on, path);
  if (found?.content === null) return;
  if (found !== undefined) throw notFolder(path);
  await makeParents(on, path);
  await on.tx.run(
    'INSERT INTO workspace_entries ("user", path, folded, parent, version, updated_at) VALUES (?, ?, ?, ?, 0, ?)',
    on.user,
    path,
    foldPath(path),
    parentOf(path) ?? "",
    on.at,
  );
  await on.tx.run(
    `INSERT INTO workspace_folder_changes (change_set, path, before, after) VALUES (?, ?, 0, 1)
     ON CONFLICT (change_set, path) DO UPDATE SET after = 1`,
    await on.set(),
    path,
  );
  on.account.count({ folders: 1 });
}

export interface Step {
  readonly change?: WorkspaceVersion["change"];
  /** The other path of a move. */
  readonly other?: string;
  /** Only where that is the version there is; 0: none. */
  readonly expected?: number | undefined;
}

/** Makes a file what it is to be, or takes it away, and keeps that as a version. Nothing happens where it is so already. */
export async function putFile(
  on: Changing,
  path: string,
  target: Target | undefined,
  { change, other, expected }: Step = {},
): Promise<void> {
  const { tx, user, at } = on;
  const entry = path.endsWith("/") ? notFile(path) : await findForChange(on, path);
  if (entry?.content === null) throw notFile(path);
  if (expected !== undefined && expected !== (entry?.version ?? 0))
    throw hasChanged(path, entry?.version ?? 0);
  const origins = storeOrigins(target?.origins);
  if (entry === undefined && target === undefined) return;
  if (target && entry?.content === target.content.id && entry.origins === origins) return;
  const last = entry?.version ?? (await lastVersion(tx, user, path));
  if (target) await makeParents(on, path);
  const set = await on.set();
  if (entry) await tx.run(REPLACE_VERSION, at, user, path, entry.version);
  await tx.run(
    `INSERT INTO workspace_versions ("user", path, version, change_set, change, previous, digest, bytes, content, other,
       writer, origins, at, replaced_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    user,
    path,
    last + 1,
    set,
    change ?? (target === undefined ? "removed" : entry === undefined ? "created" : "written"),
    entry?.version ?? 0,
    target?.content.digest ?? null,
    target?.content.bytes ?? 0,
    target?.content.id ?? null,
    other ?? null,
    JSON.stringify(on.change.writer),
    origins,
    at,
    target === undefined ? at : null,
  );
  if (target === undefined)
    await tx.run('DELETE FROM workspace_entries WHERE "user" = ? AND path = ?', user, path);
  else
    await tx.run(
      `INSERT INTO workspace_entries ("user", path, folded, parent, content, version, updated_at, origins)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT ("user", path) DO UPDATE SET content = excluded.content,
         version = excluded.version, updated_at = excluded.updated_at, origins = excluded.origins`,
      user,
      path,
      foldPath(path),
      parentOf(path) ?? "",
      target.content.id,
      last + 1,
      at,
      origins,
    );
  on.account.count({ bytes: ROW_BYTES, files: (target ? 1 : 0) - (entry ? 1 : 0) });
}

const REPLACE_VERSION =
  'UPDATE workspace_versions SET replaced_at = ? WHERE "user" = ? AND path = ? AND version = ?';

async function lastVersion(sql: Queries, user: string, path: string): Promise<number> {
  const row = await sql.get<{ version: number }>(
    'SELECT version FROM workspace_versions WHERE "user" = ? AND path = ? ORDER BY version DESC LIMIT 1',
    user,
    path,
  );
  return row?.version ?? 0;
}

/** Removes a file, or a folder with everything in it. */
export async function removeEntry(on: Changing, path: string): Promise<void> {
  const entry = (await findEntry(on.tx, on.user, path)) ?? missing(path);
  if (entry.content !== null) return putFile(on, path, undefined);
  await removeTree(on, path);
}

/** Statements over the whole folder: it may have thousands of files. */
async function removeTree(on: Changing, folder: string, movedTo?: string): Promise<void> {
  const { tx, user, at } = on;
  const prefix = prefixOf(folder);
  const end = endOf(prefix);
  const below = '"user" = ? AND path > ? AND path < ?';
  const range = [user, prefix, end] as const;
  const set = await on.set();
  await tx.run(
    `UPDATE workspace_versions SET replaced_at = ? WHERE ${below} AND replaced_at IS NULL`,
    at,
    ...range,
  );
  const files = await tx.run(
    `INSERT INTO workspace_versions ("user", path, version, change_set, change, previous, bytes, other, writer, origins, at, replaced_at)
     SELECT "user", path, version + 1, CAST(? AS BIGINT), CAST(? AS TEXT), version, 0,
       ${movedTo === undefined ? "NULL" : `CAST(? AS TEXT) || substr(path, ${charactersOf(prefix) + 1})`},
       CAST(? AS TEXT), origins, CAST(? AS TEXT), CAST(? AS TEXT)
     FROM workspace_entries WHERE ${below} AND content IS NOT NULL`,
    set,
    movedTo === undefined ? "removed" : "moved",
    ...(movedTo === undefined ? [] : [prefixOf(movedTo)]),
    JSON.stringify(on.change.writer),
    at,
    at,
    ...range,
  );
  await tx.run(
    `INSERT INTO workspace_folder_changes (change_set, path, before, after)
     SELECT CAST(? AS BIGINT), path, 1, 0 FROM workspace_entries
     WHERE "user" = ? AND (path = ? OR path > ? AND path < ?) AND content IS NULL
     ON CONFLICT (change_set, path) DO UPDATE SET after = 0`,
    set,
    user,
    folder,
    prefix,
    end,
  );
  const all = await tx.run(
    'DELETE FROM workspace_entries WHERE "user" = ? AND (path = ? OR path > ? AND path < ?)',
    user,
    folder,
    prefix,
    end,
  );
  on.account.count({ bytes: files * ROW_BYTES, files: -files, folders: files - all });
}

/** Moves a file, also over another, or a folder to where nothing is. */
export async function moveEntry(on: Changing, from: string, to: string): Promise<void> {
  const entry = (await findEntry(on.tx, on.user, from)) ?? missing(from);
  if (from === to) return;
  if (entry.content !== null) return moveFile(on, { ...entry, content: entry.content }, to);
  if (isBelow(to, from))
    throw new Fault("invalid", "bad_path", `${from} cannot be moved into itself.`, { param: "to" });
  if (foldPath(from) !== foldPath(to)) {
    const taken = await findForChange(on, to);
    if (taken !== undefined) throw isTaken(to);
  }
  await moveTree(on, from, to);
}

async function moveFile(on: Changing, entry: StoredEntry & { readonly content: number }, to: string) {
  const { path: from, content, digest, bytes, mime } = entry;
  const moved: Target = {
    content: { id: content, digest: digest ?? "", bytes: bytes ?? 0, mime: mime ?? "" },
    // A name can say something too.
    origins: [...(parseOrigins(entry.origins) ?? []), ...(on.change.origins ?? [])],
  };
  await putFile(on, from, undefined, { change: "moved", other: to });
  await putFile(on, to, moved, { change: "moved", other: from });
}

async function moveTree(on: Changing, from: string, to: string): Promise<void> {
  const { tx, user, at } = on;
  const prefix = prefixOf(from);
  // Read first: removing takes them away, and the same names in other letters may stay.
  const rows = await tx.all<StoredEntry>(
    `${ENTRIES} WHERE entry."user" = ? AND entry.path > ? AND entry.path < ? ORDER BY entry.path`,
    user,
    prefix,
    endOf(prefix),
  );
  for (const { path } of rows) cleanPath(rebase(path, from, to));
  await removeTree(on, from, to);
  await makeFolder(on, to);
  const set = await on.set();
  const writer = JSON.stringify(on.change.writer);
  const news = rows.map((row) => ({ ...row, from: row.path, path: rebase(row.path, from, to) }));
  for (let start = 0; start < news.length; start += ROWS_AT_ONCE) {
    const some = news.slice(start, start + ROWS_AT_ONCE);
    await insertMoved(
      on,
      some.map((row) => ({
        ...row,
        origins: storeOrigins([...(parseOrigins(row.origins) ?? []), ...(on.change.origins ?? [])]),
      })),
      { set, writer, at },
    );
  }
}

const ROWS_AT_ONCE = 100;

type Moved = StoredEntry & { readonly from: string };

async function insertMoved(
  { tx, user, account }: Changing,
  rows: readonly Moved[],
  { set, writer, at }: { readonly set: number; readonly writer: string; readonly at: string },
): Promise<void> {
  const places = (count: number, row: string) => Array.from({ length: count }, () => row).join();
  const known = await tx.all<{ path: string; version: number }>(
    `SELECT path, max(version) AS version FROM workspace_versions WHERE "user" = ? AND path IN (${places(rows.length, "?")}) GROUP BY path`,
    user,
    ...rows.map(({ path }) => path),
  );
  const last = new Map(known.map(({ path, version }) => [path, version]));
  const versionOf = ({ path, content }: Moved) => (content === null ? 0 : (last.get(path) ?? 0) + 1);
  await tx.run(
    `INSERT INTO workspace_entries ("user", path, folded, parent, content, version, updated_at, origins)
     VALUES ${places(rows.length, "(?, ?, ?, ?, ?, ?, ?, ?)")}`,
    ...rows.flatMap((row) => [
      user,
      row.path,
      foldPath(row.path),
      parentOf(row.path) ?? "",
      row.content,
      versionOf(row),
      at,
      row.content === null ? null : row.origins,
    ]),
  );
  const files = rows.filter(({ content }) => content !== null);
  const folders = rows.filter(({ content }) => content === null);
  if (files.length > 0)
    await tx.run(
      `INSERT INTO workspace_versions ("user", path, version, change_set, change, previous, digest, bytes, content, other, writer, origins, at)
       VALUES ${places(files.length, "(?, ?, ?, ?, 'moved', 0, ?, ?, ?, ?, ?, ?, ?)")}`,
      ...files.flatMap((row) => [
        user,
        row.path,
        versionOf(row),
        set,
        row.digest,
        row.bytes,
        row.content,
        row.from,
        writer,
        row.origins,
        at,
      ]),
    );
  if (folders.length > 0)
    await tx.run(
      `INSERT INTO workspace_folder_changes (change_set, path, before, after) VALUES ${places(folders.length, "(?, ?, 0, 1)")}
       ON CONFLICT (change_set, path) DO UPDATE SET after = 1`,
      ...folders.flatMap(({ path }) => [set, path]),
    );
  account.count({ bytes: files.length * ROW_BYTES, files: files.length, folders: folders.length });
}

/** As SQL counts them. */
const charactersOf = (text: string): number => [...text].length;

/** A set that is not the turn's: with the id that it is to have, and the set that it takes back. */
export interface OwnSet {
  readonly id?: string;
  readonly undoes?: string;
}

/** A set is the turn's, so that all that one turn changes is taken back together, or one of its own. */
export function setOf(
  { tx, user, at, change, account }: Omit<Changing, "set">,
  own?: OwnSet,
): { number(): Promise<number>; id(): string | undefined } {
  const { writer } = change;
  let made: Promise<number> | undefined;
  const named = own === undefined ? writer.turn : own.id;
  const id = named ?? randomUUID();
  async function make(): Promise<number> {
    // It has changes again that can be taken back.
    const known =
      named === undefined
        ? undefined
        : await tx.get<{ seq: number }>(
            'UPDATE workspace_sets SET undone_by = NULL WHERE "user" = ? AND id = ? RETURNING seq',
            user,
            id,
          );
    if (known) return known.seq;
    const row = await tx.get<{ seq: number }>(
      'INSERT INTO workspace_sets ("user", id, at, turn, writer, undoes) VALUES (?, ?, ?, ?, ?, ?) RETURNING seq',
      user,
      id,
      at,
      writer.turn ?? null,
      JSON.stringify(writer),
      own?.undoes ?? null,
    );
    account.count({ bytes: ROW_BYTES });
    return (row as { seq: number }).seq;
  }
  return {
    number() {
      made ??= make();
      return made;
    },
    id: () => (made === undefined ? undefined : id),
  };
}

function missing(path: string): never {
  throw notFound(path);
}

export const notFound = (path: string): Fault =>
  new Fault("missing", "workspace_not_found", `There is no ${path} in the workspace.`, { param: "path" });

const noFolder = (path: string): Fault =>
  new Fault("missing", "workspace_not_found", `There is no folder ${path} in the workspace.`, {
    param: "path",
  });

export const notFolder = (path: string): Fault =>
  new Fault("invalid", "workspace_exists", `${path} is a file, not a folder.`, { param: "path" });

export function notFile(path: string): never {
  throw new Fault("invalid", "workspace_exists", `${path} is a folder, not a file.`, { param: "path" });
}

export const isTaken = (path: string): Fault =>
  new Fault(
    "invalid",
    "workspace_exists",
    `There is a ${path} already: remove it first, or use another name.`,
    {
      param: "to",
    },
  );

const sameName = (path: string, other: string): Fault =>
  new Fault(
    "invalid",
    "workspace_exists",
    `${path} differs from ${other}, which is there already, only by case or form: use that name, or another.`,
    { param: "path" },
  );

export const hasChanged = (path: string, version: number): Fault =>
  new Fault(
    "invalid",
    "workspace_changed",
    version === 0
      ? `${path} is gone since you read it: look again, then write.`
      : `${path} has changed since you read it (version ${version}): read it again, then write.`,
    { param: "path" },
  );
