/** The agent as channels know it: starts turns, one at a time on each thread, and sees every one to its end. */
import { randomUUIDv7 } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Alongside, currentTraceparent, type Node, type Signals } from "../../kernel/kit.ts";
import { Fault, reason, type Turn, type TurnEvent, type TurnRecord } from "../../kernel/plugin.ts";
import type { Extensions } from "./extensions.ts";
import { createRelay, LAST_WORD } from "./live/relay.ts";
import { createTurnStream, type TurnStream } from "./live/stream.ts";
import { createWatchers } from "./live/watchers.ts";
import type { Agent } from "./services.ts";
import { STOPPED, TAKEN_OVER } from "./threads/ending.ts";
import { CUT_SHORT, type Ledger, type TakenOver } from "./threads/ledger.ts";
import type { Beginning } from "./threads/resume.ts";
import { createSaving } from "./threads/writing/saving.ts";
import type { Admit } from "./turn/admission.ts";
import { createExecution, type ExecutionParts, type OpenTurn } from "./turn/execution.ts";
import { createLanes } from "./turn/lanes.ts";

export interface AgentParts extends ExecutionParts {
  readonly node: Node;
  readonly signals: Signals;
  /** Refuses a turn that asks for what cannot be had. */
  readonly admit: Admit;
  /** Told of a thread whose stored turns have changed behind the runner's back. */
  forget(thread: string): void;
  /** Keeps what the person said at a gate about later calls. */
  remember(user: string, answer: Pick<Beginning, "remember" | "trusted">): Promise<void>;
  readonly extensions: Pick<Extensions, "add" | "all">;
}

export interface RunningAgent
  extends Pick<Agent, "run" | "running" | "cancel" | "watch" | "model" | "extend"> {
  /** Ends every turn of a thread that is about to go. */
  cancelThread(thread: string): Promise<void>;
  /** Whether this node has that turn in hand. */
  isOurs(turn: string): boolean;
  /** Tells who watches, and who waits, that a turn of a node that is gone was closed. */
  closed(turn: TakenOver, record: TurnRecord): Promise<void>;
  /** Other nodes have taken over what ran here. */
  abandon(): void;
  /** Takes no more turns; resolves when those that run have ended. */
  drain(): Promise<void>;
  /** Ends every turn; they are stored as interrupted. */
  stop(): Promise<void>;
}

// How soon a node hears of what others want of its turns where a signal was missed.
const LOOK_MS = 1000;
const DRAIN_LOOK_MS = 100;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function createAgent(parts: AgentParts): RunningAgent {
  const { ledger, runner, node, signals, log, forget, remember, extensions } = parts;
  const active = new Map<string, OpenTurn>();
  const lanes = createLanes<OpenTurn>(begin, start);
  const opening = new Set<Promise<unknown>>();
  /** The ids of those that are being opened. */
  const beginning = new Set<string>();
  const ends = new Set<Promise<void>>();
  const saving = createSaving((thread) => {
    forget(thread);
    void lanes.wake(thread);
  });
  const watchers = createWatchers(log, (user, isWatched) => relay.watch(user, isWatched));
  const relay = createRelay({
    node,
    signals,
    log,
    *running(user) {
      for (const { turn, writer, stream } of active.values())
        if (turn.user === user && !turn.ephemeral)
          yield { id: writer.id, thread: writer.thread, events: stream.events };
    },
    tell: watchers.tell,
    lost: watchers.tellLost,
    stop: (turn) => {
      const entry = active.get(turn);
      if (entry !== undefined) cancel(entry);
    },
    wake: (thread) => void lanes.wake(thread),
  });
  // Signals may be missed; what they would have said is in the store.
  const looking = setInterval(() => {
    if (active.size > 0)
      void look().catch((error) => log.warn(`could not check for turns to start or stop: ${reason(error)}`));
  }, LOOK_MS).unref();
  const execute = createExecution(parts, {
    saving,
    emit,
    ended: ({ writer }) => void active.delete(writer.id),
    wakeNext: (thread, next) => {
      if (next !== node.id) relay.wake(thread, next);
    },
  });
  let isDraining = false;
  let stopped: Promise<void> | undefined;

  function emit({ turn, writer, stream }: OpenTurn, event: TurnEvent): void {
    const n = stream.push(event);
    if (turn.ephemeral) return;
    const place = { id: writer.id, thread: writer.thread };
    watchers.tell(turn.user, event, place);
    relay.send(turn.user, place, n, event);
  }

  function start(entry: OpenTurn): void {
    const { id: turn, thread } = entry.writer;
    const end = execute(entry)
      .catch((error) => log.error({ error, turn, thread }, "a turn ended with an error"))
      .then(() => {
        ends.delete(end);
        void lanes.wake(thread);
      });
    ends.add(end);
  }

  /** Whether the first in line runs now: no earlier turn of its thread is open, on any node. */
  async function begin({ writer, stopper }: OpenTurn): Promise<boolean> {
    try {
      const begun = await writer.begin(runner.model());
      if (begun === "gone") stopper.abort();
      return begun !== "waiting";
    } catch (error) {
      // A store that is away, or full: it stays in line, and the next look tries again.
      if (error instanceof Fault && error.kind === "unavailable") return false;
      log.error({ error, turn: writer.id, thread: writer.thread }, "a turn in line could not be started");
      stopper.abort(error);
      return true;
    }
  }

  async function look(): Promise<void> {
    await Promise.all(lanes.threads().map((thread) => lanes.wake(thread)));
    for (const turn of await ledger.askedToStop()) {
      const entry = active.get(turn);
      if (entry !== undefined) cancel(entry);
    }
  }

  /** Tells the nodes that run them, and returns whether there was any. */
  async function stopElsewhere(turns: Parameters<Ledger["askToStop"]>[0]): Promise<boolean> {
    const asked = await ledger.askToStop(turns);
    for (const turn of asked) if (turn.node !== node.id) relay.stopTurn(turn);
    return asked.length > 0;
  }

  function cancel(entry: OpenTurn, why?: Fault): void {
    entry.stopper.abort(why);
    // One that still waits ends now, not when its turn would come.
    if (lanes.leave(entry.writer.thread, entry)) start(entry);
  }

  async function open(turn: Turn, alongside: Alongside | undefined): Promise<TurnStream> {
    const id = turn.id ?? randomUUIDv7();
    if (!UUID.test(id))
      throw new Fault("invalid", "bad_turn_id", "A turn id must be a UUID.", { param: "id" });
    beginning.add(id);
    try {
      return await openAs(id, turn, alongside);
    } finally {
      beginning.delete(id);
    }
  }

  async function openAs(id: string, given: Turn, alongside: Alongside | undefined): Promise<TurnStream> {
    const turn = await parts.admit(given);
    const options = { isIdGiven: turn.id !== undefined, alongside };
    const trace = turn.trace ?? { parent: currentTraceparent() };
    const opened = await ledger.open({ ...turn, trace, id }, await runner.admit(turn), options);
    const { writer, hasToWait } = opened;
    const stream = createTurnStream(id, writer.thread, () => cancel(entry));
    const entry: OpenTurn = { ...opened, stream, stopper: new AbortController() };
    active.set(id, entry);
    // Deleted by another node, or in the moment before it was known here.
    void writer.gone.then(() => entry.stopper.abort());
    try {
      await remember(turn.user, opened.beginning);
    } catch (error) {
      // It is open already: its end tells the caller.
      entry.stopper.abort(error);
    }
    if (stopped !== undefined) entry.stopper.abort(STOPPED);
    if (hasToWait && !entry.stopper.signal.aborted) lanes.join(writer.thread, entry);
    else start(entry);
    return stream;
  }

  function stop(): Promise<void> {
    stopped ??= stopAll();
    return stopped;
  }

  async function stopAll(): Promise<void> {
    isDraining = true;
    clearInterval(looking);
    for (const extension of extensions.all()) extension.stopping?.();
    for (const entry of [...active.values()]) cancel(entry, STOPPED);
    while (opening.size + ends.size > 0) await Promise.allSettled([...opening, ...ends]);
    await saving.stop();
    for (const extension of extensions.all()) await extension.stopped?.();
    await relay.stop();
  }

  return {
    async run(turn, alongside) {
      if (isDraining)
        throw new Fault("unavailable", "stopping", "The service is stopping.", { retryAfterSecs: 5 });
      const opened = open(turn, alongside);
      opening.add(opened);
      try {
        return await opened;
      } finally {
        opening.delete(opened);
      }
    },

    running(user, turn) {
      const entry = active.get(turn);
      return entry?.turn.user === user ? entry.stream : undefined;
    },

    async cancel(user, turn) {
      const entry = active.get(turn);
      if (entry === undefined)
        return (await stopElsewhere({ user, id: turn })) || (await ledger.release(user, turn));
      if (entry.turn.user !== user) return false;
      cancel(entry);
      return true;
    },

    watch: (user, listener, lost = () => {}) => watchers.add(user, listener, lost),

    model: () => runner.model(),

    async cancelThread(thread) {
      for (const entry of [...active.values()]) if (entry.writer.thread === thread) cancel(entry);
      await stopElsewhere({ thread });
      forget(thread);
    },

    isOurs: (turn) => active.has(turn) || beginning.has(turn) || saving.has(turn),

    async closed({ id, thread, user }, record) {
      const event: TurnEvent = { type: "failed", ...CUT_SHORT, record };
      watchers.tell(user, event, { id, thread });
      relay.send(user, { id, thread }, LAST_WORD, event);
      relay.wake(thread);
      await lanes.wake(thread);
    },

    abandon() {
      for (const entry of [...active.values()]) cancel(entry, TAKEN_OVER);
    },

    async drain() {
      isDraining = true;
      while (opening.size + active.size + ends.size > 0) await sleep(DRAIN_LOOK_MS);
    },

    stop,

    extend(extension) {
      const remove = extensions.add(extension);
      return async () => {
        await stop();
        remove();
      };
    },
  };
}
