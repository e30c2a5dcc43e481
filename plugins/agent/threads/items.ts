/** Items of turns as rows. A turn that has gone with its thread takes nothing more, which is no failure. */
import type { Transaction, TurnItem } from "../../../kernel/plugin.ts";

/** Adds the item, or replaces the one with its id. */
export function writeItem(tx: Transaction, turn: string, item: TurnItem): Promise<number> {
  return tx.run(
    `INSERT INTO turn_items (id, turn, body) SELECT CAST(? AS TEXT), id, CAST(? AS TEXT) FROM turns WHERE id = ?
     ON CONFLICT (id) DO UPDATE SET body = excluded.body`,
    item.id,
    JSON.stringify(item),
    turn,
  );
}
