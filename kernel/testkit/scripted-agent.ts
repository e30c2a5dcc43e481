/**
 * An agent that says what a test scripts, with every service that the real one offers. Turns are kept
 * and end as the vocabulary promises: `started` first, exactly one of `done` or `failed` last.
 */
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { Fault, reason } from "../fault.ts";
import { type AnyPlugin, definePlugin } from "../plugin.ts";
import type { Agent, Attachments, RunningTurn, Threads } from "../vocabulary/agent.ts";
import type { Usage } from "../vocabulary/models/usage.ts";
import type { Routines } from "../vocabulary/routine.ts";
import type { Limiter, Sql } from "../vocabulary/store.ts";
import type { ModelName, Turn, TurnEvent, TurnRecord } from "../vocabulary/turn.ts";
import { createScriptedJobs } from "./scripted-jobs.ts";

/** Answers the pieces of text to say. With what it throws before the first piece `agent.run` rejects. */
export type Script = (turn: Turn) => Iterable<string> | AsyncIterable<string>;

export interface ScriptedAgent {
  readonly plugin: AnyPlugin;
  /** Every turn that reached the agent, oldest first. */
  readonly turns: readonly Turn[];
  /** What is said from now on. */
  script: Script;
}

const MODEL: ModelName = { provider: "scripted", name: "contract" };
const USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
  inputCost: "0",
  outputCost: "0",
  totalCost: "0",
};
const OPEN: Limiter = {
  take: async () => ({ ok: true, limit: 1000, windowSecs: 60, remaining: 1000, resetSecs: 1 }),
  peek: async () => ({ ok: true, limit: 1000, windowSecs: 60, remaining: 1000, resetSecs: 1 }),
};

/** Takes no files. */
const NO_ROUTINES: Routines = {
  add: () => Promise.reject(new Fault("unavailable", "no_routines", "The scripted agent has no routines.")),
  list: async () => [],
  find: async () => undefined,
  change: async () => undefined,
  remove: async () => false,
  run: async () => undefined,
  runs: async () => ({ items: [] }),
  preview: (schedule, tz = "UTC") => ({ words: schedule, tz, firings: [] }),
  deliverBy: () => () => {},
};

const NO_ATTACHMENTS: Attachments = {
  limits: { fileBytes: 0, files: 0, messageBytes: 0 },
  add: async () => {
    throw new Fault("invalid", "file_too_large", "The scripted agent takes no files.");
  },
  read: async () => undefined,
  remove: async () => false,
  bring: async () => ({ attachments: [], attached: [], alongside: async () => {} }),
};

const unknownTool = (name: string) =>
  ({ status: "error", code: "unknown_tool", message: `There is no tool "${name}".` }) as const;

type Listener = Parameters<Agent["watch"]>[1];

export function createScriptedAgent(): ScriptedAgent {
  const turns: Turn[] = [];
  const records = new Map<string, TurnRecord>();
  const running = new Map<string, RunningTurn>();
  const listeners = new Map<Listener, string>();
  let sql: Sql | undefined;
  const agent: Agent = {
    async run(turn, alongside) {
      turns.push(turn);
      const id = turn.id ?? randomUUID();
      const thread = turn.thread ?? randomUUID();
      const script = scripted.script(turn);
      if (alongside)
        await sql?.transaction((tx) => alongside(tx, { id, thread, gate: Promise.resolve(undefined) }));
      const stop = new AbortController();
      const record: TurnRecord = {
        id,
        thread,
        user: turn.user,
        channel: turn.channel,
        status: "running",
        input: turn.input,
        items: [],
        model: MODEL,
        usage: USAGE,
        createdAt: new Date().toISOString(),
      };
      records.set(id, record);
      const events = perform(record, script, stop.signal, (event) => {
        if ("record" in event) {
          records.set(id, event.record);
          running.delete(id);
        }
        for (const [listener, user] of listeners) if (user === turn.user) listener(event, { id, thread });
      });
      const begun = { ...events, id, thread, cancel: () => stop.abort() };
      if (records.get(id)?.status === "running") running.set(id, begun);
      return begun;
    },
    running: (user, id) => (records.get(id)?.user === user ? running.get(id) : undefined),
    async cancel(user, id) {
      const turn = agent.running(user, id);
      turn?.cancel();
      return turn !== undefined;
    },
    watch(user, listener) {
      listeners.set(listener, user);
      return () => void listeners.delete(listener);
    },
    model: () => MODEL,
    models: async () => ({ items: [MODEL], unlisted: [] }),
    measure: async () => 1,
    condense: async () => ({ text: "", usage: USAGE }),
    removeUser: async () => {},
  };
  const scripted: { script: Script } = { script: echo };
  const jobs = createScriptedJobs(agent);
  const plugin = definePlugin({
    name: "scripted-agent",
    needs: ["store"],
    provides: [
      "agent",
      "threads",
      "attachments",
      "jobs",
      "routines",
      "memory",
      "skills",
      "approvals",
      "destinations",
      "identities",
      "externalTools",
      "toolCalls",
      "usage",
      "chatLimit",
    ],
    configure: () => ({}),
    async start({ use, onStop }) {
      sql = await use.store.tables("scripted-agent", []);
      onStop(() => {
        for (const turn of running.values()) turn.cancel();
      });
      return {
        agent,
        threads: threadsOf(records),
        attachments: NO_ATTACHMENTS,
        jobs,
        routines: NO_ROUTINES,
        chatLimit: OPEN,
        memory: {
          search: async () => [],
          tree: async () => [],
          read: async () => undefined,
          write: async (_user, path) => ({ path, version: 1 }),
          remove: async () => false,
          history: async () => [],
          readVersion: async () => undefined,
          embed: async (texts) => texts.map(() => new Float32Array([1])),
        },
        usage: {
          turns: async () => ({
            total: { count: 0, failed: 0, inputTokens: 0, outputTokens: 0, usd: 0 },
            points: [],
            groups: [],
          }),
        },
        skills: { list: async () => [], read: async () => undefined },
        toolCalls: {
          list: async () => [],
          call: async ({ name }) => unknownTool(name),
          resume: async ({ name }) => unknownTool(name),
        },
        identities: {
          account: async () => undefined,
          list: async () => [],
          pending: async () => [],
          pair: async () => {},
          unpair: async () => false,
          deny: async () => 0,
        },
        approvals: {
          remembered: async () => ({}),
          remember: async () => {},
          revoke: async () => false,
          pending: async () => [],
          pendingOfIdentities: async () => [],
        },
        destinations: {
          list: async () => [],
          add: async () => false,
          remove: async () => false,
        },
        externalTools: {
          isReserved: async () => false,
          names: async () => [],
          pending: async () => undefined,
        },
      };
    },
  });
  return {
    plugin: plugin as AnyPlugin,
    turns,
    get script() {
      return scripted.script;
    },
    set script(script) {
      scripted.script = script;
    },
  };
}

function* echo({ input }: Turn): Iterable<string> {
  yield "You said: ";
  yield input.type === "message" ? input.text : input.type;
}

/** Runs to its end whether or not anybody listens. */
function perform(
  begun: TurnRecord,
  script: ReturnType<Script>,
  signal: AbortSignal,
  tell: (event: TurnEvent) => void,
): Pick<RunningTurn, "record" | typeof Symbol.asyncIterator> {
  const events: TurnEvent[] = [];
  let wake = Promise.withResolvers<void>();
  const emit = (event: TurnEvent) => {
    events.push(event);
    tell(event);
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  const item = randomUUID();
  const play = async (): Promise<TurnRecord> => {
    let text = "";
    const ended = (more: Partial<TurnRecord>): TurnRecord => ({
      ...begun,
      items: [
        {
          type: "message",
          id: randomUUID(),
          role: "user",
          text: begun.input.type === "message" ? begun.input.text : "",
        },
        { type: "message", id: item, role: "assistant", text },
      ],
      completedAt: new Date().toISOString(),
      ...more,
    });
    emit({ type: "started", turn: begun.id, thread: begun.thread, model: MODEL });
    try {
      const pieces =
        Symbol.asyncIterator in script ? script[Symbol.asyncIterator]() : script[Symbol.iterator]();
      const stopped = new Promise<"stopped">((resolve) => {
        signal.addEventListener("abort", () => resolve("stopped"), { once: true });
      });
      for (;;) {
        const piece = await Promise.race([Promise.resolve(pieces.next()), stopped]);
        if (piece === "stopped" || signal.aborted) {
          const record = ended({ status: "cancelled" });
          emit({ type: "done", status: "cancelled", record });
          return record;
        }
        if (piece.done) break;
        text += piece.value;
        emit({ type: "text", item, delta: piece.value });
      }
      const record = ended({ status: "completed" });
      emit({ type: "done", status: "completed", record });
      return record;
    } catch (error) {
      const code = error instanceof Fault ? error.code : "internal";
      const message = error instanceof Fault ? reason(error) : "Something went wrong.";
      const record = ended({ status: "failed", error: { code, message } });
      emit({ type: "failed", code, message, record });
      return record;
    }
  };
  return {
    record: play(),
    async *[Symbol.asyncIterator]() {
      for (let at = 0; ; at++) {
        while (at >= events.length) await wake.promise;
        const event = events[at] as TurnEvent;
        yield event;
        if (event.type === "done" || event.type === "failed") return;
      }
    },
  };
}

function threadsOf(records: ReadonlyMap<string, TurnRecord>): Threads {
  const of = (user: string, thread: string) =>
    [...records.values()].filter((record) => record.user === user && record.thread === thread);
  return {
    list: async () => ({ items: [] }),
    async find(user, thread) {
      const turns = of(user, thread);
      const [first, last] = [turns[0], turns.at(-1)];
      if (first === undefined || last === undefined) return undefined;
      const { createdAt } = first;
      return {
        id: thread,
        title: "A thread",
        createdAt,
        updatedAt: last.createdAt,
        turns: turns.length,
        pinned: false,
      };
    },
    turns: async (user, thread) => ({ items: of(user, thread), versions: [] }),
    turn: async (user, id) => (records.get(id)?.user === user ? records.get(id) : undefined),
    attachment: async () => undefined,
    export: async (user, thread) => ({
      name: "thread.json",
      mime: "application/json",
      text: Readable.from([JSON.stringify(of(user, thread))]),
    }),
    rename: async () => {},
    pin: async () => {},
    setModel: async () => {},
    remove: async () => {},
  };
}
