/** The processes on this store, and which of them live: on PostgreSQL each renews a row. All times are the database's. */
import { randomUUID } from "node:crypto";
import { MANIFEST } from "../../../kernel/kit/files.ts";
import type { Sql } from "../../../kernel/plugin.ts";
import type { Node, NodeInfo } from "../services.ts";

interface NodeRow {
  readonly id: string;
  readonly version: string;
  readonly started_at: number;
  readonly seen_at: number;
  readonly serves: number;
}

const BEAT_MS = 2000;
const DEAD_AFTER_MS = 10_000;

export const NODE_TABLE = `CREATE TABLE nodes (
  id TEXT COLLATE "C" PRIMARY KEY,
  version TEXT COLLATE "C" NOT NULL,
  started_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  steady_since BIGINT NOT NULL,
  serves BIGINT NOT NULL
)`;

/** One moment for the whole statement. */
export const NOW = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";

// A node that was out of touch itself, as all are after the database was away, removes nobody before the others had their time.
const BEAT = `
  WITH beat AS (
    INSERT INTO nodes (id, version, started_at, seen_at, steady_since, serves)
    VALUES (?, ?, ${NOW}, ${NOW}, ${NOW}, ?)
    ON CONFLICT (id) DO UPDATE SET
      seen_at = excluded.seen_at,
      steady_since = CASE
        WHEN nodes.seen_at < excluded.seen_at - ${DEAD_AFTER_MS} THEN excluded.seen_at
        ELSE nodes.steady_since
      END
    RETURNING id, steady_since, xmax = 0 AS is_new
  ),
  removed AS (
    DELETE FROM nodes
    WHERE seen_at < ${NOW} - ${DEAD_AFTER_MS} AND id <> ?
      AND (SELECT steady_since FROM beat) <= ${NOW} - ${DEAD_AFTER_MS}
    RETURNING id
  )
  SELECT id FROM removed UNION ALL SELECT id FROM beat WHERE is_new`;

const LIST = "SELECT id, version, started_at, seen_at, serves FROM nodes ORDER BY started_at, id";

/** The nodes of a store that only this machine uses: this one alone, without a table. */
export function createSoleNode(): Node {
  const id = randomUUID();
  const startedAt = new Date().toISOString();
  const self = () => ({ id, version: MANIFEST.version, startedAt, lastSeenAt: new Date().toISOString() });
  return { id, living: `('${id}')`, list: async () => [self()], onDead: () => () => {} };
}

/** `serves`: whether it is listed. */
export async function joinNodes(sql: Sql, serves: boolean): Promise<{ node: Node; leave(): Promise<void> }> {
  const id = randomUUID();
  const listeners = new Set<(id: string) => void>();
  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> = Promise.resolve();
  let known: ReadonlySet<string> = new Set();
  let hasJoined = false;
  let left = false;

  const beat = async (): Promise<void> => {
    // Together, which is one round trip, but not one moment: the list may still have what the beat removes.
    const [removed, rows] = await Promise.all([
      sql.all<{ readonly id: string }>(BEAT, id, MANIFEST.version, serves ? 1 : 0, id),
      sql.all<NodeRow>(LIST),
    ]);
    const now = new Set(rows.map((row) => row.id));
    for (const row of removed) if (row.id !== id) now.delete(row.id);
    const gone = new Set([...known.difference(now), ...removed.map((row) => row.id)]);
    // Its first row is no news; one that it had to make again is.
    if (!hasJoined) gone.delete(id);
    hasJoined = true;
    for (const one of gone) for (const listener of listeners) listener(one);
    known = now;
  };
  const repeat = () => {
    timer = setTimeout(() => {
      // While the database is away, readiness says so; this goes on until it is back.
      beating = beat()
        .catch(() => {})
        .then(() => {
          if (!left) repeat();
        });
    }, BEAT_MS).unref();
  };

  await beat();
  repeat();
  return {
    node: {
      id,
      living: "(SELECT id FROM nodes)",
      async list() {
        const rows = await sql.all<NodeRow>(LIST);
        return rows.filter((row) => row.serves === 1).map(toInfo);
      },
      onDead(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    async leave() {
      left = true;
      clearTimeout(timer);
      // One under way would bring the row back.
      await beating;
      await sql.run("DELETE FROM nodes WHERE id = ?", id);
    },
  };
}

function toInfo({ id, version, started_at, seen_at }: NodeRow): NodeInfo {
  const iso = (millis: number) => new Date(millis).toISOString();
  return { id, version, startedAt: iso(started_at), lastSeenAt: iso(seen_at) };
}
