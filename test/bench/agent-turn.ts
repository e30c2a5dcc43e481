/** Growth: what the loop costs for the nth turn on a thread, with a model that answers at once. */
import { join } from "node:path";
import { createMask } from "../../kernel/mask/mask.ts";
import { openStore } from "../../kernel/store/sqlite/store.ts";
import { createAgent } from "../../plugins/agent/agent.ts";
import { openFolderFiles } from "../../plugins/agent/context/files/folder.ts";
import { createContext } from "../../plugins/agent/context/window.ts";
import type { Model } from "../../plugins/agent/models/model.ts";
import { createApprovals } from "../../plugins/agent/safety/approvals.ts";
import { readPrices } from "../../plugins/agent/spending/cost.ts";
import { createSpending } from "../../plugins/agent/spending/spending.ts";
import { createHistory } from "../../plugins/agent/threads/history.ts";
import { createLedger } from "../../plugins/agent/threads/ledger.ts";
import { MIGRATIONS } from "../../plugins/agent/threads/tables.ts";
import { createTurnRunner } from "../../plugins/agent/turn/runner.ts";
import { atMost, type Bench, compare, interleave } from "./support/bench.ts";
import { inFolder } from "./support/programs.ts";

const ROUNDS = 40;
const LONG = [100, 1000, 10_000];
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Takes no time of its own, so that what is measured is the loop. */
const instant: Model = {
  name: { provider: "bench", name: "instant" },
  window: 400_000,
  async *stream() {
    yield [{ type: "text", delta: "A short answer of some words." }];
  },
};

async function openAgent(home: string) {
  const store = openStore(join(home, "store.sqlite"));
  const tables = await store.tables("agent", MIGRATIONS);
  const mask = createMask();
  mask.add("a-secret-the-loop-knows");
  const history = createHistory(tables, { mask, trusted: new Set() });
  const runner = createTurnRunner({
    models: { current: async () => [instant], name: () => instant.name },
    prices: await readPrices(openFolderFiles(home)),
    spending: createSpending(tables, undefined),
    context: createContext(tables, history),
    sources: { own: [], host: undefined, rules: new Map(), approvals: createApprovals(tables) },
    mask,
    trusted: new Set(),
    log: SILENT,
    maxToolCalls: 10,
    preface: async () => ({ sections: [], requiredTools: [] }),
  });
  const agent = createAgent({
    ledger: createLedger(tables, store.node),
    runner,
    node: store.node,
    signals: store.signals,
    log: SILENT,
    idleSecs: 60,
    forget: history.forget,
    remember: () => {},
  });
  return { agent, history, store };
}

export const bench: Bench = {
  name: "agent-turn",
  about: "growth: the nth turn on a thread, the model excluded; turn 1,000 within 3× of turn 10",
  run: (progress) =>
    inFolder(async (home) => {
      const { agent, history, store } = await openAgent(home);
      const input = { type: "message", text: "A message of about as many words as people write." } as const;
      const turn = async (thread?: string) => {
        const run = await agent.run({ user: "bench", channel: "bench", input, ...(thread && { thread }) });
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
      const cold = (thread: string) => {
        history.forget(thread);
        return timed(thread);
      };
      try {
        // A thread of ten stays one: each round takes a new one.
        const short: string[] = [];
        for (let count = 0; count < 2 * ROUNDS; count++) short.push(await threadOf(10));
        const next = () => short.pop() ?? "";
        const warm: Record<string, () => Promise<number>> = { "turn 10": () => timed(next()) };
        const first: Record<string, () => Promise<number>> = { "turn 10": () => cold(next()) };
        for (const turns of LONG) {
          const name = `turn ${turns.toLocaleString("en")}`;
          progress(`filling a thread up to ${name}`);
          const thread = await threadOf(turns);
          warm[name] = () => timed(thread);
          first[name] = () => cold(thread);
        }
        const what = "first after a start";
        // What the model is sent grows with the thread, and is read anew after a start: no worse than the turns themselves.
        const goals = { "turn 1,000": atMost(3), "turn 10,000": atMost(10) };
        const firstGoals = { "turn 10,000": atMost(1000) };
        return [
          ...compare(await interleave(warm, ROUNDS, progress), { unit: "ms", goals }),
          ...compare(await interleave(first, ROUNDS, progress), { unit: "ms", what, goals: firstGoals }),
        ];
      } finally {
        await agent.stop();
        await store.close();
      }
    }),
};
