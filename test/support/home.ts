/** A service home of a test's own, gone when the test is. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export async function temporaryHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "postern-test-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}
