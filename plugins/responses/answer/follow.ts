/** The numbered events of a response, whether its turn runs here, runs on another node, or has ended. */
import type { Agent, RunningTurn, Threads, TurnEvent, TurnRecord } from "../../../kernel/plugin.ts";
import type { StreamEvent } from "../wire/format.ts";
import type { Sequence } from "./sequence.ts";

export type NumberedEvent = StreamEvent & { readonly sequence_number: number };

interface Turns {
  readonly agent: Agent;
  readonly threads: Threads;
}

interface TurnToFollow {
  readonly user: string;
  readonly id: string;
  readonly running: RunningTurn | undefined;
}

export interface Followed {
  /** Resolves when the turn has begun; with undefined when it never will. */
  begun(): Promise<TurnToFollow | undefined>;
  /** Makes a fresh sequence, so that the events can be made again from the first one. */
  sequence(): Sequence;
  /** The last event when there is no such turn, or no longer. */
  gone(): Promise<StreamEvent>;
}

/**
 * The events after this number. The last one is always sent, so that every reader learns how the turn ended. A turn that keeps its
 * pieces has the same numbers whenever it is followed.
 */
export async function* follow(
  turns: Turns,
  followed: Followed,
  after = -1,
): AsyncGenerator<NumberedEvent, void> {
  let told = after;
  let next = 0;
  function* number(events: readonly StreamEvent[]): Generator<NumberedEvent> {
    for (const event of events) {
      const sequence_number = next++;
      if (sequence_number <= told) continue;
      told = sequence_number;
      yield { ...event, sequence_number };
    }
  }

  const sequence = followed.sequence();
  yield* number(sequence.open());
  const turn = await followed.begun();
  yield* number(turn ? sequence.begin() : []);
  for await (const event of turn?.running ?? (turn ? runningElsewhere(turns, turn) : [])) {
    const events = sequence.next(event);
    if (!("record" in event)) yield* number(events);
    else {
      yield* number(events.slice(0, -1));
      yield* last(events);
      return;
    }
  }
  // The live events have ended early, or were incomplete: the stored turn has all of them.
  const record = turn && (await turnEnd(turns, turn));
  const again = followed.sequence();
  const events = [
    ...again.open(),
    ...(record ? [...again.begin(), ...again.replay(record)] : [await followed.gone()]),
  ];
  next = 0;
  yield* number(events.slice(0, -1));
  yield* last(events);

  function* last(events: readonly StreamEvent[]): Generator<NumberedEvent> {
    const event = events.at(-1);
    if (event) yield { ...event, sequence_number: Math.max(next, told + 1) };
  }
}

/** Ends before the turn does when its events were not received from the first one, or some were lost. */
async function* runningElsewhere(turns: Turns, { user, id }: TurnToFollow): AsyncGenerator<TurnEvent, void> {
  const heard: TurnEvent[] = [];
  let isCut = false;
  let more = Promise.withResolvers<void>();
  const wake = () => {
    more.resolve();
    more = Promise.withResolvers();
  };
  const cut = () => {
    isCut = true;
    wake();
  };
  const unwatch = turns.agent.watch(
    user,
    (event, turn) => {
      if (turn.id !== id) return;
      heard.push(event);
      wake();
    },
    cut,
  );
  try {
    void turnEnd(turns, { user, id }).then(cut, cut);
    for (let next = 0; ; next++) {
      while (next >= heard.length) {
        if (isCut) return;
        await more.promise;
      }
      const event = heard[next] as TurnEvent;
      if (next === 0 && event.type !== "started") return;
      yield event;
      if ("record" in event) return;
    }
  } finally {
    unwatch();
  }
}

// The end is announced by an event, which can be missed.
const POLL_MS = 1000;

/** Resolves when the turn, which another node may run, has ended; with undefined when there is none. */
export async function turnEnd(
  { agent, threads }: { readonly agent: Agent; readonly threads: Threads },
  { user, id }: { readonly user: string; readonly id: string },
): Promise<TurnRecord | undefined> {
  let look = () => {};
  // It watches before the first look, so that an end in between is not missed.
  const unwatch = agent.watch(
    user,
    (event, turn) => {
      if (turn.id === id && "record" in event) look();
    },
    () => look(),
  );
  try {
    for (;;) {
      const told = Promise.withResolvers<void>();
      look = told.resolve;
      const record = await threads.turn(user, id);
      if (record?.status !== "queued" && record?.status !== "running") return record;
      const timer = setTimeout(look, POLL_MS).unref();
      await told.promise;
      clearTimeout(timer);
    }
  } finally {
    unwatch();
  }
}
