/** Jobs as rows: every question is answered from an index, however many there are. */
import { createHash, randomUUIDv7 } from "node:crypto";
import {
  Fault,
  type Job,
  type JobStatus,
  type NewJob,
  type Page,
  type SyncSql,
} from "../../../kernel/plugin.ts";
import { pageOf, pageSize, readNumber } from "../threads/threads.ts";

export interface JobRow {
  readonly seq: number;
  readonly id: string;
  readonly user: string;
  readonly channel: string;
  readonly sender: string;
  readonly fingerprint: string | null;
  readonly message: string;
  readonly conversation: string | null;
  readonly metadata: string | null;
  readonly status: JobStatus;
  readonly held: number;
  readonly origin: string | null;
  readonly spans: string | null;
  readonly thread: string | null;
  readonly turn: string | null;
  readonly response: string | null;
  readonly error: string | null;
  readonly created_at: string;
  readonly completed_at: string | null;
}

export interface JobQuery {
  readonly user?: string;
  readonly status?: JobStatus;
  readonly limit?: number;
  readonly before?: string;
}

export interface Completion {
  readonly response?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export type JobTable = ReturnType<typeof createJobTable>;

const DAY_MILLIS = 86_400_000;

export function createJobTable(sql: SyncSql) {
  return {
    /** The row, or the one that the same key or the same signed message has made within a day. */
    insert: (job: NewJob): { readonly row: JobRow; readonly isNew: boolean } =>
      sql.transaction(() => {
        const fingerprint = job.fingerprint ?? fingerprintOf(job);
        const known = findReplayed(sql, job, fingerprint) ?? findRepeated(sql, job, fingerprint);
        if (known !== undefined) return { row: known, isNew: false };
        const row = sql.get<JobRow>(
          `INSERT INTO jobs (id, user, channel, sender, fingerprint, message, conversation, metadata, idempotency_key, held,
             origin, spans, status, created_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?) RETURNING *`,
          randomUUIDv7(),
          job.user,
          job.channel,
          job.sender ?? "",
          fingerprint,
          job.message,
          job.conversation ?? null,
          job.metadata === undefined ? null : JSON.stringify(job.metadata),
          job.idempotencyKey ?? null,
          job.waitsForPairing === true ? 1 : 0,
          job.origin ?? null,
          job.spans?.length ? JSON.stringify(job.spans) : null,
          new Date().toISOString(),
        );
        return { row: row as JobRow, isNew: true };
      }),

    find: (id: string): JobRow | undefined => sql.get<JobRow>("SELECT * FROM jobs WHERE id = ?", id),

    list({ user, status, limit, before }: JobQuery): Page<Job> {
      const most = pageSize(limit);
      const rows = sql.all<JobRow>(
        `SELECT * FROM jobs WHERE seq < ? ${user === undefined ? "" : "AND user = ?"}
         ${status === undefined ? "" : "AND status = ?"} ORDER BY seq DESC LIMIT ?`,
        before === undefined ? Number.MAX_SAFE_INTEGER : readNumber(before),
        ...(user === undefined ? [] : [user]),
        ...(status === undefined ? [] : [status]),
        most + 1,
      );
      return pageOf(rows, most, jobOf, ({ seq }) => String(seq));
    },

    /**
     * The oldest job that may run of the user who comes after `user` in the round. Jobs of a conversation
     * that is running wait, without holding up the user's others.
     */
    nextAfter(user: string): JobRow | undefined {
      const free = `status = 'queued' AND held = 0 AND NOT EXISTS (
        SELECT 1 FROM jobs AS other WHERE other.status = 'running' AND other.user = jobs.user
          AND other.conversation = jobs.conversation)`;
      // Named, because the planner would rather sort all that is queued.
      const query = `SELECT * FROM jobs INDEXED BY jobs_waiting WHERE ${free} AND user > ? ORDER BY user, seq LIMIT 1`;
      return sql.get<JobRow>(query, user) ?? (user === "" ? undefined : sql.get<JobRow>(query, ""));
    },

    begin(id: string, turn: string): void {
      sql.run("UPDATE jobs SET status = 'running', turn = ? WHERE id = ?", turn, id);
    },

    putBack(id: string): void {
      sql.run("UPDATE jobs SET status = 'queued', turn = NULL WHERE id = ?", id);
    },

    /** Undefined where it was complete before. */
    complete: (id: string, { response, error }: Completion): JobRow | undefined =>
      sql.get<JobRow>(
        `UPDATE jobs SET status = 'completed', response = ?, error = ?, completed_at = ?
         WHERE id = ? AND status <> 'completed' RETURNING *`,
        response ?? null,
        error === undefined ? null : JSON.stringify(error),
        new Date().toISOString(),
        id,
      ),

    running: (): readonly JobRow[] =>
      sql.all<JobRow>("SELECT * FROM jobs WHERE status = 'running' ORDER BY seq"),

    /** For whoever runs it, which may be another process. */
    askToStop(id: string): void {
      sql.run("UPDATE jobs SET stop_asked = 1 WHERE id = ?", id);
    },

    askedToStop: (): readonly JobRow[] =>
      sql.all<JobRow>("SELECT * FROM jobs WHERE status = 'running' AND stop_asked = 1"),

    setThread(row: JobRow, thread: string): void {
      sql.run("UPDATE jobs SET thread = ? WHERE id = ?", thread, row.id);
      if (row.conversation === null) return;
      sql.run(
        `INSERT INTO conversations (user, name, thread) VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET thread = excluded.thread`,
        row.user,
        row.conversation,
        thread,
      );
    },

    /** The conversation's thread, where it is still there. */
    threadOf: (row: JobRow): string | undefined =>
      row.conversation === null
        ? undefined
        : sql.get<{ thread: string }>(
            `SELECT thread FROM conversations JOIN threads ON threads.id = thread AND threads.user = conversations.user
             WHERE conversations.user = ? AND name = ?`,
            row.user,
            row.conversation,
          )?.thread,

    /** Whether the turn had called a tool that can change things. */
    hadWritten: (turn: string): boolean =>
      sql.get<{ wrote: number }>("SELECT wrote FROM turns WHERE id = ?", turn)?.wrote === 1,

    counts(): { queued: number; running: number } {
      const count = (status: JobStatus) =>
        sql.get<{ count: number }>("SELECT count(*) AS count FROM jobs WHERE status = ?", status)?.count ?? 0;
      return { queued: count("queued"), running: count("running") };
    },

    sweep: (days: number): number =>
      sql.run("DELETE FROM jobs WHERE status = 'completed' AND completed_at < ?", daysAgo(days)).changes,
  };
}

function findReplayed(sql: SyncSql, job: NewJob, fingerprint: string): JobRow | undefined {
  if (job.canBeReplayed !== true) return undefined;
  return sql.get<JobRow>(
    `SELECT * FROM jobs WHERE fingerprint = ? AND channel = ? AND sender = ? AND created_at > ?
     ORDER BY seq DESC LIMIT 1`,
    fingerprint,
    job.channel,
    job.sender ?? "",
    daysAgo(1),
  );
}

function findRepeated(sql: SyncSql, job: NewJob, fingerprint: string): JobRow | undefined {
  if (job.idempotencyKey === undefined) return undefined;
  const known = sql.get<JobRow>(
    `SELECT * FROM jobs WHERE user = ? AND idempotency_key = ? AND channel = ? AND sender = ? AND created_at > ?
     ORDER BY seq DESC LIMIT 1`,
    job.user,
    job.idempotencyKey,
    job.channel,
    job.sender ?? "",
    daysAgo(1),
  );
  if (known === undefined || known.fingerprint === null || known.fingerprint === fingerprint) return known;
  throw new Fault(
    "invalid",
    "idempotency_key_reused",
    "This Idempotency-Key was used with a different body. Use a new key for each request.",
    { param: "Idempotency-Key" },
  );
}

function fingerprintOf({ message, conversation, metadata }: NewJob): string {
  return createHash("sha256")
    .update(JSON.stringify([message, conversation, metadata]))
    .digest("hex");
}

export function jobOf(row: JobRow): Job {
  return {
    id: row.id,
    user: row.user,
    channel: row.channel,
    ...(row.sender !== "" && { sender: row.sender }),
    status: row.status,
    ...(row.held === 1 && row.status === "queued" && { waitingFor: "pairing" as const }),
    createdAt: row.created_at,
    ...(row.thread !== null && { thread: row.thread }),
    ...(row.conversation !== null && { conversation: row.conversation }),
    ...(row.response !== null && { response: row.response }),
    ...(row.error !== null && { error: JSON.parse(row.error) as { code: string; message: string } }),
    ...(row.completed_at !== null && { completedAt: row.completed_at }),
  };
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MILLIS).toISOString();
}
