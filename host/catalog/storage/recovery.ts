/** Cleans up after processes killed while installing or removing: a tool set aside comes back, or is the previous version. */
import { readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../../kernel/plugin.ts";
import { readComponent, readTool } from "./folders.ts";
import { dropAll, exists, findReplaced, keepAsPrevious } from "./replaced.ts";

const DRAFT = /^\.(?:(?:new|old)-|shipped\.json\.\d+$)/;
// Younger ones may be another process's at work, which takes seconds.
const DRAFT_MS = 60 * 60 * 1000;

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
    await attempt(place, async () => {
      if (await settle(folder, name, waiting))
        log.warn(`${name}: its replacement was interrupted, so the previous version was restored`);
    });
  }
  for (const path of await findDrafts(folder)) await attempt(path, () => dropAll([path]));
}

/** Finds what a killed process left and no other can still be working on. */
export async function findDrafts(folder: string): Promise<readonly string[]> {
  const drafts = (await readdir(folder)).filter((entry) => DRAFT.test(entry));
  const dated = await Promise.all(
    drafts.map(async (entry) => {
      const path = join(folder, entry);
      // Gone since: nobody has to delete it.
      return {
        path,
        time: await stat(path).then(
          ({ mtimeMs }) => mtimeMs,
          () => Date.now(),
        ),
      };
    }),
  );
  return dated.flatMap(({ path, time }) => (Date.now() - time > DRAFT_MS ? [path] : []));
}

/** Puts back the last whole one, if several installs were killed. True if it is in its place again. */
export async function settle(folder: string, name: string, waiting: readonly string[]): Promise<boolean> {
  const place = join(folder, name);
  const dated = await Promise.all(
    waiting.map(async (path) => ({ path, date: await dateIfSound(path, name) })),
  );
  const [newest] = dated.sort((one, other) => other.date - one.date);
  if (newest === undefined) return false;
  const isGone = !(await exists(place));
  if (isGone) await rename(newest.path, place);
  else if (newest.date > 0) await keepAsPrevious(folder, name, newest.path);
  await dropAll(waiting);
  return isGone;
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
