/** Work that is done now and then, by one of all nodes. */
import type { Sql, Store } from "../../../kernel/plugin.ts";

export const REPEAT_TABLE =
  'CREATE TABLE repeated_work (name TEXT COLLATE "C" PRIMARY KEY, begun_at BIGINT NOT NULL)';

type Repeat = Store["repeat"];

const NOW = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";

/** For a store that only this machine uses. */
export const repeatHere: Repeat = (_, everyMillis, work) => repeatIf(everyMillis, async () => true, work);

export function createRepeat(sql: Sql): Repeat {
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
