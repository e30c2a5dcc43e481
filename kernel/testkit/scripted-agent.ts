/**
 * An agent that says what a test scripts, with every service that the real one offers. Turns are kept
 * and end as the vocabulary promises: `started` first, exactly one of `done` or `failed` last.
 */

import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { Services } from "../plugin.ts";
import { type AnyPlugin, definePlugin } from "../plugin.ts";
import type { RunningTurn } from "../vocabulary/agent.ts";
import type { Sql } from "../vocabulary/store.ts";
import type { Turn, TurnRecord } from "../vocabulary/turn.ts";
import { NO_USAGE } from "../vocabulary/usage.ts";
import { EMPTY_SERVICES, NO_FIGURES, OPEN } from "./empty-services.ts";
import { MODEL, perform, type Script } from "./performance.ts";
import { createScriptedJobs } from "./scripted-jobs.ts";

export interface ScriptedAgent {
  readonly plugin: AnyPlugin;
  /** Every turn that reached the agent, oldest first. */
  readonly turns: readonly Turn[];
  /** Replace it to change the answers from now on. */
  script: Script;
}

type Listener = Parameters<Services["agent"]["watch"]>[1];

export function createScriptedAgent(): ScriptedAgent {
  const turns: Turn[] = [];
  const records = new Map<string, TurnRecord>();
  const running = new Map<string, RunningTurn>();
  const listeners = new Map<Listener, string>();
  let sql: Sql | undefined;
  const agent: Services["agent"] = {
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
        usage: NO_USAGE,
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
    condense: async () => ({ text: "", usage: NO_USAGE }),
    removeUser: async () => {},
    giveUser: async () => {},
    extend: () => async () => {},
    chatLimit: OPEN,
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
      "toolCalls",
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
        jobs,
        ...EMPTY_SERVICES,
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

function threadsOf(records: ReadonlyMap<string, TurnRecord>): Services["threads"] {
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
    usage: async () => NO_FIGURES,
    hadSideEffects: async () => false,
    users: async () => [],
    checked: async () => undefined,
  };
}
