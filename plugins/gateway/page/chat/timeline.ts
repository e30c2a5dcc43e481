/** The turns of the open thread, oldest first, pieced together from the store's pages and from frames. Pure. */

import type { TurnPage } from "../wire.ts";
import { fromTurn, isOver, reconcile, type TurnView } from "./turn-view.ts";

export interface Timeline {
  readonly turns: readonly TurnView[];
  /** Where the page before the first turn begins; undefined at the beginning of the thread. */
  readonly earlier: string | undefined;
}

export const EMPTY: Timeline = { turns: [], earlier: undefined };

/** What the store has is the truth; a turn that only frames told of yet is kept, and so are earlier pages. */
export function withNewest({ turns, earlier }: Timeline, page: TurnPage): Timeline {
  const shown = new Map(turns.map((turn) => [turn.id, turn]));
  const stored = page.turns.map(fromTurn).map((turn) => reconcile(turn, shown.get(turn.id)));
  const known = new Set(stored.map(({ id }) => id));
  const overlap = turns.findIndex(({ id }) => known.has(id));
  const unknown = turns.slice(Math.max(overlap, 0)).filter(({ id }) => !known.has(id));
  // More happened than a page holds: between what was shown and this page turns are missing.
  const isTornOff = overlap === -1 && page.next !== null;
  const before = turns.slice(0, Math.max(overlap, 0));
  return {
    turns: [...before, ...stored, ...(isTornOff ? unknown.filter((turn) => !isOver(turn)) : unknown)],
    earlier: before.length > 0 ? earlier : (page.next ?? undefined),
  };
}

export function withEarlier({ turns }: Timeline, page: TurnPage): Timeline {
  return { turns: [...page.turns.map(fromTurn), ...turns], earlier: page.next ?? undefined };
}
