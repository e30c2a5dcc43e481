import { globSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { findBinaries } from "./support/processes/postgres/server.ts";
import Contained from "./support/run/contained.ts";
import LeftOut from "./support/run/left-out.ts";
import LongestFirst from "./support/run/longest-first.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

// Where `postern` keeps what it compiled, too: hundreds of processes load the same code.
process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "node-compile-cache");

const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

/** Starts processes or runs components, as its imports show: so no list has to be kept. */
const isSlow = (file: string) =>
  /from "(?:node:child_process|[./]+\/support\/(?:processes|tools)\/[^"]+)"/.test(read(file));
/** Starts a whole service in its own process: what holds on SQLite has to hold on PostgreSQL. */
const bootsService = (file: string) =>
  file.startsWith("test/plugins/") &&
  /from "[./]+\/support\/services\/(?:kernel|agent|gateway|responses|webhook)\.ts"/.test(read(file));
const files = Map.groupBy(globSync("test/**/*.test.ts", { cwd: ROOT }), (file) =>
  isSlow(file) ? "slow" : "quick",
);

export default defineConfig({
  root: ROOT,
  resolve: { alias: { "postern/plugin": `${ROOT}kernel/plugin.ts` } },
  test: {
    setupFiles: ["test/support/run/open-handles.ts"],
    reporters: ["default", new LeftOut(), new Contained()],
    sequence: { sequencer: LongestFirst },
    pool: "forks",
    // Limits for what hangs, not for what is slow: the machine may have other work to do.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    // Two cores: more files at once only make each of them slower.
    maxWorkers: 2,
    projects: [
      // What all of them import is loaded once for each process, not once for each file.
      { extends: true, test: { name: "quick", include: files.get("quick") ?? [], isolate: false } },
      {
        extends: true,
        test: {
          name: "slow",
          include: files.get("slow") ?? [],
          globalSetup: ["test/support/run/postgres.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "postgres",
          include: findBinaries() === undefined ? [] : (files.get("quick")?.filter(bootsService) ?? []),
          isolate: false,
          provide: { storeEngine: "postgres" },
          globalSetup: ["test/support/run/postgres.ts"],
        },
      },
    ],
  },
});
