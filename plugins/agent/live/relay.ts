/**
 * Brings the events of turns that run here to the nodes where somebody watches, and theirs to our watchers. Events of a
 * turn are numbered: each is told once and in order, or the watchers are told that some were lost.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Log, reason, type TurnEvent } from "../../../kernel/plugin.ts";
import type { Node, Signals } from "../../store/services.ts";
import type { OwnTurn } from "../threads/turns/items.ts";

export interface TurnPlace {
  readonly id: string;
  readonly thread: string;
}

export interface RelayParts {
  readonly node: Node;
  readonly signals: Signals;
  readonly log: Log;
  /** The turns of a user that run here, with everything they have told so far. */
  running(user: string): Iterable<TurnPlace & { readonly events: readonly TurnEvent[] }>;
  tell(user: string, event: TurnEvent, turn: TurnPlace): void;
  lost(user: string): void;
  /** Another node wants a turn stopped that runs here. */
  stop(turn: string): void;
  /** A turn of this thread has ended on another node. */
  wake(thread: string): void;
}

interface Frame {
  readonly user: string;
  readonly turn: TurnPlace;
  readonly n: number;
  readonly event: TurnEvent;
}

interface Message {
  readonly from: string;
  readonly hello?: true;
  readonly watch?: readonly string[];
  readonly unwatch?: string;
  readonly frames?: readonly Frame[];
  readonly stop?: string;
  readonly wake?: string;
}

const ALL = "turns";
const ofNode = (id: string) => `turns of ${id}`;

/** The end of a turn whose node is gone. */
export const LAST_WORD = 0;

// Turns that have ended are remembered for a while: a late copy of their events must not begin them anew.
const ENDED_REMEMBERED = 10_000;

const FRAME_TRIES = 5;
const RETRY_MS = 500;

export function createRelay(parts: RelayParts) {
  const { node, signals, log, running, tell, lost } = parts;
  /** For each user the other nodes where somebody watches. */
  const elsewhere = new Map<string, Set<string>>();
  const watched = new Set<string>();
  /** The number of the last event of each turn of another node. */
  const heard = new Map<string, { readonly user: string; readonly n: number }>();
  /** Turns that are to be sent again from their first event, and whose they are. */
  const awaited = new Map<string, string>();
  const ended = new Set<string>();
  const outbox = new Map<string, Frame[]>();
  let sending: Promise<unknown> = Promise.resolve();

  function post(topic: string, message: Omit<Message, "from">, tries = 1): void {
    const text = JSON.stringify({ from: node.id, ...message });
    const sent = sendAgain(topic, text, tries).catch((error) =>
      log.warn(`other nodes could not be told of turns: ${reason(error)}`),
    );
    sending = Promise.all([sending, sent]);
  }

  async function sendAgain(topic: string, text: string, tries: number): Promise<void> {
    for (let left = tries; ; left--) {
      try {
        return await signals.send(topic, text);
      } catch (error) {
        if (left <= 1) throw error;
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  function flush(): void {
    // Nothing would follow the end of a turn to show that it is missing. What comes twice is told once.
    for (const [to, frames] of outbox) post(ofNode(to), { frames }, FRAME_TRIES);
    outbox.clear();
  }

  function put(to: string, frame: Frame): void {
    // Events of one moment travel together.
    if (outbox.size === 0) setImmediate(flush);
    const frames = outbox.get(to) ?? [];
    outbox.set(to, frames);
    frames.push(frame);
  }

  function addWatcher(from: string, user: string): void {
    const nodes = elsewhere.get(user) ?? new Set();
    elsewhere.set(user, nodes.add(from));
    for (const { id, thread, events } of running(user))
      for (const [at, event] of events.entries()) put(from, { user, turn: { id, thread }, n: at + 1, event });
  }

  function dropWatcher(from: string, user: string): void {
    const nodes = elsewhere.get(user);
    nodes?.delete(from);
    if (nodes?.size === 0) elsewhere.delete(user);
  }

  function hear({ user, turn, n, event }: Frame): void {
    // It comes after the end of its turn, and nothing else depends on it.
    const isTitle = event.type === "titled";
    if (!watched.has(user) || (ended.has(turn.id) && !isTitle)) return;
    if (isTitle) return void tell(user, event, turn);
    const last = heard.get(turn.id)?.n ?? 0;
    const isNext = n === last + 1 || n === LAST_WORD;
    if (!isNext) {
      // Less was told already; more comes again with what is missing.
      if (n > last && !awaited.has(turn.id)) loseTouch(user, turn.id);
      return;
    }
    awaited.delete(turn.id);
    heard.set(turn.id, { user, n });
    if (event.type === "done" || event.type === "failed") forgetTurn(turn.id);
    tell(user, event, turn);
  }

  function forgetTurn(turn: string): void {
    heard.delete(turn);
    if (ended.size >= ENDED_REMEMBERED) ended.clear();
    ended.add(turn);
  }

  /** The user's watchers begin anew, and the other nodes send their running turns whole. */
  function loseTouch(user: string, turn: string): void {
    lost(user);
    awaited.set(turn, user);
    for (const [id, known] of heard) {
      if (known.user !== user) continue;
      heard.delete(id);
      awaited.set(id, user);
    }
    if (watched.has(user)) post(ALL, { watch: [user] });
  }

  /** Signals were missed, or other nodes have dropped our watchers: everybody begins anew. */
  function beginAnew(): void {
    heard.clear();
    awaited.clear();
    for (const user of watched) lost(user);
    post(ALL, { hello: true, watch: [...watched] });
  }

  /** Nobody here watches: nothing more comes that would end what is remembered. */
  function forgetUser(user: string): void {
    for (const [id, known] of heard) if (known.user === user) heard.delete(id);
    for (const [id, whose] of awaited) if (whose === user) awaited.delete(id);
  }

  const receive = (payload: string): void => {
    const { from, hello, watch, unwatch, frames, stop, wake } = JSON.parse(payload) as Message;
    if (from === node.id) return;
    if (hello && watched.size > 0) post(ofNode(from), { watch: [...watched] });
    for (const user of watch ?? []) addWatcher(from, user);
    if (unwatch !== undefined) dropWatcher(from, unwatch);
    for (const frame of frames ?? []) hear(frame);
    if (stop !== undefined) parts.stop(stop);
    if (wake !== undefined) parts.wake(wake);
  };

  const undos = [
    signals.listen(ALL, receive),
    signals.listen(ofNode(node.id), receive),
    signals.onLost(beginAnew),
    node.onDead((id) => {
      if (id === node.id) beginAnew();
      for (const user of [...elsewhere.keys()]) dropWatcher(id, user);
    }),
  ];
  post(ALL, { hello: true });

  return {
    /** Says to all nodes whether somebody here watches the turns of this user. */
    watch(user: string, isWatched: boolean): void {
      if (isWatched) watched.add(user);
      else {
        watched.delete(user);
        forgetUser(user);
      }
      post(ALL, isWatched ? { watch: [user] } : { unwatch: user });
    },
    /** Event number `n` of a turn that runs here; 0 is the end of one whose node is gone. */
    send(user: string, turn: TurnPlace, n: number, event: TurnEvent): void {
      for (const to of elsewhere.get(user) ?? []) put(to, { user, turn, n, event });
    },
    stopTurn: ({ id, node }: OwnTurn) => post(ofNode(node), { stop: id }),
    /** Tells a node that a turn of this thread has ended, or all of them. */
    wake: (thread: string, to?: string) => post(to === undefined ? ALL : ofNode(to), { wake: thread }),
    async stop(): Promise<void> {
      for (const undo of undos) undo();
      flush();
      await sending;
    },
  };
}
