import { globSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { findBinaries } from "./support/processes/postgres/server.ts";
import Contained from "./support/run/contained.ts";
import LeftOut from "./support/run/left-out.ts";
import LongestFirst from "./support/run/longest-first.ts";
import SecondTry from "./support/run/second-try.ts";
import { bootsService, isOfSomethingElse } from "./support/run/store-tests.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

// Where `postern` keeps what it compiled, too: hundreds of processes load the same code.
process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "node-compile-cache");

const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

/** Takes seconds of computing for another reason. */
const LONG: ReadonlySet<string> = new Set([
  "test/host/author/toolchain.test.ts",
  "test/host/broker/broker.test.ts",
  "test/host/wasm/random-modules.test.ts",
  "test/host/mcp/hostile-sign-in.test.ts",
  "test/host/sandbox/json-check.test.ts",
  "test/host/trust/judge.test.ts",
  "test/host/trust/signing.test.ts",
  "test/kernel/mask/matcher.test.ts",
  "test/kernel/text/visible.test.ts",
  "test/patterns.test.ts",
  "test/plugins/agent/models/builtin/any-input.test.ts",
  "test/plugins/agent/memory/vectors.test.ts",
  "test/plugins/agent/turn/format.test.ts",
  "test/plugins/agent/turn/many-tools.test.ts",
  "test/plugins/channel-contract.test.ts",
  "test/plugins/gateway/routes/tools/tool-admin.test.ts",
  "test/plugins/gateway/socket/socket.test.ts",
  "test/plugins/http-answers.test.ts",
  "test/plugins/mcp/elicitation.test.ts",
  "test/plugins/mcp/http.test.ts",
  "test/plugins/mcp/offers.test.ts",
  "test/plugins/responses/open/thousand-rounds.test.ts",
  "test/plugins/responses/openai-client.test.ts",
  "test/plugins/responses/openapi.test.ts",
  "test/plugins/responses/random.test.ts",
  "test/plugins/responses/request.test.ts",
  "test/plugins/responses/endpoints/embeddings.test.ts",
  "test/plugins/responses/endpoints/socket.test.ts",
  "test/plugins/responses/endpoints/strange.test.ts",
  "test/plugins/webhook/fuzz.test.ts",
  "test/plugins/webhook/load.test.ts",
]);
/** Starts processes or runs components, as its imports show. */
const isSlow = (file: string) =>
  /from "(?:node:child_process|[./]+\/support\/(?:processes|tools)\/[^"]+)"/.test(read(file));
const files = Map.groupBy(globSync("test/**/*.test.ts", { cwd: ROOT }), (file) =>
  LONG.has(file) ? "long" : isSlow(file) ? "slow" : "quick",
);

const onPostgres = Map.groupBy(
  findBinaries() === undefined
    ? []
    : [...(files.get("quick") ?? []), ...(files.get("long")?.filter(isOfSomethingElse) ?? [])].filter(
        (file) => bootsService(file, read(file)),
      ),
  (file) => (isOfSomethingElse(file) ? "rest" : "store"),
);

/** Each commit to a store waits for the disk: where there is room, the stores of services in the tests' own process are in memory. */
const MEMORY = "/dev/shm";
const env = hasRoom(MEMORY) ? { TMPDIR: MEMORY } : {};

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > 2 ** 30;
  } catch {
    return false;
  }
}

const postgres = (name: string, include: readonly string[] = []) => ({
  extends: true as const,
  test: {
    name,
    include: [...include],
    isolate: false,
    env,
    provide: { storeEngine: "postgres" as const },
    globalSetup: ["test/support/run/postgres.ts"],
  },
});

export default defineConfig({
  root: ROOT,
  resolve: { alias: { "postern/plugin": `${ROOT}kernel/plugin.ts`, "postern/kit": `${ROOT}kernel/kit.ts` } },
  test: {
    setupFiles: ["test/support/run/open-handles.ts"],
    reporters: ["default", new LeftOut(), new Contained(), new SecondTry()],
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
      { extends: true, test: { name: "quick", include: files.get("quick") ?? [], isolate: false, env } },
      { extends: true, test: { name: "long", include: files.get("long") ?? [], isolate: false, env } },
      {
        extends: true,
        test: {
          name: "slow",
          isolate: false,
          include: files.get("slow") ?? [],
          globalSetup: ["test/support/run/postgres.ts"],
        },
      },
      postgres("postgres", onPostgres.get("store")),
      // Only `npm run test:postgres` runs it.
      postgres("postgres-rest", onPostgres.get("rest")),
    ],
  },
});
