/** What was changed, by whom, and how it is taken back. */
import { pageOf, pageSize, readNumber } from "../../kernel/kit/store.ts";
import { Fault, type Page, type Queries } from "../../kernel/plugin.ts";
import { isBelow } from "./path.ts";
import type { ChangeSet, UndoOutcome, WorkspaceVersion, Writer } from "./services.ts";
import { type Changing, makeFolder, parseOrigins, putFile } from "./tree.ts";

/** A set may have removed a folder of thousands of files: so many of them are listed. */
const MAX_CHANGES = 500;
const MAX_VERSIONS = 500;

interface StoredSet {
  readonly seq: number;
  readonly id: string;
  readonly at: string;
  readonly writer: string;
  readonly undoes: string | null;
  readonly undoneBy: string | null;
}

interface StoredVersion {
  readonly path: string;
  readonly version: number;
  readonly change: WorkspaceVersion["change"];
  readonly previous: number;
  readonly digest: string | null;
  readonly bytes: number;
  readonly content: number | null;
  readonly other: string | null;
  readonly origins: string | null;
  readonly writer: string;
  readonly at: string;
  readonly set: string;
}

const SETS = 'SELECT seq, id, at, writer, undoes, undone_by AS "undoneBy" FROM workspace_sets';
const VERSIONS = `SELECT version.path, version.version, version.change, version.previous, version.digest, version.bytes,
    version.content, version.other, version.origins, version.writer, version.at, sets.id AS "set"
  FROM workspace_versions AS version JOIN workspace_sets AS sets ON sets.seq = version.change_set`;

export async function listVersions(
  sql: Queries,
  user: string,
  path: string,
): Promise<readonly WorkspaceVersion[]> {
  const rows = await sql.all<StoredVersion>(
    `${VERSIONS} WHERE version."user" = ? AND version.path = ? ORDER BY version.version DESC LIMIT ${MAX_VERSIONS}`,
    user,
    path,
  );
  return rows.map(({ version, set, change, bytes, at, writer, origins }) => ({
    version,
    set,
    change,
    bytes,
    updatedAt: at,
    writer: JSON.parse(writer) as Writer,
    origins: parseOrigins(origins),
  }));
}

/** A version of a path that can be read; undefined where it is not kept, or there was no file. */
export function findVersion(sql: Queries, user: string, path: string, version: number) {
  return sql.get<
    StoredVersion & { readonly content: number; readonly digest: string; readonly mime: string }
  >(
    `SELECT version.path, version.version, version.digest, contents.bytes, version.content, version.origins, version.at,
       contents.mime FROM workspace_versions AS version JOIN workspace_contents AS contents ON contents.id = version.content
     WHERE version."user" = ? AND version.path = ? AND version.version = ?`,
    user,
    path,
    version,
  );
}

export async function listSets(
  sql: Queries,
  user: string,
  query: {
    readonly turn?: string;
    readonly path?: string;
    readonly limit?: number;
    readonly before?: string;
  },
): Promise<Page<ChangeSet>> {
  const most = pageSize(query.limit);
  const conditions = ['"user" = ?'];
  const values: (string | number)[] = [user];
  const narrow = (condition: string, ...more: readonly (string | number)[]) => {
    conditions.push(condition);
    values.push(...more);
  };
  if (query.turn !== undefined) narrow("turn = ?", query.turn);
  // What was noticed of files outside belongs to their own history.
  if (query.path === undefined) narrow(`writer NOT LIKE '{"kind":"outside"%'`);
  else
    narrow(
      'seq IN (SELECT change_set FROM workspace_versions WHERE "user" = ? AND path = ?)',
      user,
      query.path,
    );
  if (query.before !== undefined) narrow("seq < ?", readNumber(query.before));
  const rows = await sql.all<StoredSet>(
    `${SETS} WHERE ${conditions.join(" AND ")} ORDER BY seq DESC LIMIT ?`,
    ...values,
    most + 1,
  );
  const shown = await Promise.all(
    rows.slice(0, most).map(async (row) => [row.seq, await showSet(sql, row)] as const),
  );
  const sets = new Map(shown);
  return pageOf(
    rows,
    most,
    ({ seq }) => sets.get(seq) as ChangeSet,
    ({ seq }) => String(seq),
  );
}

async function showSet(
  sql: Queries,
  { seq, id, at, writer, undoes, undoneBy }: StoredSet,
): Promise<ChangeSet> {
  const [rows, folders] = await Promise.all([
    sql.all<StoredVersion>(
      `${VERSIONS} WHERE version.change_set = ? ORDER BY version.path, version.version LIMIT ${MAX_CHANGES + 1}`,
      seq,
    ),
    sql.all<FolderChange>(
      `SELECT path, before, after FROM workspace_folder_changes WHERE change_set = ? ORDER BY path LIMIT ${MAX_CHANGES + 1}`,
      seq,
    ),
  ]);
  const files = changesOf(rows);
  // A folder that came or went with what is in it needs no line of its own.
  const alone = folders.filter(
    ({ path, before, after }) =>
      before !== after &&
      !files.some((file) => isBelow(file.path, path) || isBelow(file.to ?? "", path)) &&
      !folders.some((other) => isBelow(other.path, path)),
  );
  const changes: ChangeSet["changes"] = [
    ...files,
    ...alone.map(({ path, after }) => ({
      path,
      change: after === 1 ? ("created" as const) : ("removed" as const),
      before: 0,
      after: 0,
      isFolder: true,
    })),
  ];
  return {
    id,
    at,
    writer: JSON.parse(writer) as Writer,
    undoes: undoes ?? undefined,
    undoneBy: undoneBy ?? undefined,
    changes: changes.slice(0, MAX_CHANGES),
    ...((rows.length > MAX_CHANGES || changes.length > MAX_CHANGES) && { isCut: true }),
  };
}

interface FolderChange {
  readonly path: string;
  readonly before: number;
  readonly after: number;
}

/** What one set did to one path, from its first version there to its last. */
interface PathChange {
  readonly path: string;
  readonly first: StoredVersion;
  readonly last: StoredVersion;
  readonly count: number;
}

function pathChanges(rows: readonly StoredVersion[]): readonly PathChange[] {
  const grouped = Map.groupBy(rows, ({ path }) => path);
  return grouped
    .entries()
    .map(([path, [first, ...more]]) => ({
      path,
      first: first as StoredVersion,
      last: more.at(-1) ?? (first as StoredVersion),
      count: more.length + 1,
    }))
    .toArray();
}

function changesOf(rows: readonly StoredVersion[]): ChangeSet["changes"] {
  const paths = new Map(pathChanges(rows).map((change) => [change.path, change]));
  return paths
    .values()
    .flatMap(({ path, first, last }): ChangeSet["changes"] => {
      const [before, after] = [first.previous, last.digest === null ? 0 : last.version];
      if (before === 0 && after === 0) return [];
      const isSource = after === 0 && last.change === "moved" && last.other !== null;
      const target = isSource ? paths.get(last.other ?? "") : undefined;
      if (isSource && target)
        return [
          {
            path,
            change: "moved" as const,
            to: target.path,
            before,
            after: target.last.digest === null ? 0 : target.last.version,
          },
        ];
      const source = last.change === "moved" && after > 0 ? paths.get(last.other ?? "") : undefined;
      // It is told with the path that it came from, unless it took the place of something.
      if (source && source.last.digest === null && before === 0) return [];
      const change: WorkspaceVersion["change"] =
        before === 0 ? "created" : after === 0 ? "removed" : "written";
      return [{ path, change, before, after }];
    })
    .toArray();
}

interface FoundConflict {
  readonly path: string;
  readonly by: Writer;
  readonly at: string;
}

interface Undoing {
  readonly conflicts: UndoOutcome["conflicts"];
  /** Paths that are to be taken back below a mount. */
  readonly mounted: readonly MountedUndo[];
}

export interface MountedUndo {
  readonly path: string;
  /** The version that the file was; undefined where there was none. */
  readonly earlier: ReadableVersion | undefined;
}

export async function pathsOfSet(sql: Queries, user: string, id: string): Promise<readonly string[]> {
  const rows = await sql.all<{ path: string }>(
    `SELECT DISTINCT path FROM workspace_versions WHERE change_set = (
       SELECT seq FROM workspace_sets WHERE "user" = ? AND id = ?)`,
    user,
    id,
  );
  return rows.map(({ path }) => path);
}

/** Takes a set back, or with `plan` only says how. Returns what stands in the way, unless `way` says what to do about it. */
export async function undoSet(
  on: Changing,
  id: string,
  way: "overwrite" | "skip" | undefined,
  { plan = false, isMounted = () => false }: { plan?: boolean; isMounted?: (path: string) => boolean } = {},
): Promise<Undoing> {
  const { tx, user } = on;
  const found = await tx.get<StoredSet>(`${SETS} WHERE "user" = ? AND id = ?`, user, id);
  if (found === undefined) throw noSet(id);
  if (found.undoneBy !== null) throw isUndone(id, found.undoneBy);
  const rows = await tx.all<StoredVersion>(
    `${VERSIONS} WHERE version.change_set = ? ORDER BY version.path, version.version`,
    found.seq,
  );
  const conflicts: FoundConflict[] = [];
  const clear: PathChange[] = [];
  for (const change of pathChanges(rows)) {
    // Those below a mount were taken back after the plan.
    if (!plan && isMounted(change.path)) continue;
    const conflict = await conflictOf(on, change, id);
    if (conflict) conflicts.push(conflict);
    if (conflict === undefined || way === "overwrite") clear.push(change);
  }
  if (conflicts.length > 0 && way === undefined) return { conflicts, mounted: [] };
  if (plan) {
    const mounted: MountedUndo[] = [];
    for (const { path, first } of clear) {
      if (!isMounted(path)) continue;
      const earlier = first.previous === 0 ? undefined : await readableVersion(on, path, first.previous);
      mounted.push({ path, earlier });
    }
    return { conflicts, mounted };
  }
  const folders = await tx.all<FolderChange>(
    "SELECT path, before, after FROM workspace_folder_changes WHERE change_set = ? ORDER BY path",
    found.seq,
  );
  await takeBack(on, clear, folders);
  return { conflicts, mounted: [] };
}

async function readableVersion(on: Changing, path: string, version: number): Promise<ReadableVersion> {
  const found = await findVersion(on.tx, on.user, path, version);
  if (found === undefined) throw notKept(path, version);
  return found;
}

/** Whoever has changed the path since, or in between. A file that is again as the set left it stands in nobody's way. */
async function conflictOf(
  { tx, user }: Changing,
  { path, first, last, count }: PathChange,
  set: string,
): Promise<FoundConflict | undefined> {
  const newest = await tx.get<StoredVersion>(
    `${VERSIONS} WHERE version."user" = ? AND version.path = ? ORDER BY version.version DESC LIMIT 1`,
    user,
    path,
  );
  const hasGap = last.version - first.version + 1 !== count;
  if (newest?.digest === last.digest && !hasGap) return undefined;
  const other = await tx.get<StoredVersion>(
    `${VERSIONS} WHERE version."user" = ? AND version.path = ? AND version.version > ? AND sets.id <> ?
     ORDER BY version.version DESC LIMIT 1`,
    user,
    path,
    first.version,
    set,
  );
  return other && { path, by: JSON.parse(other.writer) as Writer, at: other.at };
}

/** What came goes first, so that names are free for what comes back. */
async function takeBack(
  on: Changing,
  changes: readonly PathChange[],
  folders: readonly FolderChange[],
): Promise<void> {
  for (const { path, first } of changes) if (first.previous === 0) await putFile(on, path, undefined);
  // The deepest first.
  for (const { path, before, after } of folders.toReversed())
    if (before === 0 && after === 1) await removeIfEmpty(on, path);
  for (const { path, before, after } of folders) if (before === 1 && after === 0) await makeFolder(on, path);
  for (const { path, first } of changes) {
    if (first.previous === 0) continue;
    await restoreVersion(on, path, await readableVersion(on, path, first.previous));
  }
}

async function removeIfEmpty(on: Changing, folder: string): Promise<void> {
  const { tx, user } = on;
  const gone = await tx.run(
    `DELETE FROM workspace_entries WHERE "user" = ? AND path = ? AND content IS NULL
     AND NOT EXISTS (SELECT 1 FROM workspace_entries AS inner_entry WHERE inner_entry."user" = ? AND inner_entry.parent = ?)`,
    user,
    folder,
    user,
    folder,
  );
  if (gone === 0) return;
  await tx.run(
    `INSERT INTO workspace_folder_changes (change_set, path, before, after) VALUES (?, ?, 1, 0)
     ON CONFLICT (change_set, path) DO UPDATE SET after = 0`,
    await on.set(),
    folder,
  );
  on.account.count({ folders: -1 });
}

export type ReadableVersion = NonNullable<Awaited<ReturnType<typeof findVersion>>>;

export function restoreVersion(on: Changing, path: string, version: ReadableVersion): Promise<void> {
  const { content: id, digest, bytes, mime, origins } = version;
  return putFile(on, path, { content: { id, digest, bytes, mime }, origins: parseOrigins(origins) });
}

const noSet = (id: string): Fault =>
  new Fault("missing", "workspace_not_found", `There is no change ${id} in the workspace's log.`, {
    param: "set",
  });

const isUndone = (id: string, by: string): Fault =>
  new Fault(
    "invalid",
    "workspace_undone",
    `The change ${id} was undone already: undo ${by} to have it again.`,
    {
      param: "set",
    },
  );

export const notKept = (path: string, version: number): Fault =>
  new Fault(
    "missing",
    "workspace_not_kept",
    `Version ${version} of ${path} is no longer kept: versions go 30 days after another took their place.`,
    { param: "version" },
  );
