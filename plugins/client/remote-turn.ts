/** A turn that runs in a service elsewhere, followed over the socket to its end. */
import type { TurnEvent, TurnRecord } from "../../kernel/plugin.ts";
import { Fault } from "../../kernel/plugin.ts";
import type { RunningTurn } from "../agent/services.ts";
import type { StartedTurn } from "../tui/services.ts";
import type { Events } from "./events.ts";

export interface RemoteTurnParts {
  readonly events: Events;
  start(): Promise<StartedTurn>;
  read(turn: string): Promise<TurnRecord | undefined>;
  cancel(turn: string): Promise<unknown>;
}

/** A service that is started again is back by then. */
const MAX_AWAY_MS = 60_000;
const LOOK_MS = 1000;

export async function followTurn({ events, start, read, cancel }: RemoteTurnParts): Promise<RunningTurn> {
  const { promise: record, resolve, reject } = Promise.withResolvers<TurnRecord>();
  // Not everybody who starts a turn waits for its end.
  record.catch(() => {});
  const heard: TurnEvent[] = [];
  /** What was told of each item, and since events were missed: from then on they are told again from the beginning. */
  const told = new Map<string, number>();
  let again = new Map<string, number>();
  let isOver = false;
  let wake = () => {};
  let away = 0;

  const end = () => {
    isOver = true;
    unwatch();
    clearInterval(timer);
    wake();
  };
  const hear = (event: TurnEvent): void => {
    const fresh = withoutTold(event, told, again);
    if (fresh) heard.push(fresh);
    if ("record" in event) {
      resolve(event.record);
      end();
    }
    wake();
  };
  const fail = (error: unknown) => {
    reject(error);
    end();
  };
  const readAgain = () => {
    again = new Map();
    // What still runs is told again; what ended meanwhile is not.
    read(id).then((found) => {
      if (isOver || found === undefined || isOpen(found)) return;
      for (const item of found.items)
        if (item.type === "message" && item.role === "assistant")
          hear({ type: "text", item: item.id, delta: item.text });
      hear(endOf(found));
    }, fail);
  };
  // What is heard before the id is known waits: it may be of this turn.
  let early: (() => void)[] | undefined = [];
  const onceKnown = (work: () => void) => {
    if (early) early.push(work);
    else work();
  };
  const unwatch = events.watch(
    (event, turn) =>
      onceKnown(() => {
        if (turn.id === id) hear(event);
      }),
    () => onceKnown(readAgain),
  );
  const timer = setInterval(() => {
    away = events.problem() === undefined ? 0 : away + LOOK_MS;
    if (away >= MAX_AWAY_MS) fail(new Fault("unavailable", "not_connected", events.problem() ?? ""));
  }, LOOK_MS);
  const { id, thread } = await start().catch((error: unknown) => {
    end();
    throw error;
  });
  const waiting = early;
  early = undefined;
  for (const work of waiting) work();

  return {
    id,
    thread,
    record,
    cancel: () => void cancel(id).catch(fail),
    async *[Symbol.asyncIterator]() {
      for (;;) {
        yield* heard.splice(0);
        if (heard.length > 0) continue;
        if (isOver) break;
        const { promise, resolve: next } = Promise.withResolvers<void>();
        wake = next;
        await promise;
      }
      await record;
    },
  };
}

/** Returns what of an event is new; undefined where it was told before. */
function withoutTold(
  event: TurnEvent,
  told: Map<string, number>,
  again: Map<string, number>,
): TurnEvent | undefined {
  const key = `${event.type} ${"item" in event ? event.item : ""}`;
  const length = event.type === "text" || event.type === "reasoning" ? event.delta.length : 1;
  const from = again.get(key) ?? 0;
  const known = told.get(key) ?? 0;
  again.set(key, from + length);
  if (from + length <= known) return undefined;
  told.set(key, from + length);
  return event.type === "text" || event.type === "reasoning"
    ? { ...event, delta: event.delta.slice(Math.max(0, known - from)) }
    : event;
}

const isOpen = ({ status }: TurnRecord) => status === "queued" || status === "running";

function endOf(record: TurnRecord): TurnEvent {
  if (record.status === "failed") return { type: "failed", code: "", message: "", ...record.error, record };
  return { type: "done", status: record.status, record } as TurnEvent;
}
