/** How long `postern --help` and `postern serve` take, beside a Node that does nothing. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Bench, type Figure, interleave, median, spread } from "./bench.ts";

const BIN = fileURLToPath(new URL("../../kernel/bin.js", import.meta.url));
const ROUNDS = 7;

async function toTheEnd(args: readonly string[]): Promise<number> {
  const began = performance.now();
  await once(spawn(process.execPath, args, { stdio: "ignore" }), "exit");
  return performance.now() - began;
}

async function untilReady(home: string): Promise<number> {
  const began = performance.now();
  const env = {
    PATH: process.env["PATH"] ?? "",
    POSTERN_HOME: home,
    GATEWAY_PORT: "0",
    HTTP_ENABLED: "true",
    HTTP_PORT: "0",
    HTTP_WEBHOOK_SECRET: "bench-secret",
    MODEL_PROVIDER: "builtin",
  };
  const child = spawn(process.execPath, [BIN, "serve"], { env, stdio: ["ignore", "pipe", "ignore"] });
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    if (printed.includes("ready in")) break;
  }
  const took = performance.now() - began;
  child.kill("SIGTERM");
  await once(child, "exit");
  return took;
}

export const bench: Bench = {
  name: "start",
  about: "from typing to the answer; targets: --help within 400 ms, serve ready within 1,500 ms",
  async run(progress) {
    const home = mkdtempSync(join(tmpdir(), "postern-bench-"));
    try {
      // The first start creates the store and fills the compile cache; it is told apart.
      const cold = await untilReady(home);
      const samples = await interleave(
        {
          "node -e 0": () => toTheEnd(["-e", "0"]),
          "postern --help": () => toTheEnd([BIN, "--help"]),
          "postern serve, until ready": () => untilReady(home),
        },
        ROUNDS,
        progress,
      );
      const baseline = median(samples["node -e 0"] ?? []);
      const limits: Record<string, number> = { "postern --help": 400, "postern serve, until ready": 1500 };
      const figures = Object.entries(samples).map(([name, values]): Figure => {
        const limit = limits[name];
        const middle = median(values);
        const target =
          limit === undefined ? {} : { target: { words: `≤ ${limit} ms`, met: middle <= limit } };
        return {
          name,
          median: middle,
          spread: spread(values),
          unit: "ms",
          ratio: middle / baseline,
          ...target,
        };
      });
      return [
        ...figures,
        { name: "postern serve, first start", median: cold, spread: 0, unit: "ms", ratio: cold / baseline },
      ];
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
};
