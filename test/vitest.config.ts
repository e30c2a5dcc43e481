import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import LeftOut from "./support/run/left-out.ts";
import LongestFirst from "./support/run/longest-first.ts";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

// Where `postern` keeps what it compiled, too: hundreds of processes load the same code.
process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "node-compile-cache");

export default defineConfig({
  root: ROOT,
  resolve: { alias: { "postern/plugin": `${ROOT}kernel/plugin.ts` } },
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/support/run/open-handles.ts"],
    reporters: ["default", new LeftOut()],
    sequence: { sequencer: LongestFirst },
    pool: "forks",
    // Limits for what hangs, not for what is slow: the machine may have other work to do.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    // Two cores: more files at once only make each of them slower.
    maxWorkers: 2,
  },
});
