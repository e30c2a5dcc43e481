/** A turn that has not ended, with everything it told so far: whoever opens its thread later sees it whole. */
import type { TurnEvent, TurnItem } from "../../kernel/plugin.ts";

export interface LiveTurn {
  readonly id: string;
  readonly thread: string;
  /** False where another channel began it. */
  readonly isOurs: boolean;
  readonly since: number;
  what: string;
  readonly events: TurnEvent[];
  /** The entry that shows an item. */
  readonly shown: Map<string, number>;
}

export function liveTurn(id: string, thread: string, isOurs: boolean): LiveTurn {
  return { id, thread, isOurs, since: Date.now(), what: "thinking", events: [], shown: new Map() };
}

export function keep({ events }: LiveTurn, event: TurnEvent): void {
  const last = events.at(-1);
  if (event.type === "text" && last?.type === "text" && last.item === event.item)
    events[events.length - 1] = { ...last, delta: last.delta + event.delta };
  else events.push(event);
}

/** Of what is stored of the turn, what its events do not tell: how it began. */
export function beginningOf({ events }: LiveTurn, items: readonly TurnItem[]): readonly TurnItem[] {
  const told = new Set(events.map((event) => ("item" in event ? event.item : undefined)));
  return items.filter(({ id }) => !told.has(id));
}
