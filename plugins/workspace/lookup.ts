/** Files and folders as they are now, or as a version was, in the store and below mounts. */
import type { Page, Queries } from "../../kernel/plugin.ts";
import { mimeOfFile } from "./file-type.ts";
import { findVersion } from "./history.ts";
import type { WorkspaceParts } from "./parts.ts";
import { ROOT } from "./path.ts";
import type { FileStream, Workspace, WorkspaceEntry } from "./services.ts";
import { findEntry, listEntries, parseOrigins, rootEntry, showEntry } from "./tree.ts";

export async function find(
  { sql, mounts, mounted }: WorkspaceParts,
  user: string,
  path: string,
): Promise<WorkspaceEntry | undefined> {
  if (path === ROOT) return rootEntry(path);
  const place = await mounts.locate(user, path);
  if (place) return await mounted.find(user, place);
  const found = await findEntry(sql, user, path);
  return found && showEntry(found);
}

export async function list(
  { sql, mounts, mounted }: WorkspaceParts,
  user: string,
  folder: string,
  query: NonNullable<Parameters<Workspace["list"]>[2]> = {},
): Promise<Page<WorkspaceEntry>> {
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
}

export async function stream(
  parts: WorkspaceParts,
  user: string,
  path: string,
  version?: number,
): Promise<FileStream | undefined> {
  const place = version === undefined ? await parts.mounts.locate(user, path) : undefined;
  if (place) return await parts.mounted.stream(user, place);
  const found = await locateContent(parts, user, path, version);
  return found && { entry: found.entry, data: parts.contents.stream(found.content) };
}

/** The content of a file as it is in the store, or was in a version. */
export async function locateContent(
  { sql }: WorkspaceParts,
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

export const entryNow = async (tx: Queries, user: string, path: string): Promise<WorkspaceEntry> => {
  const found = await findEntry(tx, user, path);
  return found === undefined ? rootEntry(path) : showEntry(found);
};
