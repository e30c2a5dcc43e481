/**
 * The places of a limit that all nodes on one PostgreSQL count together. A block of permits counts as taken at the last moment
 * its node may use it, until the node says what it did with it.
 */
import { MAX_SURPLUS, type PermitParts, type Permits, SURPLUS_PART } from "./permits.ts";
export interface FleetPermitParts extends PermitParts {
  readonly living: string;
  /** The number of this limiter's blocks. */
  readonly number: number;
  readonly blockMs: number;
}

// Rows of keys that nobody asks for any more.
const SWEEP_EVERY = 200;
const SWEPT_AT_ONCE = 1000;
const SWEEP = `DELETE FROM limiter_takes WHERE ctid IN (
  SELECT ctid FROM limiter_takes WHERE expires_at < (extract(epoch FROM now()) * 1000)::bigint
  LIMIT ${SWEPT_AT_ONCE} FOR UPDATE SKIP LOCKED)`;

const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(?, 7300))";

type Row = Readonly<Record<string, number | null>> & {
  readonly now: number;
  readonly granted: number;
};

export function openFleetPermits(parts: FleetPermitParts): Permits {
  const { sql, name, windows, node, number } = parts;
  const statement = drawing(parts);
  let visits = 0;

  return {
    async visit({ key, report, wanted }) {
      if (++visits % SWEEP_EVERY === 0) await sql.run(SWEEP);
      const reported = JSON.stringify(report);
      const row = await sql.transaction(async (tx) => {
        // The lock comes in a statement of its own: the next one then sees what those before us did.
        const [, drawn] = await Promise.all([
          tx.get(LOCK, `${name} ${key}`),
          tx.get<Row & { readonly holders: string | null }>(
            statement,
            name,
            key,
            node,
            number,
            reported,
            wanted,
          ),
        ]);
        return drawn;
      });
      if (row === undefined) throw new Error("the limiter's statement returned nothing");
      return {
        now: row.now,
        granted: row.granted,
        windows: windows.map((_, at) => ({
          room: Number(row[`room_${at}`]) - row.granted,
          oldest: row[`oldest_${at}`] ?? undefined,
        })),
        holders: row.holders?.split(",") ?? [],
      };
    },
    // Rather too late than too early: what is reported may count for longer, and never for less.
    timeOf: ({ now }, answered) => now + answered,
  };
}

/** Takes the report, counts what stands in each window, and books a block for what is granted. */
function drawing({ windows, living, blockMs }: FleetPermitParts): string {
  const longest = Math.max(...windows.map(({ seconds }) => seconds)) * 1000;
  const counts = windows.map(({ limit, seconds }, at) => {
    const inside = `FILTER (WHERE taken_at > now - ${seconds * 1000})`;
    return `(${limit} - coalesce(sum(places) ${inside}, 0))::bigint AS room_${at}, min(taken_at) ${inside} AS oldest_${at}`;
  });
  const room = `least(${windows.map((_, at) => `room_${at}`).join(", ")})`;
  return `
    WITH asked AS MATERIALIZED (
      SELECT CAST(? AS text) AS name, CAST(? AS text) AS key, CAST(? AS text) AS node, CAST(? AS bigint) AS number,
        CAST(? AS json) AS report, CAST(? AS bigint) AS wanted,
        (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now
    ),
    expired AS (
      DELETE FROM limiter_takes AS takes USING asked
      WHERE takes.name = asked.name AND takes.key = asked.key AND takes.expires_at <= asked.now
        AND (takes.node <> asked.node OR takes.number <> asked.number)
    ),
    reported AS (
      INSERT INTO limiter_takes (name, key, node, number, taken_at, places, expires_at)
      SELECT asked.name, asked.key, asked.node, given.number, given.taken_at, given.places, given.taken_at + ${longest}
      FROM asked, json_to_recordset(asked.report) AS given (number bigint, taken_at bigint, places bigint)
      ON CONFLICT (name, key, node, number) DO NOTHING
      RETURNING taken_at, places
    ),
    standing AS (
      SELECT takes.taken_at, takes.places,
        CASE WHEN takes.number < 0 AND takes.places > 0 AND takes.expires_at > asked.now AND takes.node IN ${living}
          THEN takes.node || ':' || takes.number END AS holder
      FROM limiter_takes AS takes, asked
      WHERE takes.name = asked.name AND takes.key = asked.key
        AND (takes.node <> asked.node OR takes.number <> asked.number)
      UNION ALL SELECT taken_at, places, NULL FROM reported
    ),
    seen AS (
      SELECT now, wanted, string_agg(DISTINCT holder, ',') AS holders, ${counts.join(", ")}
      FROM asked LEFT JOIN standing ON true GROUP BY now, wanted
    ),
    decided AS (
      SELECT seen.*, CASE
        WHEN wanted = 0 OR ${room} <= 0 THEN 0
        ELSE least(${room}, wanted + least(${MAX_SURPLUS}, greatest(0, (${room} - wanted) / ${SURPLUS_PART})))
      END AS granted FROM seen
    ),
    booked AS (
      INSERT INTO limiter_takes (name, key, node, number, taken_at, places, expires_at)
      SELECT name, key, node, number, asked.now + ${blockMs}, granted, asked.now + ${blockMs + longest}
      FROM asked, decided
      ON CONFLICT (name, key, node, number) DO UPDATE
      SET taken_at = excluded.taken_at, places = excluded.places, expires_at = excluded.expires_at
    )
    SELECT * FROM decided`;
}
