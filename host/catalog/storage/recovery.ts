/**
 * What processes that were killed while they installed or removed a tool left in the tools folder. A tool that
 * was set aside for its successor comes back, or is the previous version where the successor is there; the rest is deleted.
 */
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../../kernel/plugin.ts";
import { readComponent, readTool } from "./folders.ts";
import { dropAll, exists, findReplaced, keepAsPrevious } from "./replaced.ts";

const DRAFT = /^\.(new|old)-/;
// Younger ones may be another process's at work.
const DRAFT_MILLIS = 24 * 60 * 60 * 1000;

export async function recoverTools(folder: string, log: Log): Promise<void> {
  if (!(await exists(folder))) return;
  const attempt = async (path: string, clear: () => Promise<void>) => {
    try {
      await clear();
    } catch (error) {
      // Two processes that start at once clear the same; whoever comes second finds nothing.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      log.warn({ error }, `${path} is left over from an interrupted install and cannot be deleted`);
    }
  };
  for (const [name, waiting] of await findReplaced(folder)) {
    const place = join(folder, name);
    await attempt(place, () => settle(folder, name, waiting, log));
  }
  for (const entry of (await readdir(folder)).filter((entry) => DRAFT.test(entry))) {
    const path = join(folder, entry);
    await attempt(path, () => dropOld(path));
  }
}

/** Several wait where several installs were killed; the last one that was whole is the one people used. */
async function settle(folder: string, name: string, waiting: readonly string[], log: Log): Promise<void> {
  const place = join(folder, name);
  const dated = await Promise.all(
    waiting.map(async (path) => ({ path, date: await dateIfSound(path, name) })),
  );
  const [newest] = dated.sort((one, other) => other.date - one.date);
  if (newest === undefined) return;
  if (!(await exists(place))) {
    await rename(newest.path, place);
    log.warn(`${name}: its replacement was interrupted, so the previous version was restored`);
  } else if (newest.date > 0) await keepAsPrevious(folder, name, newest.path);
  await dropAll(waiting);
}

/** When the tool was installed; 0 where a part of it is gone or is not what was installed. */
async function dateIfSound(folder: string, name: string): Promise<number> {
  try {
    const tool = await readTool(folder, name);
    await readComponent(folder, tool);
    return Date.parse(tool.installedAt) || 0;
  } catch {
    return 0;
  }
}

async function dropOld(path: string): Promise<void> {
  if (Date.now() - (await stat(path)).mtimeMs > DRAFT_MILLIS)
    await rm(path, { recursive: true, force: true });
}
