/** The agent as channels know it: starts turns, one at a time on each thread, and sees every one to its end. */
import { randomUUIDv7 } from "node:crypto";
import {
  type Agent,
  Fault,
  type Log,
  reason,
  type Turn,
  type TurnEvent,
  type Usage,
} from "../../kernel/plugin.ts";
import type { Ledger } from "./threads/ledger.ts";
import { type Beginning, beginningOf, gatePending } from "./turn/resume.ts";
import type { TurnRunner } from "./turn/runner.ts";
import { createTurnStream, type TurnStream } from "./turn/stream.ts";
import type { Ending, TurnWriter } from "./turn/writer.ts";

export interface AgentParts {
  readonly ledger: Ledger;
  readonly runner: TurnRunner;
  readonly log: Log;
  /** A turn may take as long as it needs while something happens; this much silence ends it. */
  readonly idleSecs: number;
  /** Told of a thread whose stored turns have changed behind the runner's back. */
  forget(thread: string): void;
  remember(user: string, tool: string, fingerprint: string): void;
}

export interface RunningAgent extends Omit<Agent, "removeUser"> {
  /** Ends every turn of a thread that is about to go. */
  cancelThread(thread: string): void;
  /** Ends every turn; they are stored as interrupted. */
  stop(): Promise<void>;
}

interface Entry {
  readonly turn: Turn;
  readonly beginning: Beginning;
  readonly writer: TurnWriter;
  readonly stream: TurnStream;
  readonly stopper: AbortController;
  readonly hasWaited: boolean;
}

// A thread is a conversation: more than this many messages ahead of the answer is a caller gone wrong.
const MOST_WAITING = 4;
const SAVE_AGAIN_MILLIS = 5000;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function createAgent({ ledger, runner, log, idleSecs, forget, remember }: AgentParts): RunningAgent {
  const active = new Map<string, Entry>();
  /** For each thread with a running turn, those that wait for it. */
  const lanes = new Map<string, Entry[]>();
  const watchers = new Map<string, Set<Parameters<Agent["watch"]>[1]>>();
  const ends = new Set<Promise<void>>();
  const unsaved = new Map<string, () => Promise<void>>();
  let saveAgain: NodeJS.Timeout | undefined;
  let isStopping = false;

  function emit({ turn, writer, stream }: Entry, event: TurnEvent): void {
    stream.push(event);
    for (const listener of watchers.get(turn.user) ?? []) {
      try {
        listener(event, { id: writer.id, thread: writer.thread });
      } catch (error) {
        log.error({ error }, "a listener to turns failed");
      }
    }
  }

  async function execute(entry: Entry): Promise<void> {
    const { turn, beginning, writer, stopper } = entry;
    const idle = setTimeout(
      () =>
        stopper.abort(
          new Fault("turn", "turn_timeout", `Nothing happened for ${idleSecs} s, so the turn was stopped.`),
        ),
      idleSecs * 1000,
    );
    const running = runner.open(turn, writer, {
      signal: stopper.signal,
      emit: (event) => emit(entry, event),
      alive: () => void idle.refresh(),
    });
    let ending: Ending;
    try {
      await running.begin();
      // A message that waited in line may find that the turn before it has opened a gate.
      const gate =
        entry.hasWaited && turn.input.type === "message" && ledger.thread(turn.user, writer.thread)?.gate;
      if (gate) throw gatePending(gate);
      for (const item of beginning.items) writer.put(item);
      ending = await running.loop(beginning);
    } catch (error) {
      ending = endingOf(error, stopper.signal, log);
    }
    clearTimeout(idle);
    await close(entry, ending, running);
  }

  async function close(entry: Entry, ending: Ending, running: ReturnType<TurnRunner["open"]>): Promise<void> {
    const { writer } = entry;
    const usage = running.usage();
    let final = running.hide(ending);
    try {
      await writer.finish(final, usage);
    } catch (error) {
      log.error({ error, turn: writer.id }, "a turn could not be stored, retrying");
      if (final.error === undefined)
        final = {
          status: "failed",
          error: {
            code: error instanceof Fault ? error.code : "store_failed",
            message: `The turn could not be stored: ${reason(error)}`,
          },
        };
      await keepTrying(writer, final, usage);
    }
    active.delete(writer.id);
    const record = writer.record();
    // Told when it is stored: whoever hears of a gate may answer it at once.
    if (record.gate !== undefined) emit(entry, { type: "gate", gate: record.gate });
    if (usage.inputTokens + usage.outputTokens > 0) emit(entry, { type: "usage", usage });
    if (final.status === "failed") {
      const { code, message } = final.error ?? { code: "failed", message: "The turn failed." };
      emit(entry, { type: "failed", code, message, record });
    } else emit(entry, { type: "done", status: final.status, record });
  }

  /** A disk that was full may have room again; until then the turn lives in memory. */
  async function keepTrying(writer: TurnWriter, ending: Ending, usage: Usage): Promise<void> {
    const write = async (): Promise<void> => {
      await writer.finish(ending, usage);
      unsaved.delete(writer.id);
      forget(writer.thread);
    };
    // One try at a time: two in one commit would index the same texts twice, and both would fail.
    let trying: Promise<void> | undefined;
    const save = (): Promise<void> => {
      trying ??= write().finally(() => (trying = undefined));
      return trying;
    };
    unsaved.set(writer.id, save);
    try {
      await save();
      return;
    } catch {}
    saveAgain ??= setInterval(saveAll, SAVE_AGAIN_MILLIS).unref();
  }

  async function saveAll(): Promise<void> {
    for (const save of unsaved.values()) {
      try {
        await save();
      } catch {
        return;
      }
    }
    clearInterval(saveAgain);
    saveAgain = undefined;
  }

  function start(entry: Entry): void {
    const { thread } = entry.writer;
    const end = execute(entry)
      .catch((error) => log.error({ error }, "a turn ended with an error"))
      .then(() => {
        ends.delete(end);
        const next = lanes.get(thread)?.shift();
        if (next === undefined) lanes.delete(thread);
        else start(next);
      });
    ends.add(end);
  }

  function cancel(entry: Entry): void {
    entry.stopper.abort();
    const lane = lanes.get(entry.writer.thread) ?? [];
    const at = lane.indexOf(entry);
    if (at === -1) return;
    // One that still waits ends now, not when its turn would come.
    lane.splice(at, 1);
    const end = execute(entry).finally(() => ends.delete(end));
    ends.add(end);
  }

  return {
    run(turn) {
      if (isStopping)
        throw new Fault("unavailable", "stopping", "The service is stopping.", { retryAfterSecs: 5 });
      const id = turn.id ?? randomUUIDv7();
      if (!UUID.test(id))
        throw new Fault("invalid", "bad_turn_id", "A turn id must be a UUID.", { param: "id" });
      if (turn.id !== undefined && ledger.knows(id))
        throw new Fault("invalid", "turn_exists", `The turn ${id} already exists.`, { param: "id" });
      const thread = turn.thread === undefined ? undefined : ledger.thread(turn.user, turn.thread);
      if (turn.thread !== undefined && thread === undefined)
        throw new Fault("missing", "thread_not_found", `There is no thread ${turn.thread}.`, {
          param: "thread",
        });
      const beginning = beginningOf(turn, thread);
      const lane = lanes.get(turn.thread ?? "");
      if (lane !== undefined && lane.length >= MOST_WAITING)
        throw new Fault(
          "limited",
          "thread_busy",
          `The thread is busy: ${lane.length} messages are waiting.`,
          { retryAfterSecs: 5 },
        );
      if (beginning.remember !== undefined)
        remember(turn.user, beginning.remember.tool, beginning.remember.fingerprint);
      // The catalog belongs to the thread: a resume that does not repeat it goes on with it.
      const tools = turn.tools ?? (turn.input.type === "message" ? [] : (thread?.tools ?? []));
      const whole: Turn = { ...turn, tools };
      const writer = ledger.open(whole, id, runner.model(), lane === undefined ? "running" : "queued");
      const stopper = new AbortController();
      const stream = createTurnStream(id, writer.thread, () => cancel(entry));
      const entry: Entry = { turn: whole, beginning, writer, stream, stopper, hasWaited: lane !== undefined };
      active.set(id, entry);
      if (lane === undefined) {
        lanes.set(writer.thread, []);
        start(entry);
      } else lane.push(entry);
      return stream;
    },

    cancel(user, turn) {
      const entry = active.get(turn);
      if (entry === undefined) return ledger.release(user, turn);
      if (entry.turn.user !== user) return false;
      cancel(entry);
      return true;
    },

    watch(user, listener) {
      const listeners = watchers.get(user) ?? new Set();
      watchers.set(user, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && watchers.get(user) === listeners) watchers.delete(user);
      };
    },

    model: () => runner.model(),

    cancelThread(thread) {
      for (const entry of [...active.values()]) if (entry.writer.thread === thread) cancel(entry);
      forget(thread);
    },

    async stop() {
      isStopping = true;
      const why = new Fault("turn", "interrupted", "The service was stopped while the turn ran.");
      for (const { stopper } of active.values()) stopper.abort(why);
      while (ends.size > 0) await Promise.all(ends);
      clearInterval(saveAgain);
      await saveAll();
    },
  };
}

function endingOf(error: unknown, signal: AbortSignal, log: Log): Ending {
  const cause = signal.aborted ? signal.reason : error;
  if (cause instanceof Fault)
    return { status: "failed", error: { code: cause.code, message: cause.message } };
  if (signal.aborted) return { status: "cancelled" };
  log.error({ error }, "a turn failed because of a bug");
  return {
    status: "failed",
    error: { code: "internal", message: "Something went wrong in the service; the log has the details." },
  };
}
