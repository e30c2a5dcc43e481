/** Takes changes back, in the store and below mounts. */
import { randomUUID } from "node:crypto";
import { removeAt, writeAt } from "./edits.ts";
import {
  findVersion,
  listSets,
  type MountedUndo,
  notKept,
  pathsOfSet,
  restoreVersion,
  undoSet,
} from "./history.ts";
import { entryNow, find } from "./lookup.ts";
import type { WriteOptions } from "./mounts/edits.ts";
import type { WorkspaceParts } from "./parts.ts";
import type { Change, ChangeSet, Workspace, WorkspaceEntry } from "./services.ts";
import { parseOrigins } from "./tree.ts";

export async function undo(
  parts: WorkspaceParts,
  user: string,
  set: string,
  change: Change,
  way: "overwrite" | "skip" | undefined,
): ReturnType<Workspace["undo"]> {
  const own = { id: randomUUID(), undoes: set };
  const places = await Promise.all(
    (await pathsOfSet(parts.sql, user, set)).map((path) => parts.mounts.locate(user, path)),
  );
  const below = new Map(places.flatMap((place) => (place ? [[place.path, place] as const] : [])));
  const isMounted = (path: string) => below.has(path);
  let inTheWay: Awaited<ReturnType<Workspace["undo"]>>["conflicts"] = [];
  if (below.size > 0) {
    for (const place of below.values()) await parts.mounted.look(user, place);
    const plan = await parts.changing(user, change, { freely: true, own }, (on) =>
      undoSet(on, set, way, { plan: true, isMounted }),
    );
    inTheWay = plan.conflicts;
    if (inTheWay.length > 0 && way === undefined) return { conflicts: inTheWay };
    // The set is made with what it takes back before the files of the disk join it.
    await parts.changing(user, change, { freely: true, own }, async (on) => void (await on.set()));
    await takeBackMounted(parts, user, plan.mounted, { change, set: own.id });
  }
  const conflicts = await parts.changing(user, change, { freely: true, own }, async (on, setId) => {
    const found = await undoSet(on, set, way, { isMounted });
    if (setId() === undefined && below.size === 0) return found.conflicts;
    await on.tx.run('UPDATE workspace_sets SET undone_by = ? WHERE "user" = ? AND id = ?', own.id, user, set);
    // What the set had taken back is in effect again.
    await on.tx.run(
      'UPDATE workspace_sets SET undone_by = NULL WHERE "user" = ? AND undone_by = ?',
      user,
      set,
    );
    return found.conflicts;
  });
  const mountedOnly = inTheWay.filter(({ path }) => isMounted(path));
  return { conflicts: [...conflicts, ...mountedOnly], set: await findSet(parts, user, own.id) };
}

export async function restore(
  { sql, mounts, mounted, changing }: WorkspaceParts,
  user: string,
  path: string,
  version: number,
  change: Change,
): Promise<WorkspaceEntry> {
  const kept = await findVersion(sql, user, path, version);
  if (kept === undefined) throw notKept(path, version);
  const place = await mounts.locate(user, path);
  if (place) {
    await mounted.look(user, place);
    const set = change.writer.turn ?? randomUUID();
    return await mounted.write(user, place, kept, { change, set, origins: parseOrigins(kept.origins) });
  }
  return await changing(user, change, { freely: true }, async (on) => {
    const still = await findVersion(on.tx, user, path, version);
    if (still === undefined) throw notKept(path, version);
    await restoreVersion(on, path, still);
    return await entryNow(on.tx, user, path);
  });
}

/** Makes files below mounts what they were, in the set that takes the others back. */
async function takeBackMounted(
  parts: WorkspaceParts,
  user: string,
  undos: readonly MountedUndo[],
  options: WriteOptions,
): Promise<void> {
  for (const { path, earlier } of undos) {
    if (earlier !== undefined)
      await writeAt(parts, user, path, earlier, { ...options, origins: parseOrigins(earlier.origins) });
    else if ((await find(parts, user, path)) !== undefined) await removeAt(parts, user, path, options);
  }
}

async function findSet({ sql }: WorkspaceParts, user: string, id: string): Promise<ChangeSet | undefined> {
  const found = await sql.get<{ seq: number }>(
    'SELECT seq FROM workspace_sets WHERE "user" = ? AND id = ?',
    user,
    id,
  );
  if (found === undefined) return undefined;
  const page = await listSets(sql, user, { limit: 1, before: String(found.seq + 1) });
  return page.items[0];
}
