import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("..", import.meta.url));

export default defineConfig({
  root,
  resolve: { alias: { "postern/plugin": `${root}kernel/plugin.ts` } },
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    // Limits for what hangs, not for what is slow: the machine may have other work to do.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    // Two cores: more files at once only make each of them slower.
    maxWorkers: 2,
  },
});
