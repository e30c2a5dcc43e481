/** An agent that says what a test scripts, with every service of the real one. Turns end as the vocabulary promises. */
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { Fault } from "../../kernel/fault.ts";
import { type AnyPlugin, definePlugin, type Services } from "../../kernel/plugin.ts";
import type { Job } from "../../kernel/vocabulary/job.ts";
import type { ModelName } from "../../kernel/vocabulary/model.ts";
import type { Limiter, Sql } from "../../kernel/vocabulary/store.ts";
import { answerText, type Failure, type TurnEvent, type TurnRecord } from "../../kernel/vocabulary/turn.ts";
import { NO_USAGE } from "../../kernel/vocabulary/usage.ts";

export type Turn = Parameters<Services["agent"]["run"]>[0];
type RunningTurn = Awaited<ReturnType<Services["agent"]["run"]>>;

/** Returns the pieces of text to say. If it throws before the first piece, `agent.run` rejects with that. */
type Script = (turn: Turn) => Iterable<string> | AsyncIterable<string>;

const MODEL: ModelName = { provider: "scripted", name: "contract" };

export interface ScriptedAgent {
  readonly plugin: AnyPlugin;
  readonly turns: readonly Turn[];
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
    takeBack: async () => false,
    watch(user, listener) {
      listeners.set(listener, user);
      return () => void listeners.delete(listener);
    },
    model: () => MODEL,
    models: async () => ({ items: [MODEL], unlisted: [] }),
    measure: async () => 1,
    contextOf: async () => {
      const none = { total: 0, instructions: 0, tools: 0, memory: 0, conversation: 0, files: 0 };
      return { model: MODEL, window: 1000, ...none, isSummarised: false, cost: "0", spent: 0, saved: 0 };
    },
    condense: async () => ({ text: "", usage: NO_USAGE }),
    extend: () => async () => {},
    onTakeover: () => () => {},
    resume: async () => async () => {},
    chatLimit: OPEN,
  };
  const scripted: { script: Script } = { script: echo };
  // A transaction waits for those before it.
  const jobs = createScriptedJobs(agent, async () => sql?.transaction(async () => {}));
  const plugin = definePlugin({
    name: "scripted-agent",
    needs: ["store"],
    provides: [
      "agent",
      "threads",
      "jobs",
      "attachments",
      "routines",
      "memory",
      "skills",
      "approvals",
      "toolCalls",
    ],
    configure: () => ({}),
    async start({ use, onStop }) {
      sql = await use.store.tables("scripted-agent", []);
      onStop(() => {
        for (const turn of running.values()) turn.cancel();
      });
      return { agent, threads: threadsOf(records), jobs, ...EMPTY_SERVICES };
    },
  });
  return Object.assign(scripted, { plugin: plugin as AnyPlugin, turns });
}

/** Performs a script as a turn, to its end whether or not anybody listens. Events are kept, so that a late listener misses none. */
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
    const asked = begun.input.type === "message" ? begun.input.text : "";
    const end = (status: "completed" | "cancelled" | "failed", error?: Failure): TurnRecord => {
      const record: TurnRecord = {
        ...begun,
        status,
        error,
        items: [
          { type: "message", id: randomUUID(), role: "user", text: asked },
          { type: "message", id: item, role: "assistant", text },
        ],
        completedAt: new Date().toISOString(),
      };
      if (status === "failed") emit({ type: "failed", ...(error as Failure), record });
      else emit({ type: "done", status, record });
      return record;
    };
    emit({ type: "started", turn: begun.id, thread: begun.thread, model: MODEL });
    try {
      const pieces =
        Symbol.asyncIterator in script ? script[Symbol.asyncIterator]() : script[Symbol.iterator]();
      const stopped = new Promise<"stopped">((resolve) => {
        signal.addEventListener("abort", () => resolve("stopped"), { once: true });
      });
      for (;;) {
        const piece = await Promise.race([Promise.resolve(pieces.next()), stopped]);
        if (piece === "stopped" || signal.aborted) return end("cancelled");
        if (piece.done) break;
        text += piece.value;
        emit({ type: "text", item, delta: piece.value });
      }
      return end("completed");
    } catch (error) {
      return end("failed", failureOf(error));
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

function failureOf(error: unknown): Failure {
  return error instanceof Fault
    ? { code: error.code, message: error.message }
    : { code: "internal", message: "Something went wrong." };
}

const wordsOf = ({ message }: Failure): string => `It failed: ${message}`;

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
      const times = { createdAt: first.createdAt, updatedAt: last.createdAt };
      return { id: thread, title: "A thread", ...times, turns: turns.length, channel: "test", pinned: false };
    },
    answered: async () => ({ count: 0, yes: 0, isHasty: false }),
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
    bin: async () => {},
    binned: async () => ({ items: [] }),
    restore: async () => {},
    emptyBin: async () => 0,
    isBinned: async () => false,
    remove: async () => {},
    usage: async () => ({ total: NOTHING, points: [], groups: [] }),
    onChanged: () => () => {},
    hadSideEffects: async () => false,
    unsay: async () => {},
    forgetRecords: async () => {},
    identities: async () => [],
    checked: async () => undefined,
  };
}

const pass = async () => ({ ok: true, limit: 1000, windowSecs: 60, remaining: 1000, resetSecs: 1 });
const OPEN: Limiter = { take: pass, peek: pass };

const NOTHING = { count: 0, failed: 0, inputTokens: 0, outputTokens: 0, usd: 0 };

const NO_ROUTINES: Services["routines"] = {
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

const NO_ATTACHMENTS: Services["attachments"] = {
  limits: { fileBytes: 0, files: 0, messageBytes: 0 },
  add: async () => {
    throw new Fault("invalid", "file_too_large", "The scripted agent takes no files.");
  },
  textOf: async () => "",
  read: async () => undefined,
  remove: async () => false,
  bring: async () => ({ attachments: [], attached: [], alongside: async () => {} }),
};

const unknownTool = (name: string) =>
  ({ status: "error", code: "unknown_tool", message: `There is no tool "${name}".` }) as const;

const EMPTY_SERVICES = {
  attachments: NO_ATTACHMENTS,
  routines: NO_ROUTINES,
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
  skills: {
    list: async () => [],
    read: async () => undefined,
    file: async () => undefined,
    problems: async () => [],
  },
  toolCalls: {
    list: async () => [],
    call: async ({ name }) => unknownTool(name),
    resume: async ({ name }) => unknownTool(name),
    isReserved: async () => false,
    names: async () => [],
    pending: async () => undefined,
  },
  approvals: {
    remembered: async () => ({}),
    remember: async () => {},
    revoke: async () => false,
    pending: async () => [],
    pendingOfIdentities: async () => [],
    onTrusted: () => () => {},
  },
} satisfies Partial<Services>;

type NewJob = Parameters<Services["jobs"]["submit"]>[0];

/** A job that is submitted in a transaction begins once that has committed. */
function createScriptedJobs(agent: Services["agent"], committed: () => Promise<unknown>): Services["jobs"] {
  const jobs = new Map<string, Job>();
  const listeners = new Set<(job: Job) => void>();
  const waiting = new Map<string, Promise<Job>>();
  const complete = (id: string, more: Partial<Job>): Job => {
    const completedAt = new Date().toISOString();
    const job: Job = { ...(jobs.get(id) as Job), ...more, status: "completed", completedAt };
    jobs.set(id, job);
    for (const listener of listeners) listener(job);
    return job;
  };
  const work = async (id: string, { user, channel, message }: NewJob): Promise<Job> => {
    try {
      const turn = await agent.run({ user, channel, input: { type: "message", text: message } });
      const record = await turn.record;
      const { error, thread } = record;
      return complete(id, { thread, error, response: error ? wordsOf(error) : answerText(record) });
    } catch (error) {
      const failure = failureOf(error);
      return complete(id, { response: wordsOf(failure), error: failure });
    }
  };
  const submit: Services["jobs"]["submit"] = async (job, tx) => {
    const { user, channel, conversation, sender } = job;
    const created: Job = {
      id: randomUUID(),
      user,
      channel,
      message: job.message,
      attempts: 1,
      status: "running",
      createdAt: new Date().toISOString(),
      conversation,
      sender,
    };
    jobs.set(created.id, created);
    const begin = () => work(created.id, job);
    waiting.set(created.id, tx === undefined ? begin() : committed().then(begin));
    return created;
  };
  return {
    submit,
    assertRoom: async () => {},
    async retry(id) {
      const job = jobs.get(id);
      return job && submit({ user: job.user, channel: job.channel, message: job.message });
    },
    async noteCallback(id, callback) {
      const job = jobs.get(id);
      if (job) jobs.set(id, { ...job, callback });
    },
    find: async (id) => jobs.get(id),
    findListed: async (id) => jobs.get(id),
    list: async () => ({ items: [...jobs.values()].reverse() }),
    cancel: async (id) => jobs.get(id),
    remove: async (id) => void (jobs.get(id)?.status === "completed" && jobs.delete(id)),
    async wait(id, millis) {
      const late = new Promise<void>((resolve) => setTimeout(resolve, millis).unref());
      await Promise.race([waiting.get(id), late]);
      return jobs.get(id);
    },
    counts: async () => ({
      queued: 0,
      running: [...jobs.values()].filter(({ status }) => status === "running").length,
    }),
    onCompleted(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
