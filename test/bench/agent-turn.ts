/** What the loop costs for a turn on a short and on a long thread, with a model that answers at once. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMask } from "../../kernel/mask.ts";
import { openStore } from "../../kernel/store.ts";
import { createAgent } from "../../plugins/agent/agent.ts";
import { createContext } from "../../plugins/agent/context.ts";
import { readPrices } from "../../plugins/agent/cost.ts";
import { createHistory } from "../../plugins/agent/history.ts";
import { createLedger } from "../../plugins/agent/ledger.ts";
import type { Model } from "../../plugins/agent/models/model.ts";
import { createApprovals } from "../../plugins/agent/safety/approvals.ts";
import { createSpending } from "../../plugins/agent/spending.ts";
import { MIGRATIONS } from "../../plugins/agent/tables.ts";
import { createTurnRunner } from "../../plugins/agent/turn-runner.ts";
import { type Bench, type Figure, interleave, median, spread } from "./bench.ts";

const ROUNDS = 60;
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Takes no time of its own, so that what is measured is the loop. */
const instant: Model = {
  name: { provider: "bench", name: "instant" },
  window: 400_000,
  async *stream() {
    yield [{ type: "text", delta: "A short answer of some words." }];
  },
};

function openAgent(home: string) {
  const store = openStore(join(home, "store.sqlite"));
  const sql = store.tables("agent", MIGRATIONS);
  const mask = createMask();
  mask.add("a-secret-the-loop-knows");
  const history = createHistory(sql, { mask, trusted: new Set() });
  const runner = createTurnRunner({
    models: { current: async () => [instant], name: () => instant.name },
    prices: readPrices(home),
    spending: createSpending(sql, undefined),
    context: createContext(sql, history),
    sources: { own: [], host: undefined, rules: new Map(), approvals: createApprovals(sql) },
    mask,
    trusted: new Set(),
    log: SILENT,
    maxToolCalls: 10,
    preface: async () => [],
  });
  const agent = createAgent({
    ledger: createLedger(sql),
    runner,
    log: SILENT,
    timeoutSecs: 60,
    forget: history.forget,
    remember: () => {},
  });
  return { agent, history, store };
}

export const bench: Bench = {
  name: "agent-turn",
  about:
    "one turn of the loop, the model excluded; target: on a thread of 1,000 turns ≤ 3× that on one of 10",
  async run(progress) {
    const home = mkdtempSync(join(tmpdir(), "postern-bench-"));
    const { agent, history, store } = openAgent(home);
    const input = { type: "message", text: "A message of about as many words as people write." } as const;
    const turn = async (thread?: string) => {
      const run = agent.run({ user: "bench", channel: "bench", input, ...(thread && { thread }) });
      await run.record;
      return run.thread;
    };
    const threadOf = async (turns: number) => {
      const thread = await turn();
      for (let count = 1; count < turns; count++) await turn(thread);
      return thread;
    };
    const timed = async (thread: string) => {
      const began = performance.now();
      await turn(thread);
      return performance.now() - began;
    };
    try {
      progress("filling threads");
      // A thread of ten stays one: each round takes a new one.
      const short: string[] = [];
      for (let count = 0; count < 2 * ROUNDS; count++) short.push(await threadOf(10));
      const long = await threadOf(1000);
      const cold = (thread: string) => {
        history.forget(thread);
        return timed(thread);
      };
      const samples = await interleave(
        {
          "thread of 10": () => timed(short.pop() ?? long),
          "thread of 1,000": () => timed(long),
          "thread of 10, first turn after a start": () => cold(short.pop() ?? long),
          "thread of 1,000, first turn after a start": () => cold(long),
        },
        ROUNDS,
        progress,
      );
      const baseline = median(samples["thread of 10"] ?? []);
      return Object.entries(samples).map(([name, values]): Figure => {
        const ratio = median(values) / baseline;
        const target = name === "thread of 1,000" ? { target: { words: "≤ 3×", met: ratio <= 3 } } : {};
        return { name, median: median(values), spread: spread(values), unit: "ms", ratio, ...target };
      });
    } finally {
      await agent.stop();
      store.close();
      rmSync(home, { recursive: true, force: true });
    }
  },
};
