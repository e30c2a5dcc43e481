/** A running turn with all its events so far, so that opening its thread later shows the whole turn. */
import type { TurnEvent, TurnItem } from "../../../kernel/plugin.ts";

export interface LiveTurn {
  readonly id: string;
  readonly thread: string;
  /** False if another channel started it. */
  readonly isOurs: boolean;
  /** The message that began it, if it is ours. */
  readonly asked: string | undefined;
  /** The entry that shows this message. */
  readonly entry: number | undefined;
  readonly since: number;
  what: string;
  readonly events: TurnEvent[];
  /** The entry that shows each item, by item id. */
  readonly shown: Map<string, number>;
  /** True while its first items are read from the store; its events wait for them. */
  isJoining: boolean;
  /** True if it was cancelled together with others. */
  isOneOfSeveral?: boolean;
}

export function createLiveTurn(
  id: string,
  thread: string,
  sent?: Partial<Pick<LiveTurn, "asked" | "entry">>,
): LiveTurn {
  const beginning = { since: Date.now(), what: "thinking", events: [], shown: new Map(), isJoining: false };
  return { id, thread, isOurs: sent !== undefined, asked: sent?.asked, entry: sent?.entry, ...beginning };
}

/** Joins consecutive deltas of the same text or thought. */
export function recordEvent({ events }: LiveTurn, event: TurnEvent): void {
  const last = events.at(-1);
  const isText = event.type === "text" || event.type === "reasoning";
  if (isText && last?.type === event.type && last.item === event.item)
    events[events.length - 1] = { ...last, delta: last.delta + event.delta };
  else events.push(event);
}

/** Returns the stored items that no event covers, such as the message that started the turn. */
export function itemsBeforeEvents({ events }: LiveTurn, items: readonly TurnItem[]): readonly TurnItem[] {
  const covered = new Set(
    events.map((event) => ("item" in event ? event.item : event.type === "taken" && event.message)),
  );
  return items.filter(({ id }) => !covered.has(id));
}
