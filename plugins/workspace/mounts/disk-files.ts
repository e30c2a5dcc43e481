/** A file on the disk, read as the version that it is. */
import type { BigIntStats } from "node:fs";
import { MAX_FILE_BYTES } from "../account.ts";
import { HEAD_BYTES, isText, mimeOfFile } from "../file-type.ts";
import type { FileContent, FileStream, WorkspaceEntry } from "../services.ts";
import { FOLDER_TYPE, parseOrigins } from "../tree.ts";
import { isGrowing, keyOf, piecesOf, timeOf } from "./disk-content.ts";
import { hasTwin, nameOnDisk, openParent } from "./disk-path.ts";
import type { MountedPath } from "./mounts.ts";
import { type MountParts, noticeVersion } from "./versions.ts";

export async function findFile(
  mountParts: MountParts,
  user: string,
  place: MountedPath,
): Promise<WorkspaceEntry | undefined> {
  const { path, parts, mount } = place;
  if (parts.length === 0) return folderEntry(path, mount.readOnly === 1);
  const opened = await openFile(mountParts, user, place).catch(onlyMissing);
  if (opened) {
    await opened.file.close();
    return opened.entry;
  }
  await using parent = await openParent(place).catch(onlyMissing);
  const { found } = parent ? await nameOnDisk(parent, parts.at(-1) ?? "") : { found: undefined };
  return found?.isDirectory() ? folderEntry(path, mount.readOnly === 1, timeOf(found)) : undefined;
}

export async function readFile(
  mountParts: MountParts,
  user: string,
  place: MountedPath,
  offset = 0,
  length = MAX_FILE_BYTES,
): Promise<FileContent | undefined> {
  const opened =
    place.parts.length === 0 ? undefined : await openFile(mountParts, user, place).catch(onlyMissing);
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
}

export async function streamFile(
  mountParts: MountParts,
  user: string,
  place: MountedPath,
): Promise<FileStream | undefined> {
  const opened =
    place.parts.length === 0 ? undefined : await openFile(mountParts, user, place).catch(onlyMissing);
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
}

/** What is there, without noticing a change: undefined if nothing is. */
export async function statFile(place: MountedPath): Promise<BigIntStats | undefined> {
  await using parent = await openParent(place).catch(onlyMissing);
  return parent && (await nameOnDisk(parent, place.parts.at(-1) ?? "")).found;
}

/** Looks at the file, so that a change made outside becomes a version. */
export async function noticeFile(mountParts: MountParts, user: string, place: MountedPath): Promise<void> {
  const opened = await openFile(mountParts, user, place).catch(onlyMissing);
  await opened?.file.close();
}

/** The whole file for a search; empty if it is not text. */
export async function readText(place: MountedPath): Promise<Uint8Array> {
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
}

/** A file as it is on the disk, open, with the version that it is. */
async function openFile(mountParts: MountParts, user: string, place: MountedPath) {
  const { path, parts } = place;
  await using parent = await openParent(place);
  const { name, found } = await nameOnDisk(parent, parts.at(-1) ?? "");
  if (found === undefined) {
    await noticeVersion(mountParts, user, path, undefined);
    return undefined;
  }
  if (found.isDirectory()) return undefined;
  const file = await parent.openFile(name);
  try {
    const { digest, mime, stats } = await mountParts.digestOf(file, path);
    const bytes = Number(stats.size);
    const last = await noticeVersion(mountParts, user, path, { digest, bytes });
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

function onlyMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
  throw error;
}
