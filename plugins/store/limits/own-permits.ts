/** The places of limits on SQLite, where one process counts them. They are kept in memory, and written down for the next start. */
import type { LimitWindow } from "../services.ts";
import { MAX_SURPLUS, type PermitParts, type Permits, SURPLUS_PART, type Take } from "./permits.ts";

// Keys whose windows have emptied are dropped when the map has grown by this many.
const SWEEP_EVERY = 1000;

/** Without `sql` a restart forgets them. */
export function openOwnPermits({
  sql,
  name,
  windows,
  node,
}: Omit<PermitParts, "sql"> & Partial<Pick<PermitParts, "sql">>): Permits {
  const byKey = new Map<string, Take[]>();
  const clock = createSteadyClock();
  const longest = Math.max(...windows.map(({ seconds }) => seconds)) * 1000;

  /** Nobody waits for it: what is in memory decides, and what is stored only after a restart. */
  function write(statement: string, ...values: (string | number)[]): void {
    sql?.transaction((tx) => tx.run(statement, ...values), { flush: false }).catch(() => {});
  }

  async function read(key: string, now: number): Promise<Take[]> {
    if (byKey.size > 0 && byKey.size % SWEEP_EVERY === 0)
      for (const [other, takes] of byKey)
        if ((takes.at(-1)?.taken_at ?? 0) <= now - longest) byKey.delete(other);
    const rows = await sql?.all<Take>(
      `SELECT number, taken_at AS first, taken_at, places FROM limiter_takes
       WHERE name = ? AND key = ? AND expires_at > ? AND taken_at <= ? ORDER BY taken_at`,
      name,
      key,
      now,
      now,
    );
    const takes = rows ?? [];
    byKey.set(key, takes);
    return takes;
  }

  function standing(takes: readonly Take[], { limit, seconds }: LimitWindow, now: number) {
    const inside = takes.filter(({ taken_at }) => taken_at > now - seconds * 1000);
    return {
      room: limit - inside.reduce((sum, { places }) => sum + places, 0),
      oldest: inside[0]?.taken_at,
    };
  }

  return {
    async visit({ key, report, wanted }) {
      const now = clock();
      const takes = byKey.get(key) ?? (await read(key, now));
      takes.push(...report);
      const gone = takes.findIndex(({ taken_at }) => taken_at > now - longest);
      if (gone !== 0 && takes.length > 0) {
        takes.splice(0, gone === -1 ? takes.length : gone);
        write("DELETE FROM limiter_takes WHERE name = ? AND key = ? AND expires_at <= ?", name, key, now);
      }
      const seen = windows.map((window) => standing(takes, window, now));
      const room = Math.max(0, Math.min(...seen.map((window) => window.room)));
      const surplus = Math.min(MAX_SURPLUS, Math.max(0, Math.floor((room - wanted) / SURPLUS_PART)));
      const granted = wanted === 0 ? 0 : Math.min(room, wanted + surplus);
      return {
        now,
        granted,
        windows: seen.map((window) => ({ ...window, room: window.room - granted })),
        holders: [],
      };
    },
    note(key, { number, taken_at, places }) {
      write(
        `INSERT INTO limiter_takes (name, key, node, number, taken_at, places, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (name, key, node, number) DO UPDATE
         SET taken_at = excluded.taken_at, places = excluded.places, expires_at = excluded.expires_at`,
        name,
        key,
        node,
        number,
        taken_at,
        places,
        taken_at + longest,
      );
    },
    timeOf: clock,
  };
}

/** Goes on from where it was when the system's clock is set back: places would stay taken for as long otherwise. */
function createSteadyClock(): () => number {
  let last = Date.now();
  let ahead = 0;
  return () => {
    ahead = Math.max(ahead, last - Date.now());
    last = Date.now() + ahead;
    return last;
  };
}
