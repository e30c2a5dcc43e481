/** The agent without a channel around it, and with a model that takes no time of its own: what is measured is the loop and the store. */

import { createMask } from "../../../kernel/mask/mask.ts";
import { SILENT as SILENT_TELEMETRY } from "../../../kernel/silent-telemetry.ts";
import { createAgent } from "../../../plugins/agent/agent.ts";
import { createContext } from "../../../plugins/agent/context/window.ts";
import { createExtensions } from "../../../plugins/agent/extensions.ts";
import { createObservers } from "../../../plugins/agent/live/observer.ts";
import { createApprovals } from "../../../plugins/agent/safety/approvals.ts";
import type { TurnSettings } from "../../../plugins/agent/settings.ts";
import { createHistory } from "../../../plugins/agent/threads/history.ts";
import { createLedger } from "../../../plugins/agent/threads/ledger.ts";
import { MIGRATIONS } from "../../../plugins/agent/threads/tables.ts";
import { createToolIndexes } from "../../../plugins/agent/turn/tools/tool-index.ts";
import { openFolderFiles } from "../../../plugins/home/folder.ts";
import { homeFilesOf } from "../../../plugins/home/open.ts";
import { streamSteadily } from "../../../plugins/models/providers/retry.ts";
import type { Model } from "../../../plugins/models/services.ts";
import { addUsage, readPrices } from "../../../plugins/models/spending/prices.ts";
import { createSpending, MIGRATIONS as SPENDING } from "../../../plugins/models/spending/spending.ts";
import { createDestinations } from "../../../plugins/provenance/destinations.ts";
import { openTurnGate } from "../../../plugins/provenance/gate.ts";
import { createStoredTraces } from "../../../plugins/provenance/stored-trace.ts";
import { MIGRATIONS as DESTINATIONS } from "../../../plugins/provenance/tables.ts";
import type { OpenStore } from "../../../plugins/store/engine/open-store.ts";
import type { Telemetry } from "../../../plugins/telemetry/services.ts";

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
  const extensions = createExtensions();
  const gate = {
    destinations: createDestinations(await store.tables("provenance", DESTINATIONS)),
    mask,
    settings: { mode: "ask", trusted: new Set<string>() } as const,
  };
  const traces = createStoredTraces();
  extensions.add({ check: (turn) => openTurnGate(turn, traces, gate) });
  const history = createHistory(sql, { mask, trusted: extensions.followed });
  const settings: TurnSettings = {
    approvals: new Map(),
    ...{ chatRateLimit: 1_000_000, maxToolCalls: 10, chatTitles: false, turnIdleSecs: 60 },
  };
  const prices = await readPrices(homeFilesOf(openFolderFiles(home)));
  const agent = createAgent({
    models: {
      name: () => instant.name,
      current: async () => [instant],
      list: async () => ({ items: [], unlisted: [] }),
      choose: async () => instant.name,
      hostOf: async () => undefined,
      chain: async () => [instant],
      stream: streamSteadily,
      addCost: (usage, model, tokens) => prices.add(usage, model, tokens, true),
      addUsage,
      dailyCap: async () => undefined,
      ...createSpending(await store.tables("models", SPENDING)),
    },
    context: createContext(sql, history),
    sources: {
      own: extensions.tools,
      host: undefined,
      approvals: createApprovals(sql),
      mostOffered: 40,
      index: createToolIndexes(),
    },
    ...{ sql, extensions, mask, log: SILENT },
    observers: createObservers(telemetry, mask, SILENT),
    ledger: createLedger(sql, store.node),
    readTurn: async () => undefined,
    node: store.node,
    signals: store.signals,
    settings: async () => settings,
    admit: async (turn) => ({ turn, model: instant.name, size: 0 }),
    forget: history.forget,
    remember: async () => {},
    titles: { add() {}, abort() {}, async idle() {} },
  });
  return {
    agent,
    extend: extensions.add,
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
