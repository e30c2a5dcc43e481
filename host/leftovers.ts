/**
 * What a process that was killed while it installed or removed a tool left in the tools folder. A tool that
 * was set aside for its successor comes back unless the successor is there; the rest is deleted.
 */
import { randomUUID } from "node:crypto";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../kernel/plugin.ts";

const ASIDE = /^\.was-([A-Za-z0-9_-]{1,64})\.[0-9a-f-]+$/;
const DRAFT = /^\.(new|old)-/;
// Younger ones may be another process's at work.
const DRAFT_MILLIS = 24 * 60 * 60 * 1000;

/** Where a tool waits while its successor takes its place; it tells whose it is. */
export function asideFolder(folder: string, name: string): string {
  return join(folder, `.was-${name}.${randomUUID()}`);
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** For a tool that goes for good, so that no predecessor comes back in its place. */
export async function dropAside(folder: string, name: string): Promise<void> {
  const entries = (await readdir(folder)).filter((entry) => ASIDE.exec(entry)?.[1] === name);
  await Promise.all(entries.map((entry) => rm(join(folder, entry), { recursive: true, force: true })));
}

export async function clearLeftovers(folder: string, log: Log): Promise<void> {
  if (!(await exists(folder))) return;
  for (const entry of await readdir(folder)) {
    try {
      await clear(folder, entry, log);
    } catch (error) {
      // Two processes that start at once clear the same; whoever comes second finds nothing.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") continue;
      log.warn({ error }, `${join(folder, entry)} is left from an interrupted install and cannot be cleared`);
    }
  }
}

async function clear(folder: string, entry: string, log: Log): Promise<void> {
  const path = join(folder, entry);
  const name = ASIDE.exec(entry)?.[1];
  if (name !== undefined && !(await exists(join(folder, name)))) {
    await rename(path, join(folder, name));
    log.warn(`${name}: its replacement was interrupted, so the version before it is back`);
    return;
  }
  const isOldDraft = DRAFT.test(entry) && Date.now() - (await stat(path)).mtimeMs > DRAFT_MILLIS;
  if (name !== undefined || isOldDraft) await rm(path, { recursive: true, force: true });
}
