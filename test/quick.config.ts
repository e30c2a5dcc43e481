/**
 * `npm run test:quick`: the tests that stay in one process. A test file belongs to it unless it starts processes or
 * runs components, which its imports show; so no list has to be kept.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, mergeConfig } from "vitest/config";
import whole, { ROOT } from "./vitest.config.ts";

const SLOW = /from "(?:node:child_process|[./]+\/support\/(?:processes|tools)\/[^"]+)"/;

const quick = globSync("test/**/*.test.ts", { cwd: ROOT }).filter(
  (file) => !SLOW.test(readFileSync(join(ROOT, file), "utf8")),
);

export default mergeConfig(
  { ...whole, test: { ...whole.test, include: quick } },
  // What all of them import is loaded once for each process, not once for each file.
  defineConfig({ test: { isolate: false } }),
);
