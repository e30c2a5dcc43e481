/**
 * Items of turns as rows. A turn that has gone with its thread, or that another node has taken over, takes nothing
 * more, which is no failure.
 */
import type { Transaction, TurnItem } from "../../../../kernel/plugin.ts";

/** A turn and the node that it belongs to, as far as that node knows. */
export interface OwnTurn {
  readonly id: string;
  readonly node: string;
}

/** Adds the item, or replaces the one with its id. */
export function writeItem(tx: Transaction, { id, node }: OwnTurn, item: TurnItem): Promise<number> {
  return tx.run(
    `INSERT INTO turn_items (id, turn, body) SELECT CAST(? AS TEXT), id, CAST(? AS TEXT) FROM turns
     WHERE id = ? AND node = ?
     ON CONFLICT (id) DO UPDATE SET body = excluded.body`,
    item.id,
    JSON.stringify(item),
    id,
    node,
  );
}
