/** The compiled code of components, kept only for as long as a tool has it. */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Catalog } from "../catalog/catalog.ts";

export interface CodeCache {
  readonly folder: string;
  /** Deletes the code of a component, unless a tool has it. */
  drop(digest: string): Promise<void>;
  /** Deletes what was left behind long ago by checks that led to no install. */
  sweep(): Promise<void>;
}

const STALE_MILLIS = 24 * 60 * 60 * 1000;

export const codeFolder = (home: string): string => join(home, "cache");

export function openCodeCache(home: string, catalog: Catalog): CodeCache {
  const folder = codeFolder(home);

  async function remove(isDoomed: (entry: string) => boolean | Promise<boolean>): Promise<void> {
    const used = (await catalog.list()).map(({ digest }) => digest);
    const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
    for (const entry of entries) {
      if (used.some((digest) => entry.startsWith(digest)) || !(await isDoomed(entry))) continue;
      await rm(join(folder, entry), { recursive: true, force: true });
    }
  }

  return {
    folder,
    drop: (digest) => remove((entry) => entry.startsWith(digest)),
    sweep: () =>
      remove(async (entry) => Date.now() - (await stat(join(folder, entry))).mtimeMs > STALE_MILLIS),
  };
}
