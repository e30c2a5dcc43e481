/** Versions of files below a mount: what the disk held when it was last looked at, and what is kept of it in the store. */
import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { Origin, Queries } from "../../../kernel/plugin.ts";
import { ROW_BYTES } from "../account.ts";
import type { ChangeStore } from "../change-store.ts";
import type { Contents } from "../contents.ts";
import type { Change } from "../services.ts";
import { type Changing, hasChanged, storeOrigins } from "../tree.ts";
import { type DigestOf, piecesOf } from "./disk-content.ts";
import type { MountedPath, Mounts } from "./mounts.ts";

/** What files below mounts work with. */
export interface MountParts {
  readonly sql: Queries;
  readonly mounts: Mounts;
  readonly contents: Contents;
  readonly changing: ChangeStore;
  readonly digestOf: DigestOf;
}

interface LastVersion {
  readonly version: number;
  readonly digest: string | null;
  readonly content: number | null;
  readonly origins: string | null;
}

export interface PendingChange {
  readonly set: string;
  readonly change: Change;
}

/** Who wrote a file of the machine is not known, so it counts as somebody else's. */
export const outsideOrigins = (path: string): readonly Origin[] => [{ kind: "file", name: path }];

export const lastOf = (tx: Queries, user: string, path: string): Promise<LastVersion | undefined> =>
  tx.get<LastVersion>(
    `SELECT version, digest, content, origins FROM workspace_versions WHERE "user" = ? AND path = ?
     ORDER BY version DESC LIMIT 1`,
    user,
    path,
  );

/** Makes a version of what is on the disk, where it is not the one that was seen last. */
export async function noticeVersion(
  { sql, changing }: MountParts,
  user: string,
  path: string,
  seen: { readonly digest: string; readonly bytes: number } | undefined,
): Promise<LastVersion | undefined> {
  const isKnown = (last: LastVersion | undefined) => (last?.digest ?? undefined) === seen?.digest;
  const last = await lastOf(sql, user, path);
  if (isKnown(last)) return last;
  const pending = await sql.get<{ digest: string; content: number; change: string }>(
    'SELECT digest, content, change FROM workspace_pending WHERE "user" = ? AND path = ?',
    user,
    path,
  );
  // The service was killed after it had written the file and before it could say so.
  const ours =
    pending && pending.digest === seen?.digest ? (JSON.parse(pending.change) as PendingChange) : undefined;
  const change: Change = ours?.change ?? { writer: { kind: "outside" }, origins: outsideOrigins(path) };
  const own = ours === undefined ? {} : { id: ours.set };
  return await changing(user, change, { freely: true, own }, async (on) => {
    const now = await lastOf(on.tx, user, path);
    if (isKnown(now)) return now;
    const content = ours === undefined ? null : (pending?.content ?? null);
    await addVersion(on, path, now, seen && { ...seen, content, origins: change.origins });
    await on.tx.run('DELETE FROM workspace_pending WHERE "user" = ? AND path = ?', user, path);
    return await lastOf(on.tx, user, path);
  });
}

export async function addVersion(
  on: Changing,
  path: string,
  last: LastVersion | undefined,
  now:
    | {
        readonly digest: string;
        readonly bytes: number;
        readonly content: number | null;
        readonly origins: readonly Origin[] | undefined;
      }
    | undefined,
): Promise<number> {
  const version = (last?.version ?? 0) + 1;
  const wasThere = last?.digest != null;
  const { tx, user, at } = on;
  await tx.run(
    'UPDATE workspace_versions SET replaced_at = ? WHERE "user" = ? AND path = ? AND replaced_at IS NULL',
    at,
    user,
    path,
  );
  await tx.run(
    `INSERT INTO workspace_versions ("user", path, version, change_set, change, previous, digest, bytes, content, writer, origins, at, replaced_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    user,
    path,
    version,
    await on.set(),
    now === undefined ? "removed" : wasThere ? "written" : "created",
    wasThere ? last.version : 0,
    now?.digest ?? null,
    now?.bytes ?? 0,
    now?.content ?? null,
    JSON.stringify(on.change.writer),
    storeOrigins(now?.origins),
    at,
    now === undefined ? at : null,
  );
  on.account.count({ bytes: ROW_BYTES });
  return version;
}

/** Keeps what a file is now as a version with its content. Throws where somebody changed it since it was last looked at. */
export async function keepVersion(
  { sql, contents, changing, digestOf }: MountParts,
  user: string,
  place: MountedPath,
  file: FileHandle,
  expected: number | undefined,
): Promise<{ readonly stats: BigIntStats; readonly digest: string }> {
  const { path } = place;
  const { digest, stats } = await digestOf(file, path);
  const last = await lastOf(sql, user, path);
  if (last?.digest != null && last.digest !== digest) throw hasChanged(path, last.version + 1);
  if (expected !== undefined && expected !== (last?.digest == null ? undefined : last.version))
    throw hasChanged(path, last?.version ?? 1);
  if (last?.digest === digest && last.content !== null) return { stats, digest };
  const incoming = await contents.receive(user, path, piecesOf(file, path, stats));
  const change: Change = { writer: { kind: "outside" }, origins: outsideOrigins(path) };
  await changing(user, change, { own: {} }, async (on) => {
    const { content, added } = await contents.keep(on.tx, user, incoming);
    on.account.count({ bytes: added });
    const now = await lastOf(on.tx, user, path);
    if (now?.digest === digest)
      await on.tx.run(
        'UPDATE workspace_versions SET content = ? WHERE "user" = ? AND path = ? AND version = ?',
        content.id,
        user,
        path,
        now.version,
      );
    else
      await addVersion(on, path, now, {
        digest,
        bytes: incoming.bytes,
        content: content.id,
        origins: change.origins,
      });
  });
  return { stats, digest };
}
