/** Sees every save in a project's folder, however the editor writes its files. */
import { type FSWatcher, lstatSync, readdirSync, watch } from "node:fs";
import { join, sep } from "node:path";

export interface Changes {
  /** False where the watching has ended. */
  next(): Promise<boolean>;
  end(): void;
}

/** Editors write a file in several steps. */
const SETTLE_MS = 150;

/** Entries of the folder itself whose names are in `ignored` do not count. */
export function watchFolder(folder: string, ignored: ReadonlySet<string>): Changes {
  let isChanged = false;
  let hasEnded = false;
  let wake = () => {};
  let settled: NodeJS.Timeout | undefined;

  const note = () => {
    clearTimeout(settled);
    settled = setTimeout(() => {
      isChanged = true;
      wake();
    }, SETTLE_MS);
  };
  const close = watchTree(folder, ignored, note);
  return {
    async next() {
      if (!isChanged && !hasEnded)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      isChanged = false;
      return !hasEnded;
    },
    end() {
      hasEnded = true;
      clearTimeout(settled);
      close();
      wake();
    },
  };
}

/** One watcher for each directory: Node's recursive watching on Linux misses files that were renamed or made again. */
function watchTree(root: string, ignored: ReadonlySet<string>, note: () => void): () => void {
  const watchers = new Map<string, FSWatcher>();

  function follow(directory: string): void {
    const isIgnored = (name: string) => directory === root && ignored.has(name);
    try {
      const watcher = watch(directory, (event, name) => {
        if (name === null || isIgnored(name)) return;
        note();
        if (event !== "rename") return;
        // It may be gone, or another one under the same name.
        const path = join(directory, name);
        forget(path);
        if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) follow(path);
      });
      watcher.on("error", () => forget(directory));
      watchers.set(directory, watcher);
      for (const entry of readdirSync(directory, { withFileTypes: true }))
        if (entry.isDirectory() && !isIgnored(entry.name)) follow(join(directory, entry.name));
    } catch {
      // It went away in the meantime.
      forget(directory);
    }
  }

  function forget(directory: string): void {
    for (const [path, watcher] of watchers) {
      if (path !== directory && !path.startsWith(directory + sep)) continue;
      watcher.close();
      watchers.delete(path);
    }
  }

  follow(root);
  return () => forget(root);
}
