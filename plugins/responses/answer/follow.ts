/** The events and the end of a turn that another node runs. */
import { EventEmitter, on } from "node:events";
import type { Services, TurnEvent, TurnRecord } from "../../../kernel/plugin.ts";

type Turns = Pick<Services, "agent" | "threads">;

interface TurnToFollow {
  readonly user: string;
  readonly id: string;
}

/** Ends before the turn does when its events were not received from the first one, or some were lost. */
export async function* runningElsewhere(
  turns: Turns,
  { user, id }: TurnToFollow,
): AsyncGenerator<TurnEvent, void> {
  const turn = new EventEmitter();
  const heard = on(turn, "event", { close: ["cut"] });
  const cut = () => void turn.emit("cut");
  const unwatch = turns.agent.watch(
    user,
    (event, { id: its }) => its === id && turn.emit("event", event),
    cut,
  );
  try {
    void turnEnd(turns, { user, id }).then(cut, cut);
    let isFirst = true;
    for await (const [event] of heard as AsyncIterable<[TurnEvent]>) {
      if (isFirst && event.type !== "started") return;
      isFirst = false;
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
  { agent, threads }: Turns,
  { user, id }: TurnToFollow,
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
