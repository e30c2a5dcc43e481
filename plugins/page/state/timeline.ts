/** The turns of the open thread, oldest first, combined from stored pages and from frames. Pure. */

import { fromTurn, isOver, reconcile, type TurnView } from "./turn-view.ts";
import type { TurnPage, TurnVersions } from "./wire.ts";

export interface Timeline {
  readonly turns: readonly TurnView[];
  /** The cursor of the page before the first turn; undefined at the beginning of the thread. */
  readonly earlier: string | undefined;
  /** The versions of the turns that have several. */
  readonly versions: ReadonlyMap<string, Versions>;
}

export type Versions = TurnVersions["versions"];

export const EMPTY: Timeline = { turns: [], earlier: undefined, versions: new Map() };

const versionsIn = (page: TurnPage) => page.versions.map((each) => [each.turn_id, each.versions] as const);

/** Stored turns win; turns that are known only from frames, and earlier pages, are kept. */
export function withNewest({ turns, earlier, versions }: Timeline, page: TurnPage): Timeline {
  const shown = new Map(turns.map((turn) => [turn.id, turn]));
  const stored = page.turns.map(fromTurn).map((turn) => reconcile(turn, shown.get(turn.id)));
  // A message that waited may be a part of a turn by now.
  const known = new Set(stored.flatMap(({ id, pieces }) => [id, ...pieces.map((piece) => piece.id)]));
  const overlap = turns.findIndex(({ id }) => known.has(id));
  let end = stored.at(-1)?.id ?? null;
  const unknown = turns.slice(Math.max(overlap, 0)).filter(({ id, after = end }) => {
    // A turn that continues another one belongs to another branch.
    if (known.has(id) || (after !== end && end !== null)) return false;
    end = id;
    return true;
  });
  // More happened than a page holds, so turns are missing between the shown ones and this page.
  const isTornOff = overlap === -1 && page.next !== null;
  const before = turns.slice(0, Math.max(overlap, 0));
  return {
    turns: [...before, ...stored, ...(isTornOff ? unknown.filter((turn) => !isOver(turn)) : unknown)],
    earlier: before.length > 0 ? earlier : (page.next ?? undefined),
    versions: new Map([...versions, ...versionsIn(page)]),
  };
}

/** Shows another path of the thread, and keeps what frames know better of its turns. */
export function withPath({ turns }: Timeline, page: TurnPage): Timeline {
  const shown = new Map(turns.map((turn) => [turn.id, turn]));
  return {
    turns: page.turns.map((turn) => reconcile(fromTurn(turn), shown.get(turn.id))),
    earlier: page.next ?? undefined,
    versions: new Map(versionsIn(page)),
  };
}

/** The new turn replaces `inPlaceOf` and all turns after it, or comes last. */
export function withSent({ turns }: Timeline, sent: TurnView, inPlaceOf?: string): readonly TurnView[] {
  const at = inPlaceOf === undefined ? -1 : turns.findIndex(({ id }) => id === inPlaceOf);
  const before = (at === -1 ? turns : turns.slice(0, at)).filter(({ id }) => id !== sent.id);
  const known = turns.find(({ id }) => id === sent.id);
  const after = at === -1 ? before.at(-1)?.id : turns[at]?.after;
  return [...before, { ...sent, ...known, after: known?.after ?? after ?? null }];
}

export function withEarlier({ turns, versions }: Timeline, page: TurnPage): Timeline {
  return {
    turns: [...page.turns.map(fromTurn), ...turns],
    earlier: page.next ?? undefined,
    versions: new Map([...versions, ...versionsIn(page)]),
  };
}
