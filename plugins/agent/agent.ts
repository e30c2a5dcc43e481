/** The agent as channels know it: starts turns, one at a time on each thread, and sees every one to its end. */

import { randomUUIDv7 } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { currentTraceparent } from "../../kernel/kit/http.ts";
import { giveWay } from "../../kernel/kit/text.ts";
import { Fault, type Log, reason, type TurnEvent, type TurnRecord } from "../../kernel/plugin.ts";
import type { Node, Signals, UserStorage } from "../store/services.ts";
import type { Extensions } from "./extensions.ts";
import type { Observers, TurnObserver } from "./live/observer.ts";
import { createRelay, LAST_WORD } from "./live/relay.ts";
import { createTurnStream, type TurnStream } from "./live/stream.ts";
import { createWatchers } from "./live/watchers.ts";
import type { Agent, Alongside, Turn } from "./services.ts";
import type { TurnSettings } from "./settings.ts";
import {
  type Ending,
  endingOf,
  STOPPED,
  TAKEN_OVER,
  unstoredEnding,
  withoutQuestion,
} from "./threads/ending.ts";
import { CUT_SHORT, type Ledger, type LedgerTurn, type TakenOver } from "./threads/ledger.ts";
import { type Beginning, gatePending } from "./threads/resume.ts";
import { createSaving } from "./threads/writing/saving.ts";
import type { Admit } from "./turn/admission.ts";
import { createLanes } from "./turn/lanes.ts";
import type { TurnRunner } from "./turn/runner.ts";
import type { Entitle } from "./turn/titling.ts";

export interface AgentParts {
  readonly ledger: Ledger;
  readonly runner: TurnRunner;
  readonly log: Log;
  readonly observers: Observers;
  settings(): Promise<TurnSettings>;
  readonly node: Node;
  readonly signals: Signals;
  readonly storage: Pick<UserStorage, "take">;
  /** Refuses a turn that asks for what cannot be had. */
  readonly admit: Admit;
  /** Told of a thread whose stored turns have changed behind the runner's back. */
  forget(thread: string): void;
  /** Keeps what the person said at a gate about later calls. */
  remember(user: string, answer: Pick<Beginning, "remember" | "trusted">): Promise<void>;
  readonly extensions: Pick<Extensions, "add">;
  readonly entitle: Entitle;
}

interface OpenTurn extends LedgerTurn {
  readonly stream: TurnStream;
  readonly stopper: AbortController;
}

export interface RunningAgent
  extends Pick<Agent, "run" | "running" | "cancel" | "watch" | "model" | "extend"> {
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
const MAX_MESSAGE_LENGTH = 4_000_000;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function createAgent(parts: AgentParts): RunningAgent {
  const { ledger, runner, node, signals, log, forget, remember, extensions } = parts;
  const active = new Map<string, OpenTurn>();
  const lanes = createLanes<OpenTurn>(begin, start);
  const opening = new Set<Promise<unknown>>();
  const beginning = new Set<string>();
  const ends = new Set<Promise<void>>();
  const titling = new Set<Promise<void>>();
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
    stop: cancelHere,
    wake: (thread) => void lanes.wake(thread),
  });
  // Signals may be missed; what they would have said is in the store.
  const looking = setInterval(() => {
    if (active.size > 0)
      void look().catch((error) => log.warn(`could not check for turns to start or stop: ${reason(error)}`));
  }, LOOK_MS).unref();
  const stopTitling = new AbortController();
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

  /** The end is stored first, and told then. */
  async function close(open: OpenTurn, ending: Ending, running: ReturnType<TurnRunner["open"]>) {
    const { writer } = open;
    const usage = running.usage();
    let final = running.hide(ending);
    let next: string | undefined;
    try {
      next = await writer.finish(final, usage);
    } catch (error) {
      log.error({ error, turn: writer.id, thread: writer.thread }, "a turn could not be stored, retrying");
      const unstored = final.error === undefined ? unstoredEnding(error) : final;
      if (!(await saving.keepTrying(writer, unstored, usage))) {
        final = unstored;
        writer.assume(final, usage);
      }
    }
    active.delete(writer.id);
    const record = writer.record();
    // Told when it is stored: a person who hears of a gate may answer it at once.
    if (record.gate !== undefined) emit(open, { type: "gate", gate: record.gate });
    if (usage.inputTokens + usage.outputTokens > 0) emit(open, { type: "usage", usage: record.usage });
    if (final.status === "failed") {
      const { code, message } = final.error ?? { code: "failed", message: "The turn failed." };
      emit(open, { type: "failed", code, message, record });
    } else emit(open, { type: "done", status: final.status, record });
    if (next !== undefined && next !== node.id) relay.wake(writer.thread, next);
    return record;
  }

  /** Runs an open turn to its end. */
  async function execute(open: OpenTurn): Promise<void> {
    const { turn, beginning, scopes, writer, stopper } = open;
    const observer = parts.observers.turn(turn, writer);
    const settings = await parts.settings();
    // A turn may take as long as it needs while something happens; this much silence ends it.
    const { turnIdleSecs: idleSecs } = settings;
    const silence = `Nothing happened for ${idleSecs} s, so the turn was stopped.`;
    const stopIdle = () => stopper.abort(new Fault("turn", "turn_timeout", silence));
    const idle = setTimeout(stopIdle, idleSecs * 1000);
    const running = runner.open(
      { turn, scopes, writer, settings },
      {
        signal: stopper.signal,
        emit: (event) => emit(open, event),
        alive: () => void idle.refresh(),
        observer,
      },
    );
    let ending: Ending;
    try {
      await running.begin();
      stopper.signal.throwIfAborted();
      // A message that waited in line may find that the turn before it has opened a gate.
      const isLate = open.hasToWait && turn.input.type === "message";
      const gate = isLate ? (await ledger.thread(turn.user, writer.thread))?.gate : undefined;
      if (gate && (turn.after === undefined || turn.after === gate.turn)) throw gatePending(gate);
      if (beginning.items.length > 0) await writer.put(...beginning.items);
      ending = withoutQuestion(turn, await running.loop(beginning));
    } catch (error) {
      ending = endingOf(error, stopper.signal, log);
    }
    clearTimeout(idle);
    const record = await close(open, ending, running);
    observer.ended(record);
    if (!settings.chatTitles) return;
    const named = entitle(open, record, observer).finally(() => titling.delete(named));
    titling.add(named);
  }

  /** The turn has ended; the next one does not wait for this. */
  async function entitle(open: OpenTurn, record: TurnRecord, observer: TurnObserver): Promise<void> {
    const title = await parts.entitle(open, record, observer, stopTitling.signal);
    if (title === undefined) return;
    const place = { id: record.id, thread: record.thread };
    const event: TurnEvent = { type: "titled", title };
    watchers.tell(record.user, event, place);
    relay.send(record.user, place, LAST_WORD, event);
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
    for (const turn of await ledger.askedToStop()) cancelHere(turn);
  }

  function cancelHere(turn: string): void {
    const entry = active.get(turn);
    if (entry !== undefined) cancel(entry);
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
    return await openAs(id, turn, alongside).finally(() => beginning.delete(id));
  }

  async function openAs(id: string, given: Turn, alongside: Alongside | undefined): Promise<TurnStream> {
    const size = isNewText(given) ? sizeOf(given) : 0;
    await giveWay(size);
    if (size > 0) await parts.storage.take(given.user, size);
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
    await giveWay(size);
    try {
      await remember(turn.user, opened.beginning);
    } catch (error) {
      // It is open already: its end tells the caller.
      entry.stopper.abort(error);
    }
    if (hasToWait && !entry.stopper.signal.aborted) lanes.join(writer.thread, entry);
    else start(entry);
    return stream;
  }

  /** Ends every turn that was taken before, also one that still waits in line: what it may use was judged when it came. */
  async function interrupt(): Promise<void> {
    await Promise.allSettled([...opening]);
    for (const entry of [...active.values()]) cancel(entry, STOPPED);
    await Promise.allSettled([...ends]);
  }

  function stop(): Promise<void> {
    stopped ??= stopAll();
    return stopped;
  }

  async function stopAll(): Promise<void> {
    isDraining = true;
    clearInterval(looking);
    stopTitling.abort();
    while (opening.size + ends.size > 0) await interrupt();
    await Promise.allSettled([...titling]);
    await saving.stop();
    await relay.stop();
  }

  return {
    async run(turn, alongside) {
      if (isDraining)
        throw new Fault("unavailable", "stopping", "The service is stopping.", { retryAfterSecs: 5 });
      assertReadable(turn);
      const opened = open(turn, alongside);
      opening.add(opened);
      return await opened.finally(() => opening.delete(opened));
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
      while (opening.size + active.size + ends.size + titling.size > 0) await sleep(DRAIN_LOOK_MS);
    },

    stop,

    extend(extension) {
      const remove = extensions.add(extension);
      return async () => {
        remove();
        await interrupt();
      };
    },
  };
}

/** An answer at a gate is short, and the turn that waits for it may come to its end. */
const isNewText = ({ input, ephemeral, isCounted }: Turn): boolean =>
  !ephemeral && !isCounted && (input.type === "message" || input.type.startsWith("tool_output"));

function sizeOf({ input, history, instructions, context, outside, tools, attached = [] }: Turn): number {
  const told = JSON.stringify([input, history, instructions, context, outside, tools]);
  return attached.reduce((sum, { data }) => sum + data.byteLength, Buffer.byteLength(told));
}

/** Refused before it is stored: no model's window takes a longer one. */
function assertReadable({ input, instructions = "", instructionsOnce = "", history = [] }: Turn): void {
  const said = input.type === "message" ? input.text.length : 0;
  const lengths = history.map((item) => (item.type === "message" ? item.text.length : 0));
  const own = said + instructions.length + instructionsOnce.length;
  if (lengths.reduce((longest, length) => Math.max(longest, length), own) <= MAX_MESSAGE_LENGTH) return;
  const words = `A message may have at most ${MAX_MESSAGE_LENGTH} characters, with its instructions. Send the text as a file, or in parts.`;
  throw new Fault("invalid", "message_too_long", words, { param: "message" });
}
