/**
 * Files below a mount. The disk says what there is, and versions in the store say what was there when somebody last looked: a change
 * made outside becomes a version by then. What is about to be changed is kept in the store first.
 */
import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { LRUCache } from "lru-cache";
import { mimeOfName } from "../../../kernel/kit/files.ts";
import { Fault, type Origin, type Page, type Queries } from "../../../kernel/plugin.ts";
import { MAX_FILE_BYTES, ROW_BYTES } from "../account.ts";
import type { Contents, Incoming } from "../contents.ts";
import { HEAD_BYTES, isText, mimeOfContent, mimeOfFile } from "../file-type.ts";
import { cleanPath, foldPath } from "../path.ts";
import type { SearchedFile } from "../search.ts";
import type { Change, WorkspaceEntry } from "../services.ts";
import {
  type Changing,
  FOLDER_TYPE,
  hasChanged,
  isTaken,
  notFile,
  notFolder,
  type OwnSet,
  parseOrigins,
  storeOrigins,
} from "../tree.ts";
import { type Directory, explain, mountFault, openDirectory } from "./directory.ts";
import type { MountedPath, Mounts } from "./mounts.ts";

const MAX_DIGESTS = 10_000;
const MAX_VISITED = 20_000;
const MAX_LISTED = 1000;
const MAX_REMOVED = 1000;
const MAX_ATTEMPTS = 3;
const PIECE_BYTES = 1 << 20;
const NEW_FILE_MODE = 0o644;

/** Runs work on the workspace of a user; with an id, in the set of that id. */
export type ChangeStore = <Result>(
  user: string,
  change: Change,
  options: { readonly freely?: boolean; readonly own?: OwnSet },
  work: (on: Changing) => Promise<Result>,
) => Promise<Result>;

interface LastVersion {
  readonly version: number;
  readonly digest: string | null;
  readonly content: number | null;
  readonly origins: string | null;
}

interface Parts {
  readonly sql: Queries;
  readonly mounts: Mounts;
  readonly contents: Contents;
  readonly changing: ChangeStore;
}

export function createMountedFiles({ sql, mounts, contents, changing }: Parts) {
  // As a size: with `max` the arrays of all its places would be made at every start.
  const digests = new LRUCache<string, { readonly digest: string; readonly mime: string }>({
    maxSize: MAX_DIGESTS,
    sizeCalculation: () => 1,
  });

  const inMount = async <Result>(place: MountedPath, work: () => Promise<Result>): Promise<Result> => {
    mounts.assertHere(place);
    try {
      return await work();
    } catch (error) {
      throw explain(error, place.path);
    }
  };

  /** The folder that a path is in, held open; with `make`, folders on the way are made. */
  async function openParent({ mount, parts }: MountedPath, make = false): Promise<Directory> {
    let directory: Directory;
    try {
      directory = await openDirectory(mount.folder);
    } catch (error) {
      throw mountFault(
        `The mounted folder ${mount.name} cannot be opened (${(error as NodeJS.ErrnoException).code}): is its disk there?`,
        error,
      );
    }
    for (const part of parts.slice(0, -1)) {
      const before = directory;
      try {
        const { name, found } = await nameOnDisk(before, part);
        if (found === undefined && make) {
          await assertFree(before, part);
          await before.make(name);
        } else if (found !== undefined && !found.isDirectory()) throw notFolder(part);
        directory = await before.enter(name);
      } finally {
        await before[Symbol.asyncDispose]();
      }
    }
    return directory;
  }

  const lastOf = (tx: Queries, user: string, path: string): Promise<LastVersion | undefined> =>
    tx.get<LastVersion>(
      `SELECT version, digest, content, origins FROM workspace_versions WHERE "user" = ? AND path = ?
       ORDER BY version DESC LIMIT 1`,
      user,
      path,
    );

  /** Reads the bytes of an open file to its end. One that changes meanwhile is refused. */
  async function* piecesOf(file: FileHandle, path: string, before: BigIntStats): AsyncGenerator<Uint8Array> {
    if (before.size > BigInt(MAX_FILE_BYTES)) throw tooLargeHere(path);
    const size = Number(before.size);
    for (let at = 0; at < size; ) {
      const { bytesRead, buffer } = await file.read(
        Buffer.alloc(Math.min(PIECE_BYTES, size - at)),
        0,
        null,
        at,
      );
      if (bytesRead === 0) break;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
    if (keyOf(await file.stat({ bigint: true })) !== keyOf(before)) throw isGrowing(path);
  }

  async function digestOfFile(file: FileHandle, path: string) {
    for (let attempt = 1; ; attempt++) {
      const stats = await file.stat({ bigint: true });
      const known = digests.get(keyOf(stats));
      if (known) return { ...known, stats };
      const hash = createHash("sha256");
      let mime: string | undefined;
      try {
        for await (const piece of piecesOf(file, path, stats)) {
          mime ??= mimeOfContent(piece);
          hash.update(piece);
        }
      } catch (error) {
        if (attempt < MAX_ATTEMPTS && error instanceof Fault && error.code === "workspace_busy") continue;
        throw error;
      }
      const found = { digest: hash.digest("hex"), mime: mime ?? mimeOfContent(new Uint8Array()) };
      digests.set(keyOf(stats), found);
      return { ...found, stats };
    }
  }

  /** Makes a version of what is on the disk, where it is not the one that was seen last. */
  async function notice(
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

  async function addVersion(
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

  /** A file as it is on the disk, open, with the version that it is. */
  async function openFile(user: string, place: MountedPath) {
    const { path, parts } = place;
    await using parent = await openParent(place);
    const { name, found } = await nameOnDisk(parent, parts.at(-1) ?? "");
    if (found === undefined) {
      await notice(user, path, undefined);
      return undefined;
    }
    if (found.isDirectory()) return undefined;
    const file = await parent.openFile(name);
    try {
      const { digest, mime, stats } = await digestOfFile(file, path);
      const bytes = Number(stats.size);
      const last = await notice(user, path, { digest, bytes });
      const entry: WorkspaceEntry = {
        path,
        kind: "file",
        bytes,
        mime: mimeOfFile(path, mime),
        version: last?.version ?? 1,
        digest,
        updatedAt: timeOf(stats),
        origins: parseOrigins(last?.origins ?? null),
        ...((place.mount.readOnly === 1 || (await hasTwin(parent, name))) && { isReadOnly: true }),
      };
      return { entry, file, stats };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Keeps what a file is now as a version with its content. Throws where somebody changed it since it was last looked at. */
  async function keepNow(
    user: string,
    place: MountedPath,
    file: FileHandle,
    expected: number | undefined,
  ): Promise<{ readonly stats: BigIntStats }> {
    const { path } = place;
    const { digest, stats } = await digestOfFile(file, path);
    const last = await lastOf(sql, user, path);
    if (last?.digest != null && last.digest !== digest) throw hasChanged(path, last.version + 1);
    if (expected !== undefined && expected !== (last?.digest == null ? undefined : last.version))
      throw hasChanged(path, last?.version ?? 1);
    if (last?.digest === digest && last.content !== null) return { stats };
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
    return { stats };
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

  async function writeFile(
    user: string,
    place: MountedPath,
    incoming: Incoming,
    options: WriteOptions,
  ): Promise<WorkspaceEntry> {
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
      const kept = before && (await keepNow(user, place, before, expected));
      const content = await changing(user, change, { own: { id: set } }, async (on) => {
        const { content, added } = await contents.keep(on.tx, user, incoming);
        on.account.count({ bytes: added });
        const pending: PendingChange = { set, change: { ...change, origins } };
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
        return { ...entry, mime: mimeOfFile(path, mime), origins: origins?.length ? origins : undefined };
      });
    } catch (error) {
      await sql.run(
        'DELETE FROM workspace_pending WHERE "user" = ? AND path = ? AND digest = ?',
        user,
        path,
        incoming.digest,
      );
      throw error;
    } finally {
      await before?.close();
    }
  }

  async function removeFile(user: string, place: MountedPath, { change, set }: WriteOptions): Promise<void> {
    const { path, parts } = place;
    assertWritable(place);
    await using parent = await openParent(place);
    const { name, found } = await nameOnDisk(parent, parts.at(-1) ?? "");
    if (found === undefined) throw explain({ code: "ENOENT" }, path);
    await assertFree(parent, name);
    const file = await parent.openFile(name);
    try {
      const { stats } = await keepNow(user, place, file, undefined);
      const now = await parent.look(name);
      if (now === undefined || keyOf(now) !== keyOf(stats)) throw hasChanged(path, now ? 1 : 0);
      await parent.remove(name);
    } finally {
      await file.close();
    }
    await changing(user, change, { freely: true, own: { id: set } }, async (on) => {
      await addVersion(on, path, await lastOf(on.tx, user, path), undefined);
    });
  }

  async function listFolder(user: string, place: MountedPath): Promise<readonly WorkspaceEntry[]> {
    const { mount, path, parts } = place;
    await using parent = await openParent(place);
    const last = parts.at(-1);
    await using entered =
      last === undefined ? undefined : await parent.enter((await nameOnDisk(parent, last)).name);
    const directory = entered ?? parent;
    const { names } = await directory.names();
    const shown = names.map((bytes) => ({ bytes, text: nameInWords(bytes) }));
    const folded = Map.groupBy(shown, ({ text }) => foldPath(text));
    const versions = await sql.all<{ path: string; version: number }>(
      `SELECT path, max(version) AS version FROM workspace_versions WHERE "user" = ? AND path >= ? AND path < ? GROUP BY path`,
      user,
      `${path}/`,
      `${path}0`,
    );
    const known = new Map(versions.map((row) => [row.path, row.version]));
    const entries: WorkspaceEntry[] = [];
    for (const { bytes, text } of shown) {
      const at = `${path}/${text}`;
      const isOdd = !isPlain(bytes, text);
      const stats = isOdd ? undefined : await directory.look(bytes.toString()).catch(() => null);
      // Links and what is neither a file nor a folder are not there.
      if (stats === null || (stats === undefined && !isOdd)) continue;
      const isFolder = stats?.isDirectory() ?? false;
      const isReadOnly = mount.readOnly === 1 || isOdd || (folded.get(foldPath(text))?.length ?? 0) > 1;
      entries.push({
        path: at,
        kind: isFolder ? "folder" : "file",
        bytes: isFolder ? 0 : Number(stats?.size ?? 0),
        mime: isFolder ? FOLDER_TYPE : mimeOfName(text),
        version: isFolder ? 0 : (known.get(at) ?? 1),
        updatedAt: stats ? timeOf(stats) : new Date(0).toISOString(),
        ...(isReadOnly && { isReadOnly: true }),
      });
    }
    return entries.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  }

  /** Everything below a folder, by path, so far as it is looked at. */
  async function* walk(user: string, place: MountedPath): AsyncGenerator<WorkspaceEntry> {
    let visited = 0;
    const waiting = [place.path];
    while (waiting.length > 0) {
      const path = waiting.shift() as string;
      const [, , ...parts] = path.split("/");
      const entries = await listFolder(user, { ...place, path, parts }).catch((error: unknown) => {
        // A folder below that may not be opened costs nothing but itself.
        if (path === place.path) throw error;
        return [];
      });
      for (const entry of entries) {
        if (++visited > MAX_VISITED) return;
        yield entry;
        if (entry.kind === "folder" && isReachable(entry.path)) waiting.push(entry.path);
      }
    }
  }

  return {
    find: (user: string, place: MountedPath): Promise<WorkspaceEntry | undefined> =>
      inMount(place, async () => {
        const { path, parts, mount } = place;
        if (parts.length === 0) return folderEntry(path, mount.readOnly === 1);
        const opened = await openFile(user, place).catch(onlyMissing);
        if (opened) {
          await opened.file.close();
          return opened.entry;
        }
        await using parent = await openParent(place).catch(onlyMissing);
        const { found } = parent ? await nameOnDisk(parent, parts.at(-1) ?? "") : { found: undefined };
        return found?.isDirectory() ? folderEntry(path, mount.readOnly === 1, timeOf(found)) : undefined;
      }),

    read: (user: string, place: MountedPath, offset = 0, length = MAX_FILE_BYTES) =>
      inMount(place, async () => {
        const opened = place.parts.length === 0 ? undefined : await openFile(user, place).catch(onlyMissing);
        if (opened === undefined) return undefined;
        const { entry, file, stats } = opened;
        try {
          const from = Math.min(Math.max(0, Math.floor(offset)), entry.bytes);
          const data = Buffer.alloc(Math.min(Math.max(0, Math.floor(length)), entry.bytes - from));
          const { bytesRead } = await file.read(data, 0, data.byteLength, from);
          if (bytesRead < data.byteLength || keyOf(await file.stat({ bigint: true })) !== keyOf(stats))
            throw isGrowing(place.path);
          return { entry, data };
        } finally {
          await file.close();
        }
      }),

    stream: (user: string, place: MountedPath) =>
      inMount(place, async () => {
        const opened = place.parts.length === 0 ? undefined : await openFile(user, place).catch(onlyMissing);
        if (opened === undefined) return undefined;
        const { entry, file, stats } = opened;
        async function* data(): AsyncGenerator<Uint8Array> {
          try {
            yield* piecesOf(file, place.path, stats);
          } finally {
            await file.close();
          }
        }
        return { entry, data: data() };
      }),

    list: (
      user: string,
      place: MountedPath,
      query: { readonly deep?: boolean; readonly limit?: number; readonly after?: string },
    ): Promise<Page<WorkspaceEntry>> =>
      inMount(place, async () => {
        const limit = Math.max(1, Math.min(MAX_LISTED, Math.floor(query.limit ?? MAX_LISTED)));
        const all = query.deep
          ? (await Array.fromAsync(walk(user, place))).toSorted((one, other) =>
              one.path < other.path ? -1 : 1,
            )
          : await listFolder(user, place);
        const { after } = query;
        const rest = after === undefined ? all : all.filter(({ path }) => path > after);
        const items = rest.slice(0, limit);
        const last = items.at(-1);
        return { items, ...(rest.length > limit && last && { next: last.path }) };
      }),

    /** Looks at the file, so that a change made outside is a version. */
    async look(user: string, place: MountedPath): Promise<void> {
      await inMount(place, async () => {
        const opened = await openFile(user, place).catch(onlyMissing);
        await opened?.file.close();
      });
    },

    write: (user: string, place: MountedPath, incoming: Incoming, options: WriteOptions) =>
      inMount(place, () => writeFile(user, place, incoming, options)),

    makeFolder: (place: MountedPath): Promise<void> =>
      inMount(place, async () => {
        if (place.parts.length === 0) return;
        assertWritable(place);
        await using parent = await openParent({ ...place, parts: [...place.parts, ""] }, true);
        void parent;
      }),

    /** A folder goes with what is in it, file by file, each of them kept. */
    remove: (user: string, place: MountedPath, options: WriteOptions): Promise<void> =>
      inMount(place, async () => {
        assertWritable(place);
        await using parent = await openParent(place);
        const { name, found } = await nameOnDisk(parent, place.parts.at(-1) ?? "");
        if (!found?.isDirectory()) return await removeFile(user, place, options);
        const inside: WorkspaceEntry[] = [];
        for await (const entry of walk(user, place)) {
          if (inside.length === MAX_REMOVED) throw tooManyHere(place.path);
          if (!isReachable(entry.path))
            throw mountFault(`${entry.path} has a name that cannot be used here.`);
          inside.push(entry);
        }
        for (const { path, kind } of inside.toReversed()) {
          const [, , ...parts] = path.split("/");
          const below = { ...place, path, parts };
          if (kind === "file") await removeFile(user, below, options);
          else await removeEmpty(below);
        }
        await parent.removeFolder(name);
      }),

    /** The whole file, as a search reads it; empty where it cannot be read now. */
    async readText(place: MountedPath): Promise<Uint8Array> {
      try {
        mounts.assertHere(place);
        await using parent = await openParent(place);
        const file = await parent.openFile((await nameOnDisk(parent, place.parts.at(-1) ?? "")).name);
        try {
          const pieces = await Array.fromAsync(piecesOf(file, place.path, await file.stat({ bigint: true })));
          return isText(pieces[0]?.subarray(0, HEAD_BYTES) ?? new Uint8Array())
            ? Buffer.concat(pieces)
            : new Uint8Array();
        } finally {
          await file.close();
        }
      } catch {
        return new Uint8Array();
      }
    },

    async *searchable(user: string, place: MountedPath): AsyncGenerator<SearchedFile> {
      for await (const { path, kind, bytes } of walk(user, place))
        if (kind === "file" && bytes > 0 && bytes <= MAX_FILE_BYTES && isReachable(path))
          yield { path, bytes, digest: undefined, origins: outsideOrigins(path) };
    },
  };

  async function removeEmpty(place: MountedPath): Promise<void> {
    await using parent = await openParent(place);
    await parent.removeFolder((await nameOnDisk(parent, place.parts.at(-1) ?? "")).name);
  }
}

export interface WriteOptions {
  readonly change: Change;
  /** The id of the set that it belongs to. */
  readonly set: string;
  readonly expected?: number | undefined;
  readonly origins?: readonly Origin[] | undefined;
}

interface PendingChange {
  readonly set: string;
  readonly change: Change;
}

/** Who wrote a file of the machine is not known, so it counts as somebody else's. */
const outsideOrigins = (path: string): readonly Origin[] => [{ kind: "file", name: path }];

const keyOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;

const timeOf = ({ mtimeMs }: BigIntStats): string => new Date(Number(mtimeMs)).toISOString();

function folderEntry(
  path: string,
  isReadOnly: boolean,
  updatedAt = new Date(0).toISOString(),
): WorkspaceEntry {
  return {
    path,
    kind: "folder",
    bytes: 0,
    mime: FOLDER_TYPE,
    version: 0,
    updatedAt,
    ...(isReadOnly && { isReadOnly }),
  };
}

/** The name as the disk has it: a disk may keep letters in another form. */
async function nameOnDisk(directory: Directory, part: string) {
  const found = await directory.look(part);
  if (found !== undefined || /^[\x20-\x7e]*$/.test(part)) return { name: part, found };
  const { names } = await directory.names();
  const name = names.map((bytes) => bytes.toString()).find((each) => each.normalize("NFC") === part);
  return name === undefined ? { name: part, found } : { name, found: await directory.look(name) };
}

async function twinsOf(directory: Directory, name: string): Promise<readonly string[]> {
  const { names, isCut } = await directory.names();
  if (isCut) throw mountFault("There are too many files in that folder to change something in it.");
  const folded = foldPath(name.normalize("NFC"));
  return names
    .filter((bytes) => bytes.toString() !== name)
    .map(nameInWords)
    .filter((each) => foldPath(each) === folded);
}

/** In a folder with too many names to tell, a file can only be read as well. */
const hasTwin = (directory: Directory, name: string): Promise<boolean> =>
  twinsOf(directory, name).then(
    (twins) => twins.length > 0,
    () => true,
  );

/** Refuses to change what another name differs from only by case or form. */
async function assertFree(directory: Directory, name: string): Promise<void> {
  const [twin] = await twinsOf(directory, name);
  if (twin !== undefined) throw isTaken(twin);
}

/** Bytes that are no UTF-8 are shown as such. */
function nameInWords(bytes: Buffer): string {
  const text = bytes.toString();
  if (Buffer.compare(Buffer.from(text), bytes) === 0) return text.normalize("NFC");
  return [...bytes]
    .map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`))
    .join("");
}

const isPlain = (bytes: Buffer, text: string): boolean =>
  bytes.toString().normalize("NFC") === text && isReachable(`/${text}`);

function isReachable(path: string): boolean {
  try {
    return cleanPath(path) === path;
  } catch {
    return false;
  }
}

function onlyMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
  throw error;
}

const isGrowing = (path: string): Fault =>
  new Fault(
    "unavailable",
    "workspace_busy",
    `${path} is being written to by another program: try again in a moment.`,
    {
      retryAfterSecs: 1,
    },
  );

const tooLargeHere = (path: string): Fault =>
  new Fault(
    "invalid",
    "file_too_large",
    `${path} is larger than ${MAX_FILE_BYTES / 1_000_000} MB, so it is neither read nor changed here.`,
  );

const tooManyHere = (path: string): Fault =>
  mountFault(`${path} has more than ${MAX_REMOVED} files: remove it by its parts, or outside of Postern.`);
