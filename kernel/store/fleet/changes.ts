/**
 * What one node changed and others keep in memory: each topic has a number that rises in the transaction of the change. A look at
 * all of them is one small statement a second, and whoever finds another number than before reads again.
 */
import type { Changes, Sql } from "../../vocabulary/store.ts";

export interface OpenChanges extends Changes {
  close(): Promise<void>;
}

interface Topic {
  readonly topic: string;
  readonly number: number;
}

const LOOK_MILLIS = 1000;

/** Where nobody else keeps anything. */
export const NO_CHANGES: Changes = { mark: async () => {}, follow: () => () => {} };

export const CHANGE_TABLE =
  'CREATE TABLE changes (topic TEXT COLLATE "C" PRIMARY KEY, number BIGINT NOT NULL)';

export function createChanges(sql: Sql): OpenChanges {
  const listeners = new Map<string, Set<() => void>>();
  const known = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let isClosed = false;

  async function look(): Promise<void> {
    for (const { topic, number } of await sql.all<Topic>("SELECT topic, number FROM changes")) {
      if (known.get(topic) === number) continue;
      known.set(topic, number);
      for (const listener of listeners.get(topic) ?? []) listener();
    }
  }
  function repeat(): void {
    timer = setTimeout(() => {
      looking = look()
        // The database is away, which readiness tells: the next look finds what changed meanwhile.
        .catch(() => {})
        .finally(() => {
          if (!isClosed) repeat();
        });
    }, LOOK_MILLIS).unref();
  }

  return {
    async mark(tx, topic) {
      await tx.run(
        `INSERT INTO changes (topic, number) VALUES (?, 1)
         ON CONFLICT (topic) DO UPDATE SET number = changes.number + 1`,
        topic,
      );
    },
    follow(topic, listener) {
      const all = listeners.get(topic) ?? new Set();
      listeners.set(topic, all.add(listener));
      // What it read before it asked to be told may be older than the number that is known.
      known.delete(topic);
      if (timer === undefined && !isClosed) repeat();
      return () => void all.delete(listener);
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
