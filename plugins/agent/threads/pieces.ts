/**
 * The message a turn is just saying, piece by piece: stored before anybody hears it, so that a crash takes back
 * nothing that was streamed. When the message is whole it becomes an item, and its pieces go.
 */
import type { Queries, Transaction, TurnItem } from "../../../kernel/plugin.ts";
import type { OwnTurn } from "./items.ts";

export interface Piece {
  readonly item: string;
  readonly text: string;
}

const READ = "SELECT item, text FROM turn_pieces WHERE turn = ? ORDER BY seq";

/** Of a turn that has gone with its thread, or to another node, nothing is kept. */
export function addPiece(tx: Transaction, { id, node }: OwnTurn, { item, text }: Piece): Promise<number> {
  return tx.run(
    "INSERT INTO turn_pieces (turn, item, text) SELECT id, CAST(? AS TEXT), CAST(? AS TEXT) FROM turns WHERE id = ? AND node = ?",
    item,
    text,
    id,
    node,
  );
}

/** The message as far as it has been said; undefined where none is under way. */
export async function readPieces(queries: Queries, turn: string): Promise<TurnItem | undefined> {
  return messageOf(await queries.all<Piece>(READ, turn));
}

export function dropPieces(tx: Transaction, turn: string): Promise<number> {
  return tx.run("DELETE FROM turn_pieces WHERE turn = ?", turn);
}

export function messageOf(pieces: readonly Piece[]): TurnItem | undefined {
  const [first] = pieces;
  if (first === undefined) return undefined;
  return {
    type: "message",
    id: first.item,
    role: "assistant",
    text: pieces.map(({ text }) => text).join(""),
    pieces: pieces.map(({ text }) => text.length),
  };
}
