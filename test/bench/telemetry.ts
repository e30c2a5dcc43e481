/** What being watched costs a turn: with nothing, with metrics, and with every turn traced to a collector. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { SILENT, SILENT_TRACER } from "../../kernel/log/telemetry.ts";
import { openStore } from "../../kernel/store/sqlite/store.ts";
import { createMetrics } from "../../plugins/telemetry/metrics.ts";
import { openTracing } from "../../plugins/telemetry/tracing.ts";
import { openAgent } from "./support/agent.ts";
import { atMost, type Bench, compare, interleave } from "./support/bench.ts";
import { inFolder } from "./support/programs.ts";

const ROUNDS = 60;
const TURNS = 50;

export const bench: Bench = {
  name: "telemetry",
  about: "what being watched costs a turn: metrics within noise, every turn traced within 3 %",
  run: (progress) =>
    inFolder(async (home) => {
      const collector = createServer((request, response) => {
        request.resume().on("end", () => response.end());
      }).listen(0, "127.0.0.1");
      await new Promise((resolve) => collector.once("listening", resolve));
      const tracing = openTracing(
        {
          url: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`,
          protocol: "http/protobuf",
          ...{ headers: {}, resource: {}, hosts: [], content: false, ratio: 1 },
          ...{ timeoutMillis: 10_000, serviceName: "postern", sampler: "always_on" },
        },
        {},
      );
      // Each with a store of its own, so that none finds the other's pages warm. Flushes are the disk's.
      const kinds = {
        unwatched: SILENT,
        metrics: { metrics: createMetrics(), tracer: SILENT_TRACER },
        traced: { metrics: createMetrics(), tracer: tracing.tracer },
      };
      const closes: (() => Promise<unknown>)[] = [];
      const work: Record<string, () => Promise<number>> = {};
      for (const [name, telemetry] of Object.entries(kinds)) {
        const store = openStore(join(home, `${name}.sqlite`), { durability: "normal" });
        const { agent, turn } = await openAgent(store, home, telemetry);
        closes.push(() => agent.stop().then(() => store.close()));
        work[name] = async () => {
          const began = performance.now();
          for (let count = 0; count < TURNS; count++) await turn();
          return (performance.now() - began) / TURNS;
        };
      }
      try {
        const goals = { metrics: atMost(1.03), traced: atMost(1.03) };
        return compare(await interleave(work, ROUNDS, progress), { unit: "ms", goals });
      } finally {
        for (const close of closes) await close();
        await tracing.close();
        collector.closeAllConnections();
        collector.close();
      }
    }),
};
