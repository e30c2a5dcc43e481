/**
 * What a turn is just thinking and saying, piece by piece: stored before anybody hears it, so that a crash takes back
 * nothing that was streamed. When it is whole it becomes an item, and its pieces go.
 */
import type { Queries, Transaction, TurnItem } from "../../../../kernel/plugin.ts";
import type { OwnTurn } from "./items.ts";

export interface Piece {
  readonly item: string;
  readonly text: string;
  /** Null for text that was said. */
  readonly type: string | null;
  /** A JSON array: how long each delta in it is, where the turn keeps them. */
  readonly cuts: string | null;
}

const READ = "SELECT item, text, type, cuts FROM turn_pieces WHERE turn = ? ORDER BY seq";

/** Keeps nothing for a turn that is gone with its thread, or that another node has taken over. */
export function addPiece(
  tx: Transaction,
  { id, node }: OwnTurn,
  { item, text, type, cuts }: Piece,
): Promise<number> {
  return tx.run(
    `INSERT INTO turn_pieces (turn, item, text, type, cuts)
     SELECT id, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT) FROM turns WHERE id = ? AND node = ?`,
    item,
    text,
    type,
    cuts,
    id,
    node,
  );
}

/** The items as far as they have been told; none where none is under way. */
export async function readPieces(queries: Queries, turn: string): Promise<readonly TurnItem[]> {
  return itemsOf(await queries.all<Piece>(READ, turn));
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
