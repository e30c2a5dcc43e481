/** Keeps the processes on one store informed about each other: who is alive, what changed, and whose turn it is. */

import { setTimeout as sleep } from "node:timers/promises";
import { createMutex } from "../../../kernel/kit/concurrency.ts";
import type { Sql } from "../../../kernel/plugin.ts";
import type { Node, Store } from "../services.ts";
import { CHANGE_TABLE, createChanges, NO_CHANGES } from "./changes.ts";
import { createSoleNode, joinNodes, NODE_TABLE, NOW } from "./nodes.ts";

type Fleet = Pick<Store, "node" | "changes" | "exclusive" | "repeat">;

interface JoinedFleet extends Fleet {
  /** Others then know at once that this node is gone. */
  leave(): Promise<void>;
}

const TABLES = `${NODE_TABLE}; ${CHANGE_TABLE};
  CREATE TABLE locks (name TEXT COLLATE "C" PRIMARY KEY, node TEXT COLLATE "C" NOT NULL);
  CREATE TABLE repeated_work (name TEXT COLLATE "C" PRIMARY KEY, begun_at BIGINT NOT NULL)`;

/** For a store that only this machine uses. */
export function createSoleFleet(): Fleet {
  const isOurs = async () => true;
  return {
    node: createSoleNode(),
    changes: NO_CHANGES,
    exclusive: createMutex(),
    repeat: (_, everyMillis, work) => repeatIf(everyMillis, isOurs, work),
  };
}

/** `serves`: false for a command that works beside the services, which then is not listed. */
export async function joinFleet(
  store: Pick<Store, "tables" | "signals">,
  serves: boolean,
): Promise<JoinedFleet> {
  const sql = await store.tables("fleet", { sqlite: [], postgres: [TABLES] });
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

const LOOK_MS = 100;
const GIVE_AGAIN_MS = 1000;
const GIVING_TRIES = 60;

/** Work that only one process at a time may do. A row says which node is at it; one that died is at nothing. */
function createLocks(sql: Sql, { id, living }: Node): Store["exclusive"] {
  // Only one in this process asks at a time: the row says no more than which node has it.
  const locally = createMutex();
  const take = async (name: string) =>
    (await sql.run(
      `INSERT INTO locks (name, node) VALUES (?, ?)
       ON CONFLICT (name) DO UPDATE SET node = excluded.node
       WHERE locks.node = excluded.node OR locks.node NOT IN ${living}`,
      name,
      id,
    )) === 1;
  const give = (name: string) => sql.run("DELETE FROM locks WHERE name = ? AND node = ?", name, id);
  // The database is away: until it is back, or this node is taken for dead.
  const giveLater = async (name: string) => {
    for (let tries = 0; tries < GIVING_TRIES; tries++) {
      await sleep(GIVE_AGAIN_MS, undefined, { ref: false });
      try {
        // Not while somebody in this process has taken it again.
        await locally(name, () => give(name));
        return;
      } catch {}
    }
  };
  return (name, work) =>
    locally(name, async () => {
      while (!(await take(name))) await sleep(LOOK_MS);
      try {
        return await work();
      } finally {
        await give(name).catch(() => void giveLater(name));
      }
    });
}

/** Work that is done now and then, by one of all nodes. */
function createRepeat(sql: Sql): Store["repeat"] {
  // The clock is the database's, a little ahead of the timers of those who ask.
  const take = async (name: string, everyMillis: number) =>
    (await sql.run(
      `INSERT INTO repeated_work (name, begun_at) VALUES (?, ${NOW})
       ON CONFLICT (name) DO UPDATE SET begun_at = excluded.begun_at
       WHERE repeated_work.begun_at <= excluded.begun_at - ?`,
      name,
      Math.round(everyMillis * 0.9),
    )) === 1;
  return (name, everyMillis, work) => repeatIf(everyMillis, () => take(name, everyMillis), work);
}

function repeatIf(
  everyMillis: number,
  isOurs: () => Promise<boolean>,
  work: () => Promise<unknown>,
): () => void {
  let isOver = false;
  const once = async (): Promise<void> => {
    try {
      if ((await isOurs()) && !isOver) await work();
    } catch {
      // The store is away; the next time is soon enough.
    }
  };
  void once();
  const timer = setInterval(once, everyMillis).unref();
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}
