/** What being watched costs a turn: with nothing, with metrics, and traced. The mean has what is paid once for many. */
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { SILENT } from "../../kernel/silent-telemetry.ts";
import { openStore } from "../../plugins/store/sqlite/store.ts";
import { createMetrics } from "../../plugins/telemetry/metrics.ts";
import { openTracing } from "../../plugins/telemetry/tracing/tracing.ts";
import { openAgent, SILENT as SILENT_LOG } from "./support/agent.ts";
import { atMost, type Bench, compare, interleave } from "./support/bench.ts";
import { inFolder } from "./support/programs.ts";

// Turn by turn in turns, so that what else the machine does falls on all alike.
const TURNS = 4000;
/** A turn that took longer was held up by another program. */
const LONGEST_MS = 6;

/** In a thread of its own: what a collector does is not the service's work. */
const COLLECTOR = `
  const { createServer } = require("node:http");
  const { parentPort } = require("node:worker_threads");
  const server = createServer((request, response) => request.resume().on("end", () => response.end()));
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

export const bench: Bench = {
  name: "telemetry",
  about: "what being watched costs a turn: metrics within noise, every turn traced within 3 %",
  run: (progress) =>
    inFolder(async (home) => {
      const collector = new Worker(COLLECTOR, { eval: true });
      const [port] = await once(collector, "message");
      const tracing = openTracing(
        {
          url: `http://127.0.0.1:${port}/v1/traces`,
          protocol: "http/protobuf",
          ...{ headers: {}, resource: {}, hosts: [], content: false, ratio: 1 },
          ...{ delayMillis: 5000, timeoutMillis: 10_000, serviceName: "postern", sampler: "always_on" },
        },
        "1",
        SILENT_LOG,
      );
      const kinds = {
        unwatched: SILENT,
        metrics: { metrics: createMetrics(), tracer: SILENT.tracer },
        traced: { metrics: createMetrics(), tracer: tracing.tracer },
      };
      // One store for all: two files never cost quite the same. Flushes are the disk's.
      const store = openStore(join(home, "store.sqlite"), { durability: "normal" });
      const closes: (() => Promise<unknown>)[] = [];
      const work: Record<string, () => Promise<number>> = {};
      for (const [name, telemetry] of Object.entries(kinds)) {
        const { agent, turn } = await openAgent(store, home, telemetry);
        closes.push(() => agent.stop());
        work[name] = async () => {
          const began = performance.now();
          await turn();
          return performance.now() - began;
        };
      }
      try {
        const goals = { metrics: atMost(1.03), traced: atMost(1.03) };
        const passed = await interleave(work, TURNS, progress);
        const means = Object.entries(passed).map(([name, millis]) => [name, [meanOf(millis)]]);
        return [
          ...compare(passed, { unit: "ms", goals }),
          ...compare(Object.fromEntries(means), { unit: "ms", goals, what: "mean" }),
        ];
      } finally {
        for (const close of closes) await close();
        await store.close();
        await tracing.close();
        await collector.terminate();
      }
    }),
};

function meanOf(millis: readonly number[]): number {
  const counted = millis.filter((each) => each < LONGEST_MS);
  return counted.reduce((sum, each) => sum + each, 0) / counted.length;
}
