/** Three tiers, by name: quick, `npm test` (system), and `npm run test:all` (extended, and again on PostgreSQL). */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { ROOT } from "./support/clone.ts";
import { findBinaries } from "./support/processes/postgres/server.ts";
import Contained from "./support/run/contained.ts";
import LeftOut from "./support/run/left-out.ts";
import LongestFirst from "./support/run/longest-first.ts";
import { MEMORY } from "./support/run/memory-folder.ts";
import { CACHE } from "./support/tools/alone.ts";

/** `--sequence.seed=<number>` changes what properties are tried with, as `npm run test:steady` does for every run. */
process.env["POSTERN_TEST_SEED"] = /--sequence\.seed=(\d+)/.exec(process.argv.join(" "))?.[1] ?? "1";

// Hundreds of processes load the same code.
process.env["NODE_COMPILE_CACHE"] ??= join(CACHE, "node");

const SYSTEM = "test/**/*.system.test.ts";
const EXTENDED = "test/**/*.extended.test.ts";

/** Tests of plugins that start a whole service in their own process: what holds on SQLite has to hold on PostgreSQL. */
function serviceTests(): readonly string[] {
  const boots = /from "[./]+\/support\/services\/(?:kernel|agent|office|gateway|responses|webhook|chat)\.ts"/;
  // Others take only a scripted model, or something else without a store.
  const stores = /\b(?:boot[A-Z]|open(?:Gateway|Mcp)\b|startService\b|office\b)/;
  const starts = /from "(?:node:child_process|[./]+\/support\/(?:processes|tools)\/[^"]+)"/;
  const found = globSync("test/{attacks,plugins}/**/*.test.ts", { cwd: ROOT }).filter((file) => {
    const text = readFileSync(join(ROOT, file), "utf8");
    return boots.test(text) && stores.test(text) && !starts.test(text);
  });
  // Their tools' processes do not open the store.
  return [...found, "test/host/own-setup.extended.test.ts"];
}

const globalSetup = ["test/support/run/postgres.ts"];

export default defineConfig({
  root: ROOT,
  resolve: {
    alias: [{ find: /^postern\/(plugin|kit\/\w+)$/, replacement: `${ROOT}/kernel/$1.ts` }],
  },
  test: {
    setupFiles: ["test/support/run/open-handles.ts", "test/support/run/inputs.ts"],
    reporters: ["default", new LeftOut(), new Contained()],
    pool: "forks",
    // What all of them import is loaded once for each process, not once for each file.
    isolate: false,
    // Limits for what hangs, not for what is slow: on a busy machine the slowest test of a tier takes a third of its limit at most.
    testTimeout: 300_000,
    // They build what tests share, and wait for each other to do so.
    hookTimeout: 600_000,
    // What is polled for comes in milliseconds.
    expect: { poll: { timeout: 60_000, interval: 20 } },
    // One more than two cores: tests wait for processes and disks, too.
    maxWorkers: 3,
    // Where files are shuffled, vitest has a sequencer of its own.
    sequence: process.argv.some((word) => word.startsWith("--sequence.shuffle"))
      ? {}
      : { sequencer: LongestFirst },
    // One project after the other, also where files are shuffled: vitest ends a process when the next file is another project's. The last
    // two begin together, so that workers have something to do while the last files of the one run.
    projects: [
      {
        extends: true,
        test: {
          name: "quick",
          include: ["test/**/*.test.ts"],
          exclude: [SYSTEM, EXTENDED],
          env: { TMPDIR: MEMORY },
          testTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: "system", include: [SYSTEM], globalSetup, sequence: { groupOrder: 2 } },
      },
      {
        extends: true,
        test: {
          name: "extended",
          include: [EXTENDED],
          globalSetup,
          testTimeout: 600_000,
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          name: "postgres",
          sequence: { groupOrder: 3 },
          include: findBinaries() === undefined ? [] : [...serviceTests()],
          env: { TMPDIR: MEMORY },
          provide: { storeEngine: "postgres" as const },
          globalSetup,
        },
      },
    ],
  },
});
