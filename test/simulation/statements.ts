/** The two statements of a fleet that SQLite has no words for: they write in the middle of a query. */
import type { SqlValue } from "../../kernel/kit/store.ts";
import { MAX_SURPLUS, SURPLUS_PART } from "../../plugins/store/limits/fleet-limiter.ts";
import type { Values } from "./memory.ts";

interface Plain {
  all<Row>(text: string, ...values: SqlValue[]): Row[];
  run(text: string, ...values: SqlValue[]): void;
}

const DEAD_AFTER_MS = 10_000;

/** As `BEAT` in plugins/store/fleet/nodes.ts. */
export function beat({ all, run }: Plain, [id, version, serves]: Values, now: number): unknown[] {
  const [own] = all<{ seen_at: number; steady_since: number }>(
    "SELECT seen_at, steady_since FROM nodes WHERE id = ?",
    id as string,
  );
  const steady = own === undefined || own.seen_at < now - DEAD_AFTER_MS ? now : own.steady_since;
  run(
    `INSERT INTO nodes (id, version, started_at, seen_at, steady_since, serves) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, steady_since = excluded.steady_since`,
    ...([id, version, now, now, steady, serves] as SqlValue[]),
  );
  const removed =
    steady <= now - DEAD_AFTER_MS
      ? all<{ id: string }>(
          "DELETE FROM nodes WHERE seen_at < ? AND id <> ? RETURNING id",
          now - DEAD_AFTER_MS,
          id as string,
        )
      : [];
  return own === undefined ? [...removed, { id }] : removed;
}

interface Take {
  readonly node: string;
  readonly number: number;
  readonly taken_at: number;
  readonly places: number;
  readonly expires_at: number;
  readonly lives: number;
}

const WINDOW = /\((\d+) - coalesce\(sum\(places\) FILTER \(WHERE taken_at > now - (\d+)\)/g;
const BLOCK = /asked\.now \+ (\d+), granted, asked\.now \+ (\d+)/;

/** As `drawing` in plugins/store/limits/fleet-limiter.ts. */
export function draw({ all, run }: Plain, text: string, values: Values, now: number): unknown {
  const [name, key, node, number, report, wanted] = values as [
    string,
    string,
    string,
    number,
    string,
    number,
  ];
  const windows = [...text.matchAll(WINDOW)].map(
    ([, limit, millis]) => [Number(limit), Number(millis)] as const,
  );
  const [, blockMs, kept] = (BLOCK.exec(text) ?? []).map(Number) as [number, number, number];
  const longest = kept - blockMs;
  run(
    "DELETE FROM limiter_takes WHERE name = ? AND key = ? AND expires_at <= ? AND (node <> ? OR number <> ?)",
    ...[name, key, now, node, number],
  );
  for (const take of JSON.parse(report) as Take[])
    run(
      "INSERT INTO limiter_takes VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      ...[name, key, node, take.number, take.taken_at, take.places, take.taken_at + longest],
    );
  const standing = all<Take>(
    `SELECT node, number, taken_at, places, expires_at, node IN (SELECT id FROM nodes) AS lives FROM limiter_takes
     WHERE name = ? AND key = ? AND (node <> ? OR number <> ?)`,
    ...[name, key, node, number],
  );
  const row: Record<string, unknown> = { now };
  const rooms = windows.map(([limit, millis], at) => {
    const inside = standing.filter(({ taken_at }) => taken_at > now - millis);
    const room = limit - inside.reduce((sum, { places }) => sum + places, 0);
    row[`room_${at}`] = room;
    row[`oldest_${at}`] = inside.length === 0 ? null : Math.min(...inside.map(({ taken_at }) => taken_at));
    return room;
  });
  const room = Math.min(...rooms);
  const surplus = Math.min(MAX_SURPLUS, Math.max(0, Math.trunc((room - wanted) / SURPLUS_PART)));
  const granted = wanted === 0 || room <= 0 ? 0 : Math.min(room, wanted + surplus);
  const holders = new Set(
    standing.flatMap((take) =>
      take.number < 0 && take.places > 0 && take.expires_at > now && take.lives === 1
        ? [`${take.node}:${take.number}`]
        : [],
    ),
  );
  run(
    `INSERT INTO limiter_takes VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name, key, node, number) DO UPDATE
     SET taken_at = excluded.taken_at, places = excluded.places, expires_at = excluded.expires_at`,
    ...[name, key, node, number, now + blockMs, granted, now + blockMs + longest],
  );
  return { ...row, granted, holders: holders.size === 0 ? null : [...holders].sort().join(",") };
}
