/** Files below a mount. The disk says what there is; a change made outside becomes a version when it is looked at. */
import type { Page } from "../../../kernel/plugin.ts";
import { MAX_FILE_BYTES } from "../account.ts";
import type { Incoming } from "../contents.ts";
import type { SearchedFile } from "../search.ts";
import type { WorkspaceEntry } from "../services.ts";
import { explain } from "./directory.ts";
import { createDigests } from "./disk-content.ts";
import { findFile, noticeFile, readFile, readText, statFile, streamFile } from "./disk-files.ts";
import { isReachable, openParent } from "./disk-path.ts";
import { makeFolder, remove, type WriteOptions, writeFile } from "./edits.ts";
import { listFolder, walk } from "./listing.ts";
import type { MountedPath } from "./mounts.ts";
import { isRun } from "./run-files.ts";
import { type MountParts, outsideOrigins } from "./versions.ts";

const MAX_LISTED = 1000;

export type MountedFiles = ReturnType<typeof createMountedFiles>;

export function createMountedFiles(given: Omit<MountParts, "digestOf">) {
  const parts: MountParts = { ...given, digestOf: createDigests() };
  const { mounts } = given;

  const inMount = async <Result>(place: MountedPath, work: () => Promise<Result>): Promise<Result> => {
    mounts.assertUsable(place);
    try {
      return await work();
    } catch (error) {
      throw explain(error, place.path);
    }
  };

  return {
    find: (user: string, place: MountedPath) => inMount(place, () => findFile(parts, user, place)),
    read: (user: string, place: MountedPath, offset?: number, length?: number) =>
      inMount(place, () => readFile(parts, user, place, offset, length)),
    stream: (user: string, place: MountedPath) => inMount(place, () => streamFile(parts, user, place)),
    look: (user: string, place: MountedPath) => inMount(place, () => noticeFile(parts, user, place)),

    list: (
      user: string,
      place: MountedPath,
      query: { readonly deep?: boolean; readonly limit?: number; readonly after?: string },
    ): Promise<Page<WorkspaceEntry>> =>
      inMount(place, async () => {
        const limit = Math.max(1, Math.min(MAX_LISTED, Math.floor(query.limit ?? MAX_LISTED)));
        const all = query.deep
          ? (await Array.fromAsync(walk(parts, user, place))).toSorted((one, other) =>
              one.path < other.path ? -1 : 1,
            )
          : await listFolder(parts, user, place);
        const { after } = query;
        const rest = after === undefined ? all : all.filter(({ path }) => path > after);
        const items = rest.slice(0, limit);
        const last = items.at(-1);
        return { items, ...(rest.length > limit && last && { next: last.path }) };
      }),

    write: (user: string, place: MountedPath, incoming: Incoming, options: WriteOptions) =>
      inMount(place, () => writeFile(parts, user, place, incoming, options)),
    /** In the folders in which a write was under way when its process ended. */
    async removeLeftovers(): Promise<void> {
      const broken = await given.sql.all<{ user: string; path: string }>(
        'SELECT DISTINCT "user", path FROM workspace_pending',
      );
      for (const { user, path } of broken) {
        const place = await mounts.locate(user, path).catch(() => undefined);
        if (place === undefined) continue;
        // What cannot be reached now is looked at by a later start.
        await inMount(place, async () => {
          await using parent = await openParent(place);
          await parent.removeLeftovers();
        }).catch(() => {});
      }
    },
    /** True if programs of the machine may run what is there, or something in it, by themselves. */
    runs: (user: string, place: MountedPath): Promise<boolean> =>
      inMount(place, async () => {
        const found = await statFile(place);
        const isFolder = found?.isDirectory() ?? false;
        if (isRun(place, isFolder ? 0n : found?.mode)) return true;
        if (isFolder) for await (const entry of walk(parts, user, place)) if (entry.isRun) return true;
        return false;
      }),
    makeFolder: (place: MountedPath) => inMount(place, () => makeFolder(place)),
    remove: (user: string, place: MountedPath, options: WriteOptions) =>
      inMount(place, () => remove(parts, user, place, options)),

    async *searchable(user: string, place: MountedPath): AsyncGenerator<SearchedFile> {
      for await (const { path, kind, bytes } of walk(parts, user, place))
        if (kind === "file" && bytes > 0 && bytes <= MAX_FILE_BYTES && isReachable(path))
          yield { path, bytes, digest: undefined, origins: outsideOrigins(path) };
    },

    /** The whole file for a search; empty if it cannot be read now. */
    readText: (place: MountedPath): Promise<Uint8Array> =>
      inMount(place, () => readText(place)).catch(() => new Uint8Array()),
  };
}
