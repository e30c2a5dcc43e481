/** Where a tool waits while its successor takes its place; the folder's name tells whose it is. */
import { randomUUID } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

const REPLACED = /^\.was-([A-Za-z0-9_-]{1,64})\.[0-9a-f-]+$/;

export function replacedFolder(folder: string, name: string): string {
  return join(folder, `.was-${name}.${randomUUID()}`);
}

/** The folders that wait, by the tool they hold. */
export async function findReplaced(folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const waiting = Map.groupBy(await readdir(folder), (entry) => REPLACED.exec(entry)?.[1] ?? "");
  waiting.delete("");
  return new Map([...waiting].map(([name, entries]) => [name, entries.map((entry) => join(folder, entry))]));
}

/** For a tool that goes for good, so that no predecessor comes back in its place. */
export async function dropReplaced(folder: string, name: string): Promise<void> {
  await dropAll((await findReplaced(folder)).get(name) ?? []);
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
