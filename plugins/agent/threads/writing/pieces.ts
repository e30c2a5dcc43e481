/** What is told of a turn while it is said or thought, piece by piece. */
import type { TurnItem } from "../../../../kernel/plugin.ts";
import type { Piece } from "../turns/pieces.ts";

export interface Said {
  readonly item: string;
  readonly deltas: readonly string[];
  readonly type: "text" | "reasoning";
  tell(delta: string): void;
}

export interface Pieces {
  /** Remembers how long they are, where the turn wants that. */
  keep(said: readonly Said[]): readonly Said[];
  /** The item with the lengths of the pieces in which it was told. */
  with(item: TurnItem): TurnItem;
  /** What is stored of items that are not whole yet. */
  rows(said: readonly Said[]): readonly Piece[];
}

export function createPieces(isKept: boolean): Pieces {
  const lengths = new Map<string, number[]>();
  return {
    keep(said) {
      if (!isKept) return said;
      for (const { item, deltas } of said) {
        const known = lengths.get(item) ?? [];
        lengths.set(item, known);
        for (const { length } of deltas) known.push(length);
      }
      return said;
    },
    with(item) {
      const pieces = lengths.get(item.id);
      return isTold(item) && pieces ? { ...item, pieces: [...pieces] } : item;
    },
    rows: (said) =>
      [...Map.groupBy(said, ({ item }) => item)].map(([item, parts]) => {
        const deltas = parts.flatMap((part) => part.deltas);
        return {
          item,
          type: parts[0]?.type === "reasoning" ? "reasoning" : null,
          text: deltas.join(""),
          cuts: isKept ? JSON.stringify(deltas.map(({ length }) => length)) : null,
        };
      }),
  };
}

export function tellAll(said: readonly Said[]): void {
  for (const { deltas, tell } of said) for (const delta of deltas) tell(delta);
}

/** Whether it may have been told piece by piece. */
export function isTold(item: TurnItem): item is Extract<TurnItem, { type: "message" | "reasoning" }> {
  return item.type === "message" || item.type === "reasoning";
}
