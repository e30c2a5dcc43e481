/** Work that only one process at a time may do. On PostgreSQL a row says which node is at it; one that died is at nothing. */

import { setTimeout as sleep } from "node:timers/promises";
import { createMutex, type Node } from "../../../kernel/kit.ts";
import type { Sql, Store } from "../../../kernel/plugin.ts";

export const LOCK_TABLE =
  'CREATE TABLE locks (name TEXT COLLATE "C" PRIMARY KEY, node TEXT COLLATE "C" NOT NULL)';

const LOOK_MS = 100;
const GIVE_AGAIN_MS = 1000;
const GIVING_TRIES = 60;

type Exclusive = Store["exclusive"];

export function createLocks(sql: Sql, { id, living }: Node): Exclusive {
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
      // Not while somebody in this process has taken it again.
      const isGiven = await locally(name, () => give(name)).then(
        () => true,
        () => false,
      );
      if (isGiven) return;
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
