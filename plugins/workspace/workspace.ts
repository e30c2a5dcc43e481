/** The workspace: a tree of files for each user in the store, every change of which is kept and can be undone. */
import { randomUUID } from "node:crypto";
import type { Store, UserStorage } from "../store/services.ts";
import { createAccounts, limitsOf } from "./account.ts";
import { agreementsTo } from "./agreements.ts";
import { createChangeStore } from "./change-store.ts";
import { createContents } from "./contents.ts";
import { applyEdits, cleanEdit, writeAt } from "./edits.ts";
import { listSets, listVersions } from "./history.ts";
import { find, list, locateContent, stream } from "./lookup.ts";
import { createMountedFiles } from "./mounts/files.ts";
import { createMounts } from "./mounts/mounts.ts";
import type { WorkspaceParts } from "./parts.ts";
import { cleanPath, ROOT } from "./path.ts";
import { createSearch } from "./search.ts";
import { sourceOf } from "./searched-files.ts";
import type { FileContent, Workspace } from "./services.ts";
import { createSweep } from "./sweep.ts";
import { MIGRATIONS } from "./tables.ts";
import { giveFiles } from "./transfer.ts";
import { restore, undo } from "./undo.ts";

export interface WorkspaceOptions {
  readonly store: Store;
  /** Absent where nothing is counted. */
  readonly storage?: Pick<UserStorage, "take">;
  readonly maxMb: number;
  /** The service's home, of which no mount shows anything. */
  readonly home: string;
  /** The name of this machine, which its mounts belong to. */
  readonly machine?: string;
}

export interface OpenWorkspace extends Workspace {
  /** Deletes versions that another replaced before that time, and what broke off a day ago. */
  sweep(before?: string): Promise<void>;
  /** Removes from mounted folders what processes that were killed were about to write there. */
  removeLeftovers(): Promise<void>;
  close(): Promise<void>;
}

export async function createWorkspace(options: WorkspaceOptions): Promise<OpenWorkspace> {
  const { store, storage, maxMb, home, machine } = options;
  const sql = await store.tables("workspace", MIGRATIONS);
  const limits = limitsOf(maxMb);
  const inAccount = createAccounts(sql, limits);
  const contents = createContents(sql, inAccount, storage && ((user, bytes) => storage.take(user, bytes)));
  const changing = createChangeStore(inAccount);
  const searching = createSearch();
  const sweeping = createSweep(sql, inAccount);
  const mounts = createMounts(sql, store, home, machine);
  const mounted = createMountedFiles({ sql, mounts, contents, changing });
  const parts: WorkspaceParts = { sql, contents, mounts, mounted, changing, storage };

  return {
    list: async (user, folder, query) => list(parts, user, cleanPath(folder), query),
    find: async (user, path) => find(parts, user, cleanPath(path)),

    async read(user, given, { version, offset, length } = {}): Promise<FileContent | undefined> {
      const path = cleanPath(given);
      const place = version === undefined ? await mounts.locate(user, path) : undefined;
      if (place) return await mounted.read(user, place, offset, length);
      const found = await locateContent(parts, user, path, version);
      if (found === undefined) return undefined;
      const { entry, content } = found;
      return { entry, data: await contents.read(content, entry.bytes, offset, length) };
    },

    stream: async (user, path, version) => stream(parts, user, cleanPath(path), version),

    agreements: (user, edits, change) => agreementsTo(parts, user, edits.map(cleanEdit), change),
    apply: (user, edits, change) => applyEdits(parts, user, edits, change),

    async upload(user, given, data, change, expected) {
      const path = cleanPath(given);
      const incoming = await contents.receive(user, path, data);
      const set = change.writer.turn ?? randomUUID();
      return await writeAt(parts, user, path, incoming, { change, set, expected, origins: change.origins });
    },

    search: (user, { folder = ROOT, ...query }) =>
      searching.search(sourceOf(parts, user), cleanPath(folder), query),

    async versions(user, given) {
      const path = cleanPath(given);
      const place = await mounts.locate(user, path);
      // Where the disk is away, what is kept of it is still there.
      if (place) await mounted.look(user, place).catch(() => {});
      return await listVersions(sql, user, path);
    },
    log: async (user, { path, ...query } = {}) =>
      listSets(sql, user, { ...query, ...(path !== undefined && { path: cleanPath(path) }) }),
    undo: (user, set, change, way) => undo(parts, user, set, change, way),

    restore: async (user, path, version, change) => restore(parts, user, cleanPath(path), version, change),

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
    removeLeftovers: mounted.removeLeftovers,
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
