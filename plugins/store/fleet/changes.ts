/** Tells nodes what another has changed, by a signal and, as signals are missed, by a number that is read each second. */
import type { Changes } from "../../../kernel/kit/store.ts";
import type { Sql, Transaction } from "../../../kernel/plugin.ts";
import type { Signals } from "../services.ts";

const LOOK_MS = 1000;
const SIGNAL = "changes";

/** For a store on which nobody else keeps anything. */
export const NO_CHANGES: Changes = withCache({ mark: async () => {}, follow: () => () => {} });

function withCache<Bare extends Omit<Changes, "cache">>(changes: Bare): Bare & Changes {
  return {
    ...changes,
    cache<Value>(topic: string, read: (last: Value | undefined) => Promise<Value>) {
      let last: Value | undefined;
      let reading: Promise<Value> | undefined;
      const forget = () => {
        reading = undefined;
      };
      return {
        get() {
          if (reading !== undefined) return reading;
          const mine = read(last).then((value) => {
            last = value;
            return value;
          });
          reading = mine;
          mine.catch(() => {
            if (reading === mine) forget();
          });
          return mine;
        },
        forget,
        close: changes.follow(topic, forget),
      };
    },
  };
}

export const CHANGE_TABLE =
  'CREATE TABLE changes (topic TEXT COLLATE "C" PRIMARY KEY, number BIGINT NOT NULL)';

const MARK = `INSERT INTO changes (topic, number) VALUES (?, 1)
  ON CONFLICT (topic) DO UPDATE SET number = changes.number + 1`;

/** `listens`: false for a process that ends soon, to which a look each second will do. */
export function createChanges(sql: Sql, signals: Signals, listens: boolean) {
  const listeners = new Map<string, Set<() => void>>();
  const known = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let isWanted = false;
  let isClosed = false;
  const stops: (() => void)[] = [];

  async function look(): Promise<void> {
    const rows = await sql.all<{ topic: string; number: number }>("SELECT topic, number FROM changes");
    for (const { topic, number } of rows) {
      if (known.get(topic) === number) continue;
      known.set(topic, number);
      for (const listener of listeners.get(topic) ?? []) listener();
    }
  }

  /** Now, or after the look that is under way: it may have come too early. */
  function lookNow(): void {
    isWanted = true;
    if (looking !== undefined || isClosed) return;
    clearTimeout(timer);
    isWanted = false;
    looking = look()
      // The database is away, which readiness tells: the next look finds what changed meanwhile.
      .catch(() => {})
      .finally(() => {
        looking = undefined;
        if (isClosed) return;
        if (isWanted) lookNow();
        else timer = setTimeout(lookNow, LOOK_MS).unref();
      });
  }

  return withCache({
    async mark(topic: string, tx?: Transaction) {
      // The row first: the signal must not overtake what it is about.
      await (tx ?? sql).run(MARK, topic);
      const sent = signals.send(SIGNAL, topic, tx);
      // Committed changes are found by the next look, even without a signal.
      await (tx === undefined ? sent.catch(() => {}) : sent);
    },
    follow(topic: string, listener: () => void) {
      const all = listeners.get(topic) ?? new Set();
      listeners.set(topic, all.add(listener));
      // Data that was read before following may be older than the known number.
      known.delete(topic);
      if (timer === undefined && looking === undefined) {
        timer = setTimeout(lookNow, LOOK_MS).unref();
        if (listens) stops.push(signals.listen(SIGNAL, lookNow), signals.onLost(lookNow));
      }
      return () => void all.delete(listener);
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      for (const stop of stops) stop();
      await looking;
    },
  });
}
