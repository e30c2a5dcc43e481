/** Keeps a tool while its successor takes its place, and the last one replaced. The folder's name tells whose it is. */
import { randomUUID } from "node:crypto";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

const REPLACED = /^\.was-([A-Za-z0-9_-]{1,64})\.[0-9a-f-]+$/;

export function replacedFolder(folder: string, name: string): string {
  return join(folder, `.was-${name}.${randomUUID()}`);
}

export function previousFolder(folder: string, name: string): string {
  return join(folder, `.previous-${name}`);
}

/** From where it waits; there is one previous version, so the one before goes. */
export async function keepAsPrevious(folder: string, name: string, waiting: string): Promise<void> {
  const place = previousFolder(folder, name);
  const doomed = join(folder, `.old-${randomUUID()}`);
  await moveIfThere(place, doomed);
  // A process that starts at this moment may have kept it already.
  if (!(await moveIfThere(waiting, place))) await moveIfThere(doomed, place);
  await rm(doomed, { recursive: true, force: true });
}

async function moveIfThere(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

export async function findReplaced(folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const waiting = Map.groupBy(await readdir(folder), (entry) => REPLACED.exec(entry)?.[1] ?? "");
  waiting.delete("");
  return new Map([...waiting].map(([name, entries]) => [name, entries.map((entry) => join(folder, entry))]));
}

/** Used when a tool is removed, so that no predecessor comes back in its place. */
export async function dropReplaced(folder: string, name: string): Promise<void> {
  await dropAll([...((await findReplaced(folder)).get(name) ?? []), previousFolder(folder, name)]);
}

export async function dropAll(paths: readonly string[]): Promise<void> {
  await Promise.all(paths.map((path) => rm(path, { recursive: true, force: true })));
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
