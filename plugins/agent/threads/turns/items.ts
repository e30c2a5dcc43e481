/**
 * Items of turns as rows. What a turn is just thinking and saying is stored piece by piece before anybody hears it, so that a
 * crash takes back nothing that was streamed; when it is whole it becomes an item, and its pieces go. A turn that has gone with
 * its thread, or that another node has taken over, takes nothing more, which is no failure.
 */
import type { Queries, Transaction, TurnItem } from "../../../../kernel/plugin.ts";

/** A turn and the node that it belongs to, as far as that node knows. */
export interface OwnTurn {
  readonly id: string;
  readonly node: string;
}

export interface Piece {
  readonly item: string;
  readonly text: string;
  /** Null for text that was said. */
  readonly type: string | null;
  /** A JSON array: how long each delta in it is, where the turn keeps them. */
  readonly cuts: string | null;
}

/** Adds the item, or replaces the one with its id. */
export const writeItem = (tx: Transaction, turn: OwnTurn, item: TurnItem): Promise<number> =>
  writeBody(tx, turn, item.id, JSON.stringify(item));

/** The same with the item as JSON, which takes a while to make of a long one. */
export function writeBody(
  tx: Transaction,
  { id, node }: OwnTurn,
  item: string,
  body: string,
): Promise<number> {
  const write = `INSERT INTO turn_items (id, turn, body) SELECT CAST(? AS TEXT), id, CAST(? AS TEXT) FROM turns
    WHERE id = ? AND node = ? ON CONFLICT (id) DO UPDATE SET body = excluded.body`;
  return tx.run(write, item, body, id, node);
}

export function addPiece(tx: Transaction, { id, node }: OwnTurn, piece: Piece): Promise<number> {
  const add = `INSERT INTO turn_pieces (turn, item, text, type, cuts)
    SELECT id, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT) FROM turns WHERE id = ? AND node = ?`;
  return tx.run(add, piece.item, piece.text, piece.type, piece.cuts, id, node);
}

/** The items as far as they have been told. */
export async function readPieces(queries: Queries, turn: string): Promise<readonly TurnItem[]> {
  const read = "SELECT item, text, type, cuts FROM turn_pieces WHERE turn = ? ORDER BY seq";
  return itemsOf(await queries.all<Piece>(read, turn));
}

export function dropPieces(tx: Transaction, turn: string): Promise<number> {
  return tx.run("DELETE FROM turn_pieces WHERE turn = ?", turn);
}

export function itemsOf(pieces: readonly Piece[]): readonly TurnItem[] {
  return [...Map.groupBy(pieces, ({ item }) => item)].map(([id, told]): TurnItem => {
    const text = told.map((piece) => piece.text).join("");
    const cuts = told.flatMap((piece) => (piece.cuts === null ? [] : (JSON.parse(piece.cuts) as number[])));
    const whole = { id, text, ...(cuts.length > 0 && { pieces: cuts }) };
    return told[0]?.type === "reasoning"
      ? { type: "reasoning", ...whole }
      : { type: "message", role: "assistant", ...whole };
  });
}
