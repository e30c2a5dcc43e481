/** Changes of files below a mount. What a change replaces or removes is kept in the store first. */
import { Fault, type Origin } from "../../../kernel/plugin.ts";
import type { Incoming } from "../contents.ts";
import { mimeOfFile } from "../file-type.ts";
import type { Change, WorkspaceEntry } from "../services.ts";
import { hasChanged, notFile, storeOrigins } from "../tree.ts";
import { explain, mountFault } from "./directory.ts";
import { keyOf } from "./disk-content.ts";
import { assertFree, isReachable, nameOnDisk, openParent } from "./disk-path.ts";
import { walk } from "./listing.ts";
import type { MountedPath } from "./mounts.ts";
import { addVersion, keepVersion, lastOf, type MountParts, type PendingChange } from "./versions.ts";

const MAX_REMOVED = 1000;
const NEW_FILE_MODE = 0o644;

export interface WriteOptions {
  readonly change: Change;
  /** The id of the set that it belongs to. */
  readonly set: string;
  readonly expected?: number | undefined;
  readonly origins?: readonly Origin[] | undefined;
}

export async function writeFile(
  mountParts: MountParts,
  user: string,
  place: MountedPath,
  incoming: Incoming,
  options: WriteOptions,
): Promise<WorkspaceEntry> {
  const { sql, contents, changing } = mountParts;
  const { path, parts } = place;
  const { change, set, expected, origins = change.origins } = options;
  assertWritable(place);
  await using parent = await openParent(place, true);
  const { name, found } = await nameOnDisk(parent, parts.at(-1) ?? "");
  if (found?.isDirectory()) throw notFile(path);
  await assertFree(parent, name);
  if (found === undefined && expected !== undefined && expected !== 0) throw hasChanged(path, 0);
  const before = found && (await parent.openFile(name));
  try {
    const kept = before && (await keepVersion(mountParts, user, place, before, expected));
    const content = await changing(user, change, { own: { id: set } }, async (on) => {
      const { content, added } = await contents.keep(on.tx, user, incoming);
      on.account.count({ bytes: added });
      const { record, ...rest } = change;
      await record?.begun(on.tx, { before: kept?.digest, after: content.digest });
      const pending: PendingChange = { set, change: { ...rest, origins } };
      await on.tx.run(
        `INSERT INTO workspace_pending ("user", path, digest, content, change, at) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT ("user", path) DO UPDATE SET digest = excluded.digest, content = excluded.content,
           change = excluded.change, at = excluded.at`,
        user,
        path,
        content.digest,
        content.id,
        JSON.stringify(pending),
        on.at,
      );
      return content;
    });
    await parent.replace(name, contents.stream(content.id), {
      isNew: found === undefined,
      mode: found === undefined ? NEW_FILE_MODE : Number(found.mode) & 0o777,
      async check() {
        const now = await parent.look(name);
        if (kept && (now === undefined || keyOf(now) !== keyOf(kept.stats)))
          throw hasChanged(path, now ? 1 : 0);
      },
    });
    return await changing(user, change, { own: { id: set } }, async (on) => {
      const last = await lastOf(on.tx, user, path);
      const { digest, bytes, mime, id } = content;
      const version =
        last?.digest === digest && last.origins === storeOrigins(origins)
          ? last.version
          : await addVersion(on, path, last, { digest, bytes, content: id, origins });
      await on.tx.run('DELETE FROM workspace_pending WHERE "user" = ? AND path = ?', user, path);
      const entry = { path, kind: "file" as const, bytes, digest, version, updatedAt: on.at };
      const made = { ...entry, mime: mimeOfFile(path, mime), origins: origins?.length ? origins : undefined };
      await change.record?.done(on.tx, [made]);
      return made;
    });
  } catch (caught) {
    // Somebody else made it meanwhile.
    const isMade = (caught as NodeJS.ErrnoException).code === "EEXIST";
    await sql.run(
      'DELETE FROM workspace_pending WHERE "user" = ? AND path = ? AND digest = ?',
      user,
      path,
      incoming.digest,
    );
    throw isMade ? hasChanged(path, 1) : caught;
  } finally {
    await before?.close();
  }
}

/** Removes a file, or a folder with what is in it, file by file, each of them kept. */
export async function remove(
  mountParts: MountParts,
  user: string,
  place: MountedPath,
  options: WriteOptions,
): Promise<void> {
  assertWritable(place);
  await using parent = await openParent(place);
  const { name, found } = await nameOnDisk(parent, place.parts.at(-1) ?? "");
  if (!found?.isDirectory()) return await removeFile(mountParts, user, place, options);
  const inside: WorkspaceEntry[] = [];
  for await (const entry of walk(mountParts, user, place)) {
    if (inside.length === MAX_REMOVED) throw tooManyHere(place.path);
    if (!isReachable(entry.path)) throw mountFault(`${entry.path} has a name that cannot be used here.`);
    inside.push(entry);
  }
  for (const { path, kind } of inside.toReversed()) {
    const [, , ...parts] = path.split("/");
    const below = { ...place, path, parts };
    if (kind === "file") await removeFile(mountParts, user, below, options);
    else await removeEmpty(below);
  }
  await parent.removeFolder(name);
}

async function removeEmpty(place: MountedPath): Promise<void> {
  await using parent = await openParent(place);
  await parent.removeFolder((await nameOnDisk(parent, place.parts.at(-1) ?? "")).name);
}

async function removeFile(
  mountParts: MountParts,
  user: string,
  place: MountedPath,
  { change, set }: WriteOptions,
): Promise<void> {
  const { path, parts } = place;
  assertWritable(place);
  await using parent = await openParent(place);
  const { name, found } = await nameOnDisk(parent, parts.at(-1) ?? "");
  if (found === undefined) throw explain({ code: "ENOENT" }, path);
  await assertFree(parent, name);
  const file = await parent.openFile(name);
  try {
    const { stats } = await keepVersion(mountParts, user, place, file, undefined);
    const now = await parent.look(name);
    if (now === undefined || keyOf(now) !== keyOf(stats)) throw hasChanged(path, now ? 1 : 0);
    await parent.remove(name);
  } finally {
    await file.close();
  }
  await mountParts.changing(user, change, { freely: true, own: { id: set } }, async (on) => {
    await addVersion(on, path, await lastOf(on.tx, user, path), undefined);
  });
}

export async function makeFolder(place: MountedPath): Promise<void> {
  if (place.parts.length === 0) return;
  assertWritable(place);
  await using parent = await openParent({ ...place, parts: [...place.parts, ""] }, true);
  void parent;
}

function assertWritable({ mount, path, parts }: MountedPath): void {
  if (mount.readOnly === 1)
    throw new Fault(
      "forbidden",
      "workspace_read_only",
      `${path} can only be read: ${mount.name} is mounted read-only.`,
    );
  if (parts.length === 0) throw notFile(path);
}

const tooManyHere = (path: string): Fault =>
  mountFault(`${path} has more than ${MAX_REMOVED} files: remove it by its parts, or outside of Postern.`);
