/** The stream of a response, numbered: of a turn that runs here, that runs on another node, or that has ended. */
import type { RunningTurn, Services, TurnEvent } from "../../../kernel/plugin.ts";
import { turnEnd } from "./ending.ts";
import type { Sequence } from "./sequence.ts";
import type { StreamEvent } from "./wire.ts";

/** An event as it is sent. */
export type NumberedEvent = StreamEvent & { readonly sequence_number: number };

interface Turns {
  readonly agent: Services["agent"];
  readonly threads: Services["threads"];
}

interface TurnToFollow {
  readonly user: string;
  readonly id: string;
  readonly running: RunningTurn | undefined;
}

export interface Followed {
  /** When it has begun; nothing where it never will. */
  begun(): Promise<TurnToFollow | undefined>;
  /** A fresh one: what was told can be told again from the first event on. */
  sequence(): Sequence;
  /** What is told where there is no such turn, or no longer. */
  gone(): Promise<StreamEvent>;
}

/**
 * The events after this number. The last is always told, so that everybody learns how it ended. A turn that keeps its
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
  // Nobody tells it any more, or not all of it: what is stored does.
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

/** Ends without the turn's end where its events cannot be had from the first one on, or some were lost. */
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
