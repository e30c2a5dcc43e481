/** The pieces in which items are told before they are whole: kept until then, and counted. */
import type { Transaction, TurnItem } from "../../../../kernel/plugin.ts";
import { addPiece, dropPieces, type OwnTurn } from "../turns/items.ts";

/** Text of an item that is not whole yet, told when it is stored. */
export interface Said {
  readonly item: string;
  readonly deltas: readonly string[];
  readonly type: "text" | "reasoning";
  tell(delta: string): void;
}

export class Pieces {
  readonly #own: OwnTurn;
  readonly #keepsLengths: boolean;
  /** How long the pieces are in which each item was told, if the turn keeps that. */
  readonly #lengths = new Map<string, number[]>();
  /** Whether text of a message is stored that has not become an item yet. */
  isSpeaking = false;
  /** Whether no more of it can or shall be kept. */
  isMute: boolean;

  constructor(own: OwnTurn, keepsLengths: boolean, isMute: boolean) {
    this.#own = own;
    this.#keepsLengths = keepsLengths;
    this.isMute = isMute;
  }

  count(given: readonly Said[]): void {
    if (!this.#keepsLengths) return;
    for (const { item, deltas } of given) {
      const known = this.#lengths.get(item) ?? [];
      this.#lengths.set(item, known);
      for (const { length } of deltas) known.push(length);
    }
  }

  withLengths(item: TurnItem): TurnItem {
    const pieces = this.#lengths.get(item.id);
    return isTold(item) && pieces ? { ...item, pieces: [...pieces] } : item;
  }

  /** Items that become whole in the same step need not be kept. */
  write(tx: Transaction, given: readonly Said[], whole: readonly TurnItem[]) {
    const kept = this.isMute ? [] : given.filter(({ item }) => !whole.some(({ id }) => id === item));
    this.isSpeaking ||= kept.length > 0;
    return [...Map.groupBy(kept, ({ item }) => item)].map(([item, parts]) => {
      const deltas = parts.flatMap((part) => part.deltas);
      const type = parts[0]?.type === "reasoning" ? "reasoning" : null;
      const cuts = this.#keepsLengths ? JSON.stringify(deltas.map(({ length }) => length)) : null;
      return addPiece(tx, this.#own, { item, type, text: deltas.join(""), cuts });
    });
  }

  drop(tx: Transaction): void {
    if (this.isSpeaking) void dropPieces(tx, this.#own.id);
  }
}

/** Whether it may have been told piece by piece. */
export function isTold(item: TurnItem): item is Extract<TurnItem, { type: "message" | "reasoning" }> {
  return item.type === "message" || item.type === "reasoning";
}
