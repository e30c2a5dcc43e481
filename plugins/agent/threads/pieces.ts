/**
 * The message a turn is just saying, piece by piece: on disk before anybody hears it, so that a crash takes back
 * nothing that was streamed. When the message is whole it becomes an item, and its pieces go.
 */
import type { SyncSql, TurnItem } from "../../../kernel/plugin.ts";

export interface Pieces {
  add(turn: string, item: string, text: string): void;
  /** The message as far as it has been said; undefined where none is under way. */
  read(turn: string): TurnItem | undefined;
  drop(turn: string): void;
}

export function createPieces(sql: SyncSql): Pieces {
  return {
    add: (turn, item, text) =>
      void sql.run("INSERT INTO turn_pieces (turn, item, text) VALUES (?, ?, ?)", turn, item, text),
    read(turn) {
      const rows = sql.all<{ item: string; text: string }>(
        "SELECT item, text FROM turn_pieces WHERE turn = ? ORDER BY seq",
        turn,
      );
      const [first] = rows;
      if (first === undefined) return undefined;
      const text = rows.map((row) => row.text).join("");
      return { type: "message", id: first.item, role: "assistant", text };
    },
    drop: (turn) => void sql.run("DELETE FROM turn_pieces WHERE turn = ?", turn),
  };
}
