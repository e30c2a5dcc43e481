/** The workspace: a tree of files for each user in the store, every change of which is kept and can be undone. */
import { randomUUID } from "node:crypto";
import { Fault, type Sql, type Transaction } from "../../kernel/plugin.ts";
import type { Store, UserStorage } from "../store/services.ts";
import { type Limits, limitsOf, MAX_FILE_BYTES, openAccount, tooLarge } from "./account.ts";
import { createContents, digestOf, type Incoming, PART_BYTES } from "./contents.ts";
import { mimeOfContent, mimeOfFile } from "./file-type.ts";
import {
  findVersion,
  listSets,
  listVersions,
  type MountedUndo,
  notKept,
  pathsOfSet,
  restoreVersion,
  undoSet,
} from "./history.ts";
import type { WriteOptions } from "./mounts/edits.ts";
import { createMountedFiles } from "./mounts/files.ts";
import { createMounts, type MountedPath } from "./mounts/mounts.ts";
import { cleanPath, ROOT } from "./path.ts";
import { createSearch, type SearchSource } from "./search.ts";
import type {
  Change,
  ChangeSet,
  Edit,
  FileContent,
  FileStream,
  Workspace,
  WorkspaceEntry,
} from "./services.ts";
import { createSweep } from "./sweep.ts";
import { MIGRATIONS } from "./tables.ts";
import { giveFiles } from "./transfer.ts";
import {
  type Changing,
  findEntry,
  isTaken,
  listEntries,
  makeFolder,
  moveEntry,
  notFound,
  type OwnSet,
  parseOrigins,
  putFile,
  removeEntry,
  rootEntry,
  searchSource,
  setOf,
  showEntry,
} from "./tree.ts";

const MAX_EDITS = 1000;

export interface WorkspaceOptions {
  readonly store: Store;
  /** Absent where nothing is counted. */
  readonly storage?: Pick<UserStorage, "take">;
  readonly maxMb: number;
  /** The name of this machine, which its mounts belong to. */
  readonly machine?: string;
}

export interface OpenWorkspace extends Workspace {
  /** Deletes versions that another replaced before that time, and what broke off a day ago. */
  sweep(before?: string): Promise<void>;
  close(): Promise<void>;
}

export async function createWorkspace(options: WorkspaceOptions): Promise<OpenWorkspace> {
  const { store, storage, maxMb, machine } = options;
  const sql = await store.tables("workspace", MIGRATIONS);
  const limits = limitsOf(maxMb);
  const contents = createContents(sql, limits, storage && ((user, bytes) => storage.take(user, bytes)));
  const changing = createChanging(sql, limits);
  const searching = createSearch();
  const sweeping = createSweep(sql, limits);
  const mounts = createMounts(sql, store, machine);
  const mounted = createMountedFiles({ sql, mounts, contents, changing });

  /** What an edit writes, brought as near to the store as it can be before the transaction begins. */
  async function prepare(user: string, path: string, data: Uint8Array): Promise<Incoming> {
    if (data.byteLength > MAX_FILE_BYTES) throw tooLarge(path);
    if (data.byteLength > PART_BYTES) return await contents.receive(user, path, once(data));
    await storage?.take(user, data.byteLength);
    return { digest: digestOf(data), bytes: data.byteLength, mime: mimeOfContent(data), data };
  }

  /** Forgets what came in where the work fails. */
  async function orDiscard<Result>(
    user: string,
    incoming: () => readonly Incoming[],
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      await contents.discard(
        user,
        incoming().flatMap(({ staged }) => staged ?? []),
      );
      throw error;
    }
  }

  async function write(
    on: Changing,
    path: string,
    incoming: Incoming,
    { expected, origins }: Partial<Pick<Edit & { op: "write" }, "expected" | "origins">>,
  ): Promise<void> {
    const { content, added } = await contents.keep(on.tx, on.user, incoming);
    on.account.count({ bytes: added });
    await putFile(on, path, { content, origins: origins ?? on.change.origins }, { expected });
  }

  const entryNow = async (tx: Transaction, user: string, path: string): Promise<WorkspaceEntry> => {
    const found = await findEntry(tx, user, path);
    return found === undefined ? rootEntry(path) : showEntry(found);
  };

  async function find(user: string, path: string): Promise<WorkspaceEntry | undefined> {
    if (path === ROOT) return rootEntry(path);
    const place = await mounts.locate(user, path);
    if (place) return await mounted.find(user, place);
    const found = await findEntry(sql, user, path);
    return found && showEntry(found);
  }

  /** The content of a file as it is in the store, or was in a version. */
  async function locate(
    user: string,
    path: string,
    version: number | undefined,
  ): Promise<{ readonly entry: WorkspaceEntry; readonly content: number } | undefined> {
    const found = await findEntry(sql, user, path);
    if (version === undefined || version === found?.version)
      return found?.content == null ? undefined : { entry: showEntry(found), content: found.content };
    const kept = await findVersion(sql, user, path, version);
    if (kept === undefined) return undefined;
    const { bytes, digest, mime, at, origins, content } = kept;
    const entry: WorkspaceEntry = {
      path,
      kind: "file",
      bytes,
      mime: mimeOfFile(path, mime),
      version,
      digest,
      updatedAt: at,
      origins: parseOrigins(origins),
    };
    return { entry, content };
  }

  async function stream(user: string, path: string, version?: number): Promise<FileStream | undefined> {
    const place = version === undefined ? await mounts.locate(user, path) : undefined;
    if (place) return await mounted.stream(user, place);
    const found = await locate(user, path, version);
    return found && { entry: found.entry, data: contents.stream(found.content) };
  }

  async function findSet(user: string, id: string): Promise<ChangeSet | undefined> {
    const found = await sql.get<{ seq: number }>(
      'SELECT seq FROM workspace_sets WHERE "user" = ? AND id = ?',
      user,
      id,
    );
    if (found === undefined) return undefined;
    const page = await listSets(sql, user, { limit: 1, before: String(found.seq + 1) });
    return page.items[0];
  }

  async function applyEdit(on: Changing, edit: Edit, incoming: Incoming | undefined): Promise<void> {
    switch (edit.op) {
      case "write":
        return await write(on, edit.path, incoming as Incoming, edit);
      case "folder":
        return await makeFolder(on, edit.path);
      case "move":
        return await moveEntry(on, edit.path, edit.to);
      case "remove":
        return await removeEntry(on, edit.path);
    }
  }

  async function applyInStore(
    user: string,
    edits: readonly Edit[],
    change: Change,
  ): Promise<readonly WorkspaceEntry[]> {
    const incoming = new Map<Edit, Incoming>();
    return await orDiscard(
      user,
      () => [...incoming.values()],
      async () => {
        for (const edit of edits)
          if (edit.op === "write") incoming.set(edit, await prepare(user, edit.path, edit.data));
        const freely = edits.every(({ op }) => op === "remove");
        return await changing(user, change, { freely }, async (on) => {
          for (const edit of edits) await applyEdit(on, edit, incoming.get(edit));
          const entries: WorkspaceEntry[] = [];
          for (const edit of edits)
            if (edit.op !== "remove")
              entries.push(await entryNow(on.tx, user, edit.op === "move" ? edit.to : edit.path));
          return entries;
        });
      },
    );
  }

  async function writeAt(
    user: string,
    path: string,
    incoming: Incoming,
    options: WriteOptions,
  ): Promise<WorkspaceEntry> {
    const place = await mounts.locate(user, path);
    return await orDiscard(
      user,
      () => [incoming],
      () =>
        place
          ? mounted.write(user, place, incoming, options)
          : changing(user, options.change, { own: { id: options.set } }, async (on) => {
              await write(on, path, incoming, options);
              return await entryNow(on.tx, user, path);
            }),
    );
  }

  /** The disk and the store cannot change in one step: an edit below a mount is made alone. */
  async function applyMounted(user: string, edit: Edit, change: Change): Promise<readonly WorkspaceEntry[]> {
    const options: WriteOptions = { change, set: change.writer.turn ?? randomUUID() };
    const place = await mounts.locate(user, edit.path);
    switch (edit.op) {
      case "write": {
        const { expected, origins, path, data } = edit;
        const incoming = await prepare(user, path, data);
        return [
          await writeAt(user, path, incoming, { ...options, expected, origins: origins ?? change.origins }),
        ];
      }
      case "folder":
        await mounted.makeFolder(place as MountedPath);
        return [(await find(user, edit.path)) as WorkspaceEntry];
      case "remove":
        await mounted.remove(user, place as MountedPath, options);
        return [];
      case "move":
        return [await moveAcross(user, edit, options)];
    }
  }

  /** Moves one file to, from or below a mount: it is there twice for a moment, and never not at all. */
  async function moveAcross(
    user: string,
    { path, to }: Edit & { op: "move" },
    options: WriteOptions,
  ): Promise<WorkspaceEntry> {
    if ((await find(user, to)) !== undefined) throw isTaken(to);
    const found = await stream(user, path);
    if (found === undefined) throw (await find(user, path)) ? noFolderMoves(path) : notFound(path);
    const incoming = await contents.receive(user, to, found.data);
    const origins = [...(found.entry.origins ?? []), ...(options.change.origins ?? [])];
    const moved = await writeAt(user, to, incoming, { ...options, origins, expected: 0 });
    try {
      await removeAt(user, path, options);
    } catch (error) {
      await removeAt(user, to, options);
      throw error;
    }
    return moved;
  }

  async function removeAt(user: string, path: string, options: WriteOptions): Promise<void> {
    const place = await mounts.locate(user, path);
    if (place) return await mounted.remove(user, place, options);
    await changing(user, options.change, { freely: true, own: { id: options.set } }, (on) =>
      removeEntry(on, path),
    );
  }

  /** Makes files below mounts what they were, in the set that takes the others back. */
  async function takeBackMounted(
    user: string,
    undos: readonly MountedUndo[],
    options: WriteOptions,
  ): Promise<void> {
    for (const { path, earlier } of undos) {
      if (earlier !== undefined)
        await writeAt(user, path, earlier, { ...options, origins: parseOrigins(earlier.origins) });
      else if ((await find(user, path)) !== undefined) await removeAt(user, path, options);
    }
  }

  async function undo(
    user: string,
    set: string,
    change: Change,
    way: "overwrite" | "skip" | undefined,
  ): ReturnType<Workspace["undo"]> {
    const own = { id: randomUUID(), undoes: set };
    const places = await Promise.all(
      (await pathsOfSet(sql, user, set)).map((path) => mounts.locate(user, path)),
    );
    const below = new Map(places.flatMap((place) => (place ? [[place.path, place] as const] : [])));
    const isMounted = (path: string) => below.has(path);
    let inTheWay: Awaited<ReturnType<Workspace["undo"]>>["conflicts"] = [];
    if (below.size > 0) {
      for (const place of below.values()) await mounted.look(user, place);
      const plan = await changing(user, change, { freely: true, own }, (on) =>
        undoSet(on, set, way, { plan: true, isMounted }),
      );
      inTheWay = plan.conflicts;
      if (inTheWay.length > 0 && way === undefined) return { conflicts: inTheWay };
      // The set is made with what it takes back before the files of the disk join it.
      await changing(user, change, { freely: true, own }, async (on) => void (await on.set()));
      await takeBackMounted(user, plan.mounted, { change, set: own.id });
    }
    const conflicts = await changing(user, change, { freely: true, own }, async (on, setId) => {
      const found = await undoSet(on, set, way, { isMounted });
      if (setId() === undefined && below.size === 0) return found.conflicts;
      await on.tx.run(
        'UPDATE workspace_sets SET undone_by = ? WHERE "user" = ? AND id = ?',
        own.id,
        user,
        set,
      );
      // What the set had taken back is in effect again.
      await on.tx.run(
        'UPDATE workspace_sets SET undone_by = NULL WHERE "user" = ? AND undone_by = ?',
        user,
        set,
      );
      return found.conflicts;
    });
    const mountedOnly = inTheWay.filter(({ path }) => isMounted(path));
    return { conflicts: [...conflicts, ...mountedOnly], set: await findSet(user, own.id) };
  }

  async function searchedPlaces(user: string, folder: string): Promise<readonly MountedPath[]> {
    const place = await mounts.locate(user, folder);
    if (place) return [place];
    if (folder !== ROOT) return [];
    return (await mounts.of(user)).map((mount) => ({ mount, path: `/${mount.name}`, parts: [] }));
  }

  function sourceOf(user: string): SearchSource {
    const stored = searchSource(sql, user);
    return {
      async *files(folder) {
        if ((await mounts.locate(user, folder)) === undefined) yield* stored.files(folder);
        for (const place of await searchedPlaces(user, folder))
          try {
            mounts.assertHere(place);
            yield* mounted.searchable(user, place);
          } catch (error) {
            // A mount that is away is no reason to find nothing elsewhere.
            if (folder !== ROOT) throw error;
          }
      },
      async read(files) {
        const kept = files.filter(({ digest }) => digest !== undefined);
        const texts = kept.length > 0 ? await stored.read(kept) : [];
        const known = new Map(kept.map((file, at) => [file, texts[at] as Uint8Array]));
        return await Promise.all(
          files.map(async (file) => {
            const text = known.get(file);
            if (text) return text;
            const place = await mounts.locate(user, file.path);
            return place ? await mounted.readText(place) : new Uint8Array();
          }),
        );
      },
    };
  }

  return {
    async list(user, given, query = {}) {
      const folder = cleanPath(given);
      const place = await mounts.locate(user, folder);
      if (place) return await mounted.list(user, place, query);
      const page = await listEntries(sql, user, folder, query);
      if (folder !== ROOT) return page;
      const { after = "" } = query;
      const tops = (await mounts.of(user)).map(({ name, readOnly }) => ({
        ...rootEntry(`/${name}`),
        ...(readOnly === 1 && { isReadOnly: true }),
      }));
      const end = page.next;
      const here = tops.filter(({ path }) => path > after && (end === undefined || path <= end));
      return { ...page, items: [...page.items, ...here].toSorted((a, b) => (a.path < b.path ? -1 : 1)) };
    },
    find: async (user, path) => find(user, cleanPath(path)),

    async read(user, given, { version, offset, length } = {}): Promise<FileContent | undefined> {
      const path = cleanPath(given);
      const place = version === undefined ? await mounts.locate(user, path) : undefined;
      if (place) return await mounted.read(user, place, offset, length);
      const found = await locate(user, path, version);
      if (found === undefined) return undefined;
      const { entry, content } = found;
      return { entry, data: await contents.read(content, entry.bytes, offset, length) };
    },

    stream: async (user, path, version) => stream(user, cleanPath(path), version),

    async apply(user, given, change) {
      if (given.length > MAX_EDITS) throw tooManyEdits();
      const edits = given.map(cleanEdit);
      const paths = edits.flatMap((edit) => (edit.op === "move" ? [edit.path, edit.to] : [edit.path]));
      const places = await Promise.all(paths.map((path) => mounts.locate(user, path)));
      if (places.every((place) => place === undefined)) return await applyInStore(user, edits, change);
      const [edit, ...others] = edits;
      if (others.length > 0) throw oneAtATime();
      return await applyMounted(user, edit as Edit, change);
    },

    async upload(user, given, data, change, expected) {
      const path = cleanPath(given);
      const incoming = await contents.receive(user, path, data);
      const set = change.writer.turn ?? randomUUID();
      return await writeAt(user, path, incoming, { change, set, expected, origins: change.origins });
    },

    search: (user, { folder = ROOT, ...query }) => searching.search(sourceOf(user), cleanPath(folder), query),

    async versions(user, given) {
      const path = cleanPath(given);
      const place = await mounts.locate(user, path);
      // Where the disk is away, what is kept of it is still there.
      if (place) await mounted.look(user, place).catch(() => {});
      return await listVersions(sql, user, path);
    },
    log: async (user, { path, ...query } = {}) =>
      listSets(sql, user, { ...query, ...(path !== undefined && { path: cleanPath(path) }) }),
    undo,

    async restore(user, given, version, change) {
      const path = cleanPath(given);
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
    },

    async usage(user) {
      const found = await sql.get<{ bytes: number; files: number }>(
        'SELECT bytes, files FROM workspace_accounts WHERE "user" = ?',
        user,
      );
      return { bytes: found?.bytes ?? 0, files: found?.files ?? 0, ...limits };
    },

    async roots(user) {
      const rows = await sql.all<{ path: string }>(
        `SELECT path FROM workspace_entries WHERE "user" = ? AND parent = '' ORDER BY path`,
        user,
      );
      const named = rows.map(({ path }) => ({
        name: path.slice(0, -":/".length),
        kind: "named" as const,
        isReadOnly: false,
      }));
      return [...named, ...(await mounts.roots(user))];
    },

    mounts: mounts.list,
    mount: mounts.add,
    unmount: mounts.remove,

    sweep: sweeping.sweep,
    async removeUser(user) {
      await sweeping.removeUser(user);
      await mounts.changed();
    },
    async giveUser(tx, from, to) {
      await giveFiles(tx, sql.engine, from, to);
      await mounts.changed(tx);
    },
    async close() {
      mounts.close();
      await searching.close();
    },
  };
}

/** Does the work on the workspace of one user in a transaction, one at a time. */
function createChanging(sql: Sql, limits: Limits) {
  return <Result>(
    user: string,
    change: Change,
    options: { readonly freely?: boolean; readonly own?: OwnSet },
    work: (on: Changing, setId: () => string | undefined) => Promise<Result>,
  ): Promise<Result> =>
    sql.transaction(async (tx) => {
      const account = await openAccount(tx, sql.engine, user, limits);
      const base = { tx, user, account, change, at: new Date().toISOString() };
      const set = setOf(base, options.own);
      const result = await work({ ...base, set: set.number }, set.id);
      await account.close(options.freely);
      return result;
    });
}

function cleanEdit(edit: Edit): Edit {
  const path = cleanPath(edit.path);
  return edit.op === "move" ? { ...edit, path, to: cleanPath(edit.to) } : { ...edit, path };
}

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}

const tooManyEdits = (): Fault =>
  new Fault("invalid", "too_many_edits", `Make at most ${MAX_EDITS} changes at once.`);

const oneAtATime = (): Fault =>
  new Fault("invalid", "too_many_edits", "Change files of a mounted folder one at a time.");

const noFolderMoves = (path: string): Fault =>
  new Fault(
    "invalid",
    "workspace_mount",
    `${path} is a folder: to, from and below a mounted folder only files can be moved.`,
  );
