/** A folder for one test, gone when the test is over. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MEMORY } from "./run/memory-folder.ts";
import { afterThisTest } from "./undo.ts";

export function temporaryFolder(later = afterThisTest, place = tmpdir()): string {
  const folder = mkdtempSync(join(place, "postern-test-"));
  later(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** For a store in the tests' own process. */
export const temporaryHome = (later = afterThisTest): string => temporaryFolder(later, MEMORY);
