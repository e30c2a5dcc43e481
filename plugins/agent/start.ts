/** Wires turns, threads, context and approvals together into the services that channels use. */
import { SILENT } from "../../kernel/kit/log.ts";
import { OPERATOR } from "../../kernel/kit/people.ts";
import type { Figures } from "../../kernel/kit/turns.ts";
import type { Services, StartContext } from "../../kernel/plugin.ts";
import { createAgent } from "./agent.ts";
import { createComparisons } from "./comparison/comparisons.ts";
import { createContext } from "./context/window.ts";
import { createExtensions } from "./extensions.ts";
import { createObservers, measureWaiting } from "./live/observer.ts";
import { createApprovals } from "./safety/approvals.ts";
import { type AgentSettings, readTurnSettings } from "./settings.ts";
import { closeOrphans, followDeaths } from "./takeover.ts";
import { ownAnswers } from "./threads/answered-questions.ts";
import { createUploads } from "./threads/attachments/uploads.ts";
import { createHistory } from "./threads/history.ts";
import { createLedger } from "./threads/ledger.ts";
import { MIGRATIONS } from "./threads/tables.ts";
import { createThreads } from "./threads/threads.ts";
import { createAdmission } from "./turn/admission.ts";
import { createCheckedReader } from "./turn/checked-turn.ts";
import { createToolCalls } from "./turn/direct-calls.ts";
import { createPreview } from "./turn/preview.ts";
import { createTitles } from "./turn/titles.ts";
import { createToolIndexes } from "./turn/tools/tool-index.ts";

const BIN_SWEEP_MS = 3_600_000;

const NO_FIGURES: Figures = {
  total: { count: 0, failed: 0, inputTokens: 0, outputTokens: 0, usd: 0 },
  points: [],
  groups: [],
};

export async function startAgent({
  config,
  use: {
    accounts,
    store,
    storage,
    kernel,
    models,
    tools: host,
    toolAdmin,
    settings: stored,
    telemetry = SILENT,
  },
  log,
  onStop,
  onDrain,
}: StartContext<
  AgentSettings,
  "accounts" | "store" | "storage" | "settings" | "kernel" | "models",
  "tools" | "toolAdmin" | "telemetry"
>): Promise<
  Pick<
    Services,
    "agent" | "threads" | "conversations" | "comparisons" | "attachments" | "approvals" | "toolCalls"
  >
> {
  const [sql, live] = await Promise.all([
    store.tables("agent", MIGRATIONS),
    stored.live("agent", readTurnSettings),
  ]);
  const { mask } = kernel;
  const { node, signals } = store;
  const settings = live.current;
  const ledger = createLedger(sql, node);
  const extensions = createExtensions();
  const approvals = createApprovals(sql);
  const history = createHistory(sql, { mask, trusted: extensions.followed });
  const sources = {
    own: extensions.tools,
    host,
    approvals,
    mostOffered: config.toolsOffered,
    index: createToolIndexes(),
  };
  const changeListeners = new Set<(thread: string) => void>();
  const takeoverListeners = new Set<() => Promise<void>>();

  measureWaiting(telemetry, sql, node);
  const agent = createAgent({
    observers: createObservers(telemetry, mask, log, kernel.serving),
    context: createContext(sql, history),
    admit: createAdmission({ sources, models, storage, ledger }),
    titles: createTitles({ sql, models, mask, log }),
    readTurn: (...which) => threads.turn(...which),
    ...{ models, sql, sources, extensions, mask, ledger, node, signals, log, settings },
    forget(thread) {
      history.forget(thread);
      for (const listener of changeListeners) listener(thread);
    },
    async remember(user, { remember, trusted }) {
      if (remember) await approvals.remember(user, remember.tool, "allow", remember.fingerprint);
      if (trusted) await approvals.trust(user, trusted);
    },
  });
  const threads = createThreads(sql, { store, onRemove: agent.cancelThread, choose: models.choose });
  const attachments = createUploads({
    ...{ sql, store, storage, models, log, fileBytes: config.attachmentsMb * 1_000_000 },
  });
  onStop(attachments.close);
  onStop(
    accounts.follow({
      async stop(user) {
        const busy = await ledger.busyThreads(user);
        await Promise.all(busy.map(agent.cancelThread));
      },
      remove: threads.removeAll,
      give: threads.give,
    }),
  );
  onStop(agent.stop);
  onDrain(agent.drain);
  const preview = createPreview({ sql, history, models, sources, extensions, settings, mask });
  const chatLimit = store.limiter({
    name: "chat",
    windows: async () => [{ limit: (await settings()).chatRateLimit, seconds: 60 }],
  });
  onStop(chatLimit.close);
  if (kernel.serving) {
    const deaths = { ledger, agent, listeners: takeoverListeners, readTurn: threads.turn, log };
    const interrupted = await closeOrphans(deaths);
    if (interrupted > 0) log.warn({ turns: interrupted }, "turns were interrupted when the service stopped");
    // On SQLite the only other process is a command, which looks after its own turn.
    if (sql.engine === "postgres") onStop(followDeaths(store, deaths));
    const stopping = new AbortController();
    onStop(() => stopping.abort());
    onStop(
      store.repeat("empty bins", BIN_SWEEP_MS, () =>
        threads
          .sweepBins(stopping.signal)
          .catch((error: unknown) =>
            log.warn({ error }, "what is in bins for too long could not be deleted"),
          ),
      ),
    );
  }
  return {
    agent: {
      ...agent,
      models: models.list,
      ...preview,
      onTakeover: (listener) => subscribe(takeoverListeners, listener),
      chatLimit,
    },
    threads: {
      ...threads,
      onChanged: (listener) => subscribe(changeListeners, listener),
      checked: createCheckedReader(sql, extensions, host),
    },
    conversations: {
      ...threads,
      ask: (text, thread) =>
        agent.run({ user: OPERATOR, channel: "ask", input: { type: "message", text }, thread }),
      async usage(query) {
        const counted = query.by === "tool" ? toolAdmin?.usage(query) : threads.usage(query);
        return {
          figures: (await counted) ?? NO_FIGURES,
          storage: await storage.used(query.user ?? OPERATOR),
          answered: await ownAnswers(threads, OPERATOR, query),
        };
      },
    },
    comparisons: createComparisons({
      ...{ sql, history, ledger, models, sources, extensions, settings, mask, log, threads },
      contextOf: preview.contextOf,
    }),
    attachments,
    approvals,
    toolCalls: createToolCalls(sources, settings, ledger.thread),
  };
}

function subscribe<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
