/** The agent as channels know it: starts turns, one at a time on each thread, and sees every one to its end. */
import { randomUUIDv7 } from "node:crypto";
import {
  type Agent,
  type Alongside,
  Fault,
  type Log,
  reason,
  type Turn,
  type TurnEvent,
  type Usage,
} from "../../kernel/plugin.ts";
import type { Ledger, LedgerTurn } from "./threads/ledger.ts";
import type { Ending } from "./turn/ending.ts";
import { createLanes } from "./turn/lanes.ts";
import { gatePending } from "./turn/resume.ts";
import type { TurnRunner } from "./turn/runner.ts";
import { createTurnStream, type TurnStream } from "./turn/stream.ts";
import type { TurnWriter } from "./turn/writer.ts";

export interface AgentParts {
  readonly ledger: Ledger;
  readonly runner: TurnRunner;
  readonly log: Log;
  /** A turn may take as long as it needs while something happens; this much silence ends it. */
  readonly idleSecs: number;
  /** Told of a thread whose stored turns have changed behind the runner's back. */
  forget(thread: string): void;
  remember(user: string, tool: string, fingerprint: string): void | Promise<void>;
}

export interface RunningAgent extends Omit<Agent, "removeUser"> {
  /** Ends every turn of a thread that is about to go. */
  cancelThread(thread: string): void;
  /** A turn of this thread has ended, here or on another node: the next in line that waits here may run. */
  wake(thread: string): Promise<void>;
  /** Ends every turn; they are stored as interrupted. */
  stop(): Promise<void>;
}

interface Entry extends LedgerTurn {
  readonly stream: TurnStream;
  readonly stopper: AbortController;
}

const SAVE_AGAIN_MILLIS = 5000;
const STOPPED = new Fault("turn", "interrupted", "The service was stopped while the turn ran.");
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function createAgent({ ledger, runner, log, idleSecs, forget, remember }: AgentParts): RunningAgent {
  const active = new Map<string, Entry>();
  const lanes = createLanes<Entry>(begin, start);
  const watchers = new Map<string, Set<Parameters<Agent["watch"]>[1]>>();
  const opening = new Set<Promise<unknown>>();
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
      stopper.signal.throwIfAborted();
      // A message that waited in line may find that the turn before it has opened a gate.
      const isLate = entry.hasToWait && turn.input.type === "message";
      const gate = isLate ? (await ledger.thread(turn.user, writer.thread))?.gate : undefined;
      if (gate) throw gatePending(gate);
      if (beginning.items.length > 0) await writer.put(...beginning.items);
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
      void lanes.wake(writer.thread);
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
        void lanes.wake(thread);
      });
    ends.add(end);
  }

  /** Whether the first in line runs now: no earlier turn of its thread is open, on any node. */
  async function begin({ writer, stopper }: Entry): Promise<boolean> {
    try {
      const begun = await writer.begin(runner.model());
      if (begun === "gone") stopper.abort();
      return begun !== "waiting";
    } catch (error) {
      log.error({ error, turn: writer.id }, "a turn in line could not be started");
      stopper.abort(error);
      return true;
    }
  }

  function cancel(entry: Entry, why?: Fault): void {
    entry.stopper.abort(why);
    // One that still waits ends now, not when its turn would come.
    if (lanes.leave(entry.writer.thread, entry)) start(entry);
  }

  async function open(turn: Turn, alongside: Alongside | undefined): Promise<TurnStream> {
    const id = turn.id ?? randomUUIDv7();
    if (!UUID.test(id))
      throw new Fault("invalid", "bad_turn_id", "A turn id must be a UUID.", { param: "id" });
    const options = { isIdGiven: turn.id !== undefined, alongside };
    const opened = await ledger.open({ ...turn, id }, runner.model(), options);
    const { writer, beginning, hasToWait } = opened;
    const stream = createTurnStream(id, writer.thread, () => cancel(entry));
    const entry: Entry = { ...opened, stream, stopper: new AbortController() };
    active.set(id, entry);
    // Deleted by another node, or in the moment before it was known here.
    void writer.gone.then(() => entry.stopper.abort());
    try {
      const { tool, fingerprint } = beginning.remember ?? {};
      if (tool !== undefined && fingerprint !== undefined) await remember(turn.user, tool, fingerprint);
    } catch (error) {
      // It is open: whoever asked for it hears of this from its end.
      entry.stopper.abort(error);
    }
    if (isStopping) entry.stopper.abort(STOPPED);
    if (hasToWait && !entry.stopper.signal.aborted) lanes.join(writer.thread, entry);
    else start(entry);
    return stream;
  }

  return {
    async run(turn, alongside) {
      if (isStopping)
        throw new Fault("unavailable", "stopping", "The service is stopping.", { retryAfterSecs: 5 });
      const opened = open(turn, alongside);
      opening.add(opened);
      try {
        return await opened;
      } finally {
        opening.delete(opened);
      }
    },

    async cancel(user, turn) {
      const entry = active.get(turn);
      if (entry === undefined) return await ledger.release(user, turn);
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

    wake: lanes.wake,

    async stop() {
      isStopping = true;
      for (const entry of [...active.values()]) cancel(entry, STOPPED);
      while (opening.size + ends.size > 0) await Promise.allSettled([...opening, ...ends]);
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
