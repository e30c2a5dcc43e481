/** The agent as channels know it: `take` and `perform` say how a turn is admitted, opened on disk, run and closed. */
import { randomUUIDv7 } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { giveWay, oneAtATime } from "../../kernel/kit/concurrency.ts";
import { currentTraceparent } from "../../kernel/kit/http.ts";
import { isCutShort } from "../../kernel/kit/turns.ts";
import { Fault, type ModelName, reason, type TurnRecord } from "../../kernel/plugin.ts";
import type { Node, Signals } from "../store/services.ts";
import { createBroadcast } from "./live/broadcast.ts";
import { createHandover, type Taken } from "./live/handover.ts";
import { createTurnStream, type OpenTurn, type TurnStream } from "./live/stream.ts";
import type { Agent, Alongside, Turn } from "./services.ts";
import type { TurnSettings } from "./settings.ts";
import { STOPPED, TAKEN_OVER } from "./threads/end.ts";
import { CUT_SHORT, type Ledger, type LedgerTurn, type TakenOver } from "./threads/ledger.ts";
import { isKept } from "./threads/queued.ts";
import type { Beginning } from "./threads/resume.ts";
import { createUnsavedEnds } from "./threads/writing/unsaved-ends.ts";
import type { Admit } from "./turn/admission.ts";
import { createLanes } from "./turn/lanes.ts";
import { type RunParts, runTurn } from "./turn/run.ts";
import { endEvents, storeEnd } from "./turn/stored-end.ts";
import type { Titles } from "./turn/titles.ts";

export interface AgentParts extends RunParts {
  readonly ledger: Ledger;
  settings(): Promise<TurnSettings>;
  readonly node: Node;
  readonly signals: Signals;
  readonly admit: Admit;
  readTurn(user: string, turn: string): Promise<TurnRecord | undefined>;
  /** Called with a thread whose stored turns have changed behind the back of those that read them. */
  forget(thread: string): void;
  /** Keeps what the person said at a gate about later calls. */
  remember(user: string, answer: Pick<Beginning, "remember" | "trusted">): Promise<void>;
  readonly titles: Titles;
}

export interface RunningAgent
  extends Pick<Agent, "run" | "running" | "cancel" | "takeBack" | "watch" | "model" | "extend" | "resume"> {
  /** Once `resume` was called: gets turns into line that were waiting on a node that is gone. */
  takeWaiting(): Promise<void>;
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

const WAITS_ON = new Fault(
  "unavailable",
  "stopping",
  "The service stopped before this turn began. It runs when the service has started again.",
);
// How soon a node hears of what others want of its turns if a signal was missed.
const LOOK_MS = 1000;
const DRAIN_LOOK_MS = 100;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function createAgent(parts: AgentParts): RunningAgent {
  const { ledger, models, node, log, forget, titles } = parts;
  const active = new Map<string, OpenTurn>();
  /** The turns that have taken messages which wait here, as far as begin has found out. */
  const takers = new WeakMap<OpenTurn, string>();
  const taking = new Set<{ readonly id: string; readonly taken: Promise<unknown> }>();
  const ends = new Set<Promise<void>>();
  const lanes = createLanes(begin, start, ({ writer }: OpenTurn) => writer.seq);
  const unsaved = createUnsavedEnds((thread) => {
    forget(thread);
    void lanes.wake(thread);
    // What the turn had taken waits in line again only now. If it cannot be read, the next look tries.
    void takeWaiting().catch(() => {});
  });
  const handover = createHandover(parts.readTurn);
  const broadcast = createBroadcast({
    ...{ node, signals: parts.signals, log, active },
    stop: cancelHere,
    wake: (thread) => void lanes.wake(thread),
  });
  // Signals may be missed; what they would have said is in the store.
  const looking = setInterval(() => {
    if (active.size > 0 || handover.isFollowing || isUnread)
      void look().catch((error) => log.warn(`could not check for turns to start or stop: ${reason(error)}`));
  }, LOOK_MS).unref();
  let isDraining = false;
  /** True if what waits could not be read the last time. */
  let isUnread = false;
  /** Turns that wait are begun from here on by whoever starts next; undefined before `resume`. */
  let isParking: boolean | undefined;
  let stopped: Promise<void> | undefined;

  /** From a request to a turn on disk, which runs as soon as it is the first of its thread. */
  async function take(id: string, given: Turn, alongside: Alongside | undefined): Promise<TurnStream> {
    const { turn, model, size } = await parts.admit(given);
    const trace = turn.work?.trace ?? { parent: currentTraceparent() };
    const options = { isIdGiven: turn.id !== undefined, alongside };
    const opened = await openAfter({ ...turn, work: { ...turn.work, trace }, id }, model, options);
    const open = hold(opened);
    await giveWay(size);
    try {
      await parts.remember(turn.user, opened.beginning);
    } catch (error) {
      // It is open already: its end tells the caller.
      open.stopper.abort(error);
    }
    if (opened.hasToWait && !open.stopper.signal.aborted) wait(open);
    else start(open);
    return open.stream;
  }

  function hold(opened: LedgerTurn): OpenTurn {
    const { id, thread, gone } = opened.writer;
    const stream = createTurnStream(id, thread, () => cancel(open));
    const open: OpenTurn = { ...opened, stream, stopper: new AbortController() };
    active.set(id, open);
    // Deleted or taken over by another node, or deleted in the moment before it was known here.
    void gone.then((why) => open.stopper.abort(why));
    return open;
  }

  function wait(open: OpenTurn): void {
    lanes.join(open.writer.thread, open);
    if (isParking) park(open);
  }

  // One at a time: of a turn that was found twice, one would end as taken over while the other runs.
  const takeWaiting = oneAtATime(async () => {
    if (isParking !== false || isDraining) return;
    // One of these may end while the others are read, and is not left waiting.
    const known = new Set(active.keys());
    isUnread = true;
    const waiting = await ledger.waiting((turn) => known.has(turn) || isOurs(turn));
    isUnread = false;
    if (isDraining) return;
    if (waiting.length > 0) log.info({ turns: waiting.length }, "messages that were left waiting run now");
    for (const opened of waiting) wait(hold(opened));
  });

  /** Leaves a turn that waits to whoever starts next. */
  function park(open: OpenTurn): void {
    const { id, thread } = open.writer;
    if (!isKept(open.turn) || !lanes.leave(thread, open)) return;
    active.delete(id);
    open.stream.leave(WAITS_ON);
  }

  const isOurs = (turn: string) =>
    active.has(turn) || [...taking].some(({ id }) => id === turn) || unsaved.has(turn);

  /** What was said after a message that a turn has taken was said after that turn. */
  async function openAfter(...[turn, model, options]: Parameters<Ledger["open"]>) {
    try {
      return await ledger.open(turn, model, options);
    } catch (error) {
      const isUnknown = error instanceof Fault && error.code === "turn_not_found" && error.param === "after";
      const after = isUnknown ? await ledger.takerOf(turn.after as string) : undefined;
      if (after === undefined) throw error;
      return await ledger.open({ ...turn, after }, model, options);
    }
  }

  function start(open: OpenTurn): void {
    const { id: turn, thread } = open.writer;
    const taker = takers.get(open);
    if (taker !== undefined) {
      handOver(open, taker);
      return;
    }
    const end = perform(open)
      .catch((error) => log.error({ error, turn, thread }, "a turn ended with an error"))
      .then(() => {
        ends.delete(end);
        void lanes.wake(thread);
      });
    ends.add(end);
  }

  /** A message that waited here is in a turn now, perhaps of another node. */
  function handOver(open: OpenTurn, taker: string): void {
    const { id, thread } = open.writer;
    lanes.leave(thread, open);
    active.delete(id);
    const by = active.get(taker);
    const told = by?.stream.events.find(
      (event): event is Taken => event.type === "taken" && event.message === id,
    );
    // Found in the store a moment before the turn that took it heard that it had.
    if (by === undefined || told === undefined) handover.giveAway(open, taker);
    else handover.give(open, told, by);
    void lanes.wake(thread);
  }

  async function perform(open: OpenTurn): Promise<void> {
    const { writer } = open;
    const settings = await parts.settings();
    const ran = await runTurn(parts, open, settings, (event) => {
      broadcast.emit(open, event);
      if (event.type !== "taken") return;
      const waiting = active.get(event.message);
      if (waiting === undefined) broadcast.wake(writer.thread);
      else handOver(waiting, writer.id);
    });
    const stored = await storeEnd(writer, ran.ending, ran.usage, { unsaved, log });
    active.delete(writer.id);
    for (const event of endEvents(stored, ran.usage)) broadcast.emit(open, event);
    const { record, next } = stored;
    if (next !== undefined && next !== node.id) broadcast.wake(writer.thread, next);
    ran.observer.ended(record);
    // What it had taken and not come to waits in line again.
    if (isCutShort(record)) await takeWaiting();
    if (settings.chatTitles)
      titles.add(open, record, ran.observer, (title) =>
        broadcast.tellAfterwards(record, { type: "titled", title }),
      );
  }

  /** Whether the first in line runs now: no earlier turn of its thread is open, on any node. */
  async function begin(open: OpenTurn): Promise<boolean> {
    const { turn, writer, stopper } = open;
    const isParked = () => isParking === true && isKept(turn);
    if (isParked()) return false;
    try {
      const begun = await writer.begin(models.name());
      const taker = begun === "gone" ? await ledger.takerOf(writer.id) : undefined;
      if (taker !== undefined) takers.set(open, taker);
      else if (begun === "gone") stopper.abort(await writer.gone);
      if (begun === "running" && isParked()) {
        await writer.putBack();
        return false;
      }
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
    if (isUnread) await takeWaiting();
    await handover.look();
    for (const turn of await ledger.askedToStop()) cancelHere(turn);
  }

  function cancelHere(turn: string): void {
    const open = active.get(turn);
    if (open !== undefined) cancel(open);
  }

  /** Tells the nodes that run them, and returns whether there was any. */
  async function stopElsewhere(turns: Parameters<Ledger["askToStop"]>[0]): Promise<boolean> {
    const asked = await ledger.askToStop(turns);
    for (const turn of asked) if (turn.node !== node.id) broadcast.stopTurn(turn);
    return asked.length > 0;
  }

  function cancel(open: OpenTurn, why?: Fault): void {
    open.stopper.abort(why);
    // One that still waits ends now, not when its turn would come.
    if (lanes.leave(open.writer.thread, open)) start(open);
  }

  /** Ends every turn that was taken before, also one that still waits in line: what it may use was judged when it came. */
  async function interrupt(): Promise<void> {
    await Promise.allSettled([...taking].map(({ taken }) => taken));
    for (const open of [...active.values()]) cancel(open, STOPPED);
    await Promise.allSettled([...ends]);
  }

  async function stopAll(): Promise<void> {
    isDraining = true;
    clearInterval(looking);
    titles.abort();
    handover.stop();
    while (taking.size + ends.size > 0) await interrupt();
    await titles.idle();
    await unsaved.stop();
    await broadcast.close();
  }

  return {
    async run(turn, alongside) {
      if (isDraining)
        throw new Fault("unavailable", "stopping", "The service is stopping.", { retryAfterSecs: 5 });
      const id = turn.id ?? randomUUIDv7();
      if (!UUID.test(id))
        throw new Fault("invalid", "bad_turn_id", "A turn id must be a UUID.", { param: "id" });
      const taken = take(id, turn, alongside);
      const entry = { id, taken };
      taking.add(entry);
      return await taken.finally(() => taking.delete(entry));
    },

    running(user, turn) {
      const open = active.get(turn);
      return open?.turn.user === user ? open.stream : undefined;
    },

    async cancel(user, turn) {
      const open = active.get(turn);
      if (open === undefined)
        return (await stopElsewhere({ user, id: turn })) || (await ledger.release(user, turn));
      if (open.turn.user !== user) return false;
      cancel(open);
      return true;
    },

    async takeBack(user, turn) {
      const thread = await ledger.takeBack(user, turn);
      if (thread === undefined) return false;
      const open = active.get(turn);
      if (open === undefined) {
        broadcast.wake(thread);
        return true;
      }
      lanes.leave(thread, open);
      active.delete(turn);
      const record: TurnRecord = { ...open.writer.record(), status: "cancelled" };
      broadcast.emit(open, { type: "done", status: "cancelled", record });
      return true;
    },

    watch: broadcast.watch,

    model: (): ModelName => models.name(),

    async cancelThread(thread) {
      for (const open of [...active.values()]) if (open.writer.thread === thread) cancel(open);
      await stopElsewhere({ thread });
      forget(thread);
    },

    isOurs,

    takeWaiting,

    async resume() {
      isParking = false;
      await takeWaiting();
      return async () => {
        isParking = true;
        for (const open of [...active.values()]) park(open);
        await lanes.settled();
      };
    },

    async closed(turn, record) {
      broadcast.tellAfterwards(turn, { type: "failed", ...CUT_SHORT, record });
      broadcast.wake(turn.thread);
      await lanes.wake(turn.thread);
    },

    abandon() {
      for (const open of [...active.values()]) cancel(open, TAKEN_OVER);
    },

    async drain() {
      isDraining = true;
      while (taking.size + active.size + ends.size > 0) await sleep(DRAIN_LOOK_MS);
      await titles.idle();
    },

    stop() {
      stopped ??= stopAll();
      return stopped;
    },

    extend(extension) {
      const remove = parts.extensions.add(extension);
      return async () => {
        remove();
        await interrupt();
      };
    },
  };
}
