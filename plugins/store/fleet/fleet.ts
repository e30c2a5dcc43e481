/** What processes on one store know of each other: who is alive, what changed, and whose turn it is. */
import { createMutex } from "../../../kernel/kit.ts";
import type { Store } from "../../../kernel/plugin.ts";
import { CHANGE_TABLE, createChanges, NO_CHANGES } from "./changes.ts";
import { createLocks, LOCK_TABLE } from "./locks.ts";
import { createSoleNode, joinNodes, NODE_TABLE } from "./nodes.ts";
import { createRepeat, REPEAT_TABLE, repeatHere } from "./repeat.ts";

export type Fleet = Pick<Store, "node" | "changes" | "exclusive" | "repeat">;

export interface JoinedFleet extends Fleet {
  /** Others then know at once that this node is gone. */
  leave(): Promise<void>;
}

/** For a store that only this machine uses. */
export function createSoleFleet(): Fleet {
  return { node: createSoleNode(), changes: NO_CHANGES, exclusive: createMutex(), repeat: repeatHere };
}

/** `serves`: false for a command that works beside the services, which then is not listed. */
export async function joinFleet(
  store: Pick<Store, "tables" | "signals">,
  serves: boolean,
): Promise<JoinedFleet> {
  const sql = await store.tables("fleet", {
    sqlite: [],
    postgres: [`${NODE_TABLE}; ${CHANGE_TABLE}; ${LOCK_TABLE}; ${REPEAT_TABLE}`],
  });
  const { node, leave } = await joinNodes(sql, serves);
  const changes = createChanges(sql, store.signals, serves);
  return {
    node,
    changes,
    exclusive: createLocks(sql, node),
    repeat: createRepeat(sql),
    async leave() {
      await changes.close();
      await leave();
    },
  };
}
