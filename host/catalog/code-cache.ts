/** The compiled code of components, kept only for as long as a tool has it. */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Catalog } from "./catalog.ts";

export type CodeCache = ReturnType<typeof openCodeCache>;

// Somebody may be reading what a tool would be allowed to do, and agree later.
const STALE_MS = 24 * 60 * 60 * 1000;
// To write one takes minutes at most.
const DRAFT_MS = 60 * 60 * 1000;
const DRAFT = ".draft";

export const codeFolder = (home: string): string => join(home, "cache");

export function openCodeCache(home: string, catalog: Catalog) {
  const folder = codeFolder(home);

  async function unused(): Promise<readonly string[]> {
    const used = (await catalog.list()).map(({ digest }) => digest);
    const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
    return entries.filter(
      (entry) => entry.endsWith(DRAFT) || !used.some((digest) => entry.startsWith(digest)),
    );
  }

  /** Lists what checks without an install, and processes that were killed, left behind long ago. */
  async function stale(): Promise<readonly string[]> {
    const now = Date.now();
    const judged = (await unused()).map(async (entry) => {
      const path = join(folder, entry);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: now }));
      return now - mtimeMs > (entry.endsWith(DRAFT) ? DRAFT_MS : STALE_MS) ? [path] : [];
    });
    return (await Promise.all(judged)).flat();
  }

  const remove = (path: string) => rm(path, { recursive: true, force: true });

  return {
    folder,
    /** Deletes the code of a component, unless a tool has it. */
    async drop(digest: string): Promise<void> {
      // Another process may be writing a draft.
      const doomed = (await unused()).filter((entry) => entry.startsWith(digest) && !entry.endsWith(DRAFT));
      for (const entry of doomed) await remove(join(folder, entry));
    },
    stale,
    async sweep(): Promise<void> {
      for (const path of await stale()) await remove(path);
    },
  };
}
