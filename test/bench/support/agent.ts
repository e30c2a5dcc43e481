/** The agent without a channel around it, and with a model that takes no time of its own: what is measured is the loop and the store. */

import { createMask } from "../../../kernel/mask/mask.ts";
import { SILENT as SILENT_TELEMETRY, type Telemetry } from "../../../kernel/vocabulary/telemetry.ts";
import { createAgent } from "../../../plugins/agent/agent.ts";
import { openFolderFiles } from "../../../plugins/agent/context/files/folder.ts";
import { createContext } from "../../../plugins/agent/context/window.ts";
import { createObservers } from "../../../plugins/agent/live/observer.ts";
import type { Model } from "../../../plugins/agent/models/model.ts";
import { createApprovals } from "../../../plugins/agent/safety/approvals.ts";
import { createDestinations } from "../../../plugins/agent/safety/provenance/destinations.ts";
import { createStoredTraces } from "../../../plugins/agent/safety/provenance/stored-trace.ts";
import { createTurnGates } from "../../../plugins/agent/safety/provenance/turn-gates.ts";
import type { TurnSettings } from "../../../plugins/agent/settings.ts";
import { readPrices } from "../../../plugins/agent/spending/cost.ts";
import { createSpending } from "../../../plugins/agent/spending/spending.ts";
import { createHistory } from "../../../plugins/agent/threads/history.ts";
import { createLedger } from "../../../plugins/agent/threads/ledger.ts";
import { MIGRATIONS } from "../../../plugins/agent/threads/tables.ts";
import { createTurnRunner } from "../../../plugins/agent/turn/runner.ts";
import { createToolIndexes } from "../../../plugins/agent/turn/tools/tool-index.ts";
import type { OpenStore } from "../../../plugins/store/engine/open-store.ts";

export const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

const instant: Model = {
  name: { provider: "bench", name: "instant" },
  window: 400_000,
  takes: new Set(),
  formats: new Set(),
  async *stream() {
    yield [{ type: "text", delta: "A short answer of some words." }];
  },
};

const input = { type: "message", text: "A message of about as many words as people write." } as const;

export async function openAgent(store: OpenStore, home: string, telemetry: Telemetry = SILENT_TELEMETRY) {
  const sql = await store.tables("agent", MIGRATIONS);
  const mask = createMask();
  mask.add("a-secret-the-loop-knows");
  const history = createHistory(sql, { mask, trusted: new Set() });
  const settings: TurnSettings = {
    approvals: new Map(),
    provenance: { mode: "ask", trusted: new Set() },
    ...{ chatRateLimit: 1_000_000, maxToolCalls: 10, turnIdleSecs: 60, dailyUsdCap: undefined },
  };
  const runner = createTurnRunner({
    gates: createTurnGates({
      destinations: createDestinations(sql),
      followed: new Set(),
      mask,
      stored: createStoredTraces(sql, () => false),
      isOwn: () => false,
    }),
    models: {
      current: async () => [instant],
      servers: async () => [],
      builtin: instant,
      name: () => instant.name,
    },
    chain: async () => [instant],
    chosenFor: async () => undefined,
    prices: await readPrices(openFolderFiles(home)),
    spending: createSpending(sql),
    context: createContext(sql, history),
    sources: {
      own: [],
      host: undefined,
      approvals: createApprovals(sql),
      mostOffered: 40,
      index: createToolIndexes(),
    },
    mask,
    trusted: new Set(),
    log: SILENT,
    onCap: () => {},
    preface: async () => ({ sections: [], requiredTools: [], persons: [] }),
  });
  const agent = createAgent({
    observers: createObservers(telemetry, mask, SILENT),
    ledger: createLedger(sql, store.node),
    runner,
    node: store.node,
    signals: store.signals,
    log: SILENT,
    settings: async () => settings,
    admit: async (turn) => turn,
    forget: history.forget,
    remember: async () => {},
  });
  return {
    agent,
    sql,
    history,
    /** A whole turn, on a new thread where none is given; answers its thread. */
    async turn(thread?: string): Promise<string> {
      const run = await agent.run({ user: "bench", channel: "bench", input, ...(thread && { thread }) });
      await run.record;
      return run.thread;
    },
  };
}
