/** A folder for one test, gone when the test is over. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterThisTest } from "./undo.ts";

export function temporaryFolder(later = afterThisTest): string {
  const folder = mkdtempSync(join(tmpdir(), "postern-test-"));
  later(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
