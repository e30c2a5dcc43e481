/** The list of callbacks that are owed, which all nodes on the store share. Its times are the database's. */
import { currentTraceparent } from "../../../kernel/kit.ts";
import type { Node, Sql, Transaction } from "../../../kernel/plugin.ts";

export interface Owed {
  readonly job: string;
  readonly attempts: number;
  /** Whom the sender named. */
  readonly user_id: string;
  readonly traceparent: string | null;
}

export interface CallbackList {
  /** Owes one, in the transaction that submits its job. */
  owe(tx: Transaction, job: string, userId: string): void;
  /** Answers how many were not due before. */
  makeDue(jobs: readonly string[]): Promise<number>;
  /** Jobs whose completion was not noted yet, in pages. */
  unfinished(after: string): Promise<readonly string[]>;
  /** Takes so many that are due for this node alone, until their lease ends; and says when to look again. */
  claim(most: number): Promise<{ readonly due: readonly Owed[]; readonly nextMillis: number | undefined }>;
  retryIn(job: string, millis: number): Promise<void>;
  forget(job: string): Promise<void>;
  /** What this node holds is anybody's again, at once. */
  handBack(): Promise<void>;
  /** Where no other process uses the store, what an earlier one held is due at once. */
  recover(): Promise<void>;
}

// Longer than a try, with time to spare; and a dead node's are taken over within 15 seconds.
const LEASE_MILLIS = 14_000;
const PAGE = 200;

export function openCallbackList(sql: Sql, node: Node): CallbackList {
  const isShared = sql.engine === "postgres";
  const now = isShared
    ? "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    : "CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)";
  const claim = `
    WITH due AS MATERIALIZED (
      SELECT job FROM webhook_callbacks WHERE due_at <= ${now} ORDER BY due_at LIMIT ? ${isShared ? "FOR UPDATE SKIP LOCKED" : ""}
    )
    UPDATE webhook_callbacks SET due_at = ${now} + ${LEASE_MILLIS}, holder = ?
    WHERE job IN (SELECT job FROM due) RETURNING job, attempts, user_id, traceparent`;
  const next = `SELECT min(due_at) - ${now} AS millis FROM webhook_callbacks WHERE due_at IS NOT NULL`;

  return {
    owe: (tx, job, userId) =>
      tx.last(
        "INSERT INTO webhook_callbacks (job, user_id, traceparent) VALUES (?, ?, ?) ON CONFLICT (job) DO NOTHING",
        job,
        userId,
        currentTraceparent() ?? null,
      ),
    makeDue: (jobs) =>
      sql.run(
        `UPDATE webhook_callbacks SET due_at = ${now}
         WHERE due_at IS NULL AND job IN (${jobs.map(() => "?").join(", ")})`,
        ...jobs,
      ),
    async unfinished(after) {
      const rows = await sql.all<Pick<Owed, "job">>(
        `SELECT job FROM webhook_callbacks WHERE due_at IS NULL AND job > ? ORDER BY job LIMIT ${PAGE}`,
        after,
      );
      return rows.map(({ job }) => job);
    },
    async claim(most) {
      const due = await sql.all<Owed>(claim, most, node.id);
      const row = await sql.get<{ readonly millis: number | null }>(next);
      return { due, nextMillis: row?.millis == null ? undefined : Math.max(1, row.millis) };
    },
    async retryIn(job, millis) {
      await sql.run(
        `UPDATE webhook_callbacks SET attempts = attempts + 1, due_at = ${now} + CAST(? AS BIGINT), holder = NULL
         WHERE job = ? AND holder = ?`,
        millis,
        job,
        node.id,
      );
    },
    async forget(job) {
      await sql.run("DELETE FROM webhook_callbacks WHERE job = ?", job);
    },
    async handBack() {
      await sql.run(`UPDATE webhook_callbacks SET due_at = ${now}, holder = NULL WHERE holder = ?`, node.id);
    },
    async recover() {
      // Of another node only its lease says when it is over: one that is cut off may still be sending.
      if (isShared) return;
      await sql.run(
        `UPDATE webhook_callbacks SET due_at = ${now}, holder = NULL
         WHERE holder IS NOT NULL AND holder NOT IN ${node.living}`,
      );
    },
  };
}
