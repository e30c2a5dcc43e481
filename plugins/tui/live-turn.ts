/** A running turn with all its events so far, so that opening its thread later shows the whole turn. */
import type { TurnEvent, TurnItem } from "../../kernel/plugin.ts";

export interface LiveTurn {
  readonly id: string;
  readonly thread: string;
  /** False if another channel started it. */
  readonly isOurs: boolean;
  /** The message that began it, where it is ours. */
  readonly asked: string | undefined;
  readonly since: number;
  what: string;
  readonly events: TurnEvent[];
  /** The entry that shows each item, by item id. */
  readonly shown: Map<string, number>;
  /** What it began with is being read; its events wait for that. */
  isJoining: boolean;
  /** It was stopped along with others. */
  isOneOfSeveral?: boolean;
}

export function liveTurn(id: string, thread: string, isOurs: boolean, asked?: string): LiveTurn {
  return {
    id,
    thread,
    isOurs,
    asked,
    since: Date.now(),
    what: "thinking",
    events: [],
    shown: new Map(),
    isJoining: false,
  };
}

export function keep({ events }: LiveTurn, event: TurnEvent): void {
  const last = events.at(-1);
  if (event.type === "text" && last?.type === "text" && last.item === event.item)
    events[events.length - 1] = { ...last, delta: last.delta + event.delta };
  else events.push(event);
}

/** The stored items that no event covers, such as the message that started the turn. */
export function beginningOf({ events }: LiveTurn, items: readonly TurnItem[]): readonly TurnItem[] {
  const covered = new Set(events.map((event) => ("item" in event ? event.item : undefined)));
  return items.filter(({ id }) => !covered.has(id));
}
