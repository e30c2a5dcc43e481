/** The folders below a mount. */
import { mimeOfName } from "../../../kernel/kit/files.ts";
import { foldPath } from "../path.ts";
import type { WorkspaceEntry } from "../services.ts";
import { FOLDER_TYPE } from "../tree.ts";
import { timeOf } from "./disk-content.ts";
import { isPlain, isReachable, nameInWords, nameOnDisk, openParent } from "./disk-path.ts";
import type { MountedPath } from "./mounts.ts";
import { isRun } from "./run-files.ts";
import type { MountParts } from "./versions.ts";

const MAX_VISITED = 20_000;

export interface ListedEntry extends WorkspaceEntry {
  /** True for what programs of the machine may run by themselves. */
  readonly isRun: boolean;
}

export async function listFolder(
  { sql }: MountParts,
  user: string,
  place: MountedPath,
): Promise<readonly ListedEntry[]> {
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
  const entries: ListedEntry[] = [];
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
      isRun: isRun({ mount, parts: [...parts, text] }, isFolder ? 0n : stats?.mode),
    });
  }
  return entries.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

/** Everything below a folder, by path, so far as it is looked at. */
export async function* walk(
  parts: MountParts,
  user: string,
  place: MountedPath,
): AsyncGenerator<ListedEntry> {
  let visited = 0;
  const waiting = [place.path];
  while (waiting.length > 0) {
    const path = waiting.shift() as string;
    const [, , ...names] = path.split("/");
    const entries = await listFolder(parts, user, { ...place, path, parts: names }).catch(
      (error: unknown) => {
        // A folder below that may not be opened costs nothing but itself.
        if (path === place.path) throw error;
        return [];
      },
    );
    for (const entry of entries) {
      if (++visited > MAX_VISITED) return;
      yield entry;
      if (entry.kind === "folder" && isReachable(entry.path)) waiting.push(entry.path);
    }
  }
}
