/** Making folders where an operator or author said. */
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** Throws where a folder cannot be made. Step by step: below /proc Node's recursive way tries for ever. */
export function makeFolders(folder: string, mode?: number): void {
  for (const missing of missingFolders(folder)) {
    try {
      mkdirSync(missing, { mode });
    } catch (error) {
      // Somebody else may have made it in the meantime.
      if (!statSync(missing, { throwIfNoEntry: false })?.isDirectory()) throw error;
    }
  }
}

/** Throws where `makeFolders` would. Leaves nothing behind. */
export function assertMakeable(folder: string): void {
  const [first] = missingFolders(folder);
  if (first === undefined) return;
  rmdirSync(mkdtempSync(join(dirname(first), ".postern-")));
}

function missingFolders(folder: string): readonly string[] {
  const missing: string[] = [];
  for (let at = folder; !existsSync(at); at = dirname(at)) missing.unshift(at);
  return missing;
}
