/** Jobs as rows: every question is answered from an index, however many there are. */

import { randomUUIDv7 } from "node:crypto";
import { currentTraceparent } from "../../../kernel/kit/http.ts";
import { pageOf, pageSize, readNumber } from "../../../kernel/kit/store.ts";
import type { Job, JobCallback, JobStatus, Page, Sql, Transaction } from "../../../kernel/plugin.ts";
import type { Store } from "../../store/services.ts";
import type { Jobs, NewJob } from "../services.ts";
import type { Completion } from "./completion.ts";
import { daysAgo, findEarlier, fingerprintOf } from "./repeats.ts";
import { COLUMNS, type JobRow, jobOf } from "./row.ts";
import { OLD_JOBS } from "./tables.ts";

export interface Claimed extends JobRow {
  /** The thread of its conversation, which may be gone. */
  readonly goesOn: string | undefined;
  readonly request: string | null;
}

interface Inserted {
  readonly row: JobRow;
  readonly isNew: boolean;
}

/** A completion counts only for a job with this status or turn. */
export interface From {
  readonly status?: JobStatus;
  readonly turn?: string;
}

export type JobTable = ReturnType<typeof createJobTable>;

const OWED: JobCallback = { status: "waiting", attempts: 0 };

// A claim that is lost in a power cut is a job that was never begun.
const UNFLUSHED = { flush: false };
/** PostgreSQL's word for it. SQLite has one writer, who sees what runs. */
const UNIQUE_VIOLATION = "23505";

export function createJobTable(sql: Sql, store: Pick<Store, "node" | "pruneOld">) {
  const { node } = store;
  const claimAny = claimOf(sql.engine);
  const claimOfChannel = claimOf(sql.engine, "AND free.channel = ?");

  async function insert(tx: Transaction, job: NewJob): Promise<Inserted> {
    // Nobody looks for the others by it, and each would be written to another page of its index.
    const canRepeat = job.canBeReplayed === true || job.idempotencyKey !== undefined;
    const fingerprint = canRepeat ? (job.fingerprint ?? fingerprintOf(job)) : null;
    const known = fingerprint === null ? undefined : await findEarlier(tx, sql.engine, job, fingerprint);
    if (known !== undefined) return { row: known, isNew: false };
    const from = currentTraceparent();
    // It runs later, maybe after the request is over: a trace of its own, which follows from that of the request.
    const traced =
      from === undefined ? job.turn : { ...job.turn, work: { ...job.turn?.work, trace: { links: [from] } } };
    const row = await tx.get<JobRow>(
      `INSERT INTO jobs (id, "user", channel, sender, fingerprint, message, conversation, metadata, idempotency_key, held,
         origin, spans, request, callback, status, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?) RETURNING ${COLUMNS}`,
      job.id ?? randomUUIDv7(),
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
      traced === undefined ? null : JSON.stringify(traced),
      job.isCalledBack === true ? JSON.stringify(OWED) : null,
      new Date().toISOString(),
    );
    return { row: row as JobRow, isNew: true };
  }

  async function claimOne(
    tx: Transaction,
    user: string,
    turn: string,
    channel: string | undefined,
  ): Promise<Claimed | undefined> {
    const now = new Date().toISOString();
    const claim = channel === undefined ? claimAny : claimOfChannel;
    const claimAfter = (after: string) =>
      tx.get<Omit<Claimed, "goesOn">>(
        claim,
        ...[turn, node.id, now, after],
        ...(channel === undefined ? [] : [channel]),
      );
    const row = (await claimAfter(user)) ?? (user === "" ? undefined : await claimAfter(""));
    if (row === undefined) return undefined;
    return { ...row, goesOn: row.conversation === null ? undefined : await threadOf(tx, row) };
  }

  return {
    /** The row, or the one that the same key or the same signed message has made within a day. */
    insert: (job: NewJob, tx?: Transaction): Promise<Inserted> =>
      tx === undefined ? sql.transaction((own) => insert(own, job)) : insert(tx, job),

    find: (id: string): Promise<JobRow | undefined> =>
      sql.get<JobRow>(`SELECT ${COLUMNS} FROM jobs WHERE id = ?`, id),

    /** With what its turn is made of: an empty text where that was given and is no longer kept. */
    findWhole: (id: string): Promise<(JobRow & Pick<Claimed, "request">) | undefined> =>
      sql.get(`SELECT ${COLUMNS}, request FROM jobs WHERE id = ?`, id),

    async noteCallback(id: string, callback: JobCallback): Promise<void> {
      await sql.run("UPDATE jobs SET callback = ? WHERE id = ?", JSON.stringify(callback), id);
    },

    async list({
      user,
      status,
      limit,
      before,
    }: NonNullable<Parameters<Jobs["list"]>[0]>): Promise<Page<Job>> {
      const most = pageSize(limit);
      const rows = await sql.all<JobRow>(
        `SELECT ${COLUMNS} FROM jobs WHERE seq < ? ${user === undefined ? "" : 'AND "user" = ?'}
         ${status === undefined ? "" : status === "failed" ? "AND error IS NOT NULL" : "AND status = ?"} ORDER BY seq DESC LIMIT ?`,
        before === undefined ? Number.MAX_SAFE_INTEGER : readNumber(before),
        ...(user === undefined ? [] : [user]),
        ...(status === undefined || status === "failed" ? [] : [status]),
        most + 1,
      );
      return pageOf(rows, most, jobOf, ({ seq }) => String(seq));
    },

    /**
     * Takes the oldest job that may run of the user who comes after `user` in the round. Jobs of a conversation that is
     * running wait, without holding up the user's others. With a channel it takes only one of that channel.
     */
    async claim(user: string, turn: string, channel?: string): Promise<Claimed | undefined> {
      for (;;) {
        try {
          return await sql.transaction((tx) => claimOne(tx, user, turn, channel), UNFLUSHED);
        } catch (error) {
          if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
        }
      }
    },

    /** False where it is no longer run as that turn. */
    async putBack({ id, turn }: Pick<JobRow, "id" | "turn">): Promise<boolean> {
      const changed = await sql.run(
        `UPDATE jobs SET status = 'queued', turn = NULL, node = NULL
         WHERE id = ? AND status = 'running' AND (turn = ? OR turn IS NULL)`,
        id,
        turn,
      );
      return changed > 0;
    },

    /** Undefined where it was complete before, or is no longer what `from` says. */
    complete: (
      id: string,
      { response, error }: Completion,
      { status, turn }: From,
    ): Promise<JobRow | undefined> =>
      sql.get<JobRow>(
        `UPDATE jobs SET status = 'completed', response = ?, error = ?, completed_at = ?,
           request = CASE WHEN request IS NULL THEN NULL ELSE '' END
         WHERE id = ? AND status <> 'completed' ${status === undefined ? "" : "AND status = ?"}
         ${turn === undefined ? "" : "AND turn = ?"} RETURNING ${COLUMNS}`,
        response ?? null,
        error === undefined ? null : JSON.stringify(error),
        new Date().toISOString(),
        id,
        ...(status === undefined ? [] : [status]),
        ...(turn === undefined ? [] : [turn]),
      ),

    /** Jobs of nodes that are gone. */
    orphaned: (): Promise<readonly JobRow[]> =>
      sql.all<JobRow>(
        `SELECT ${COLUMNS} FROM jobs WHERE status = 'running' AND (node IS NULL OR node NOT IN ${node.living}) ORDER BY seq`,
      ),

    own: (): Promise<readonly JobRow[]> =>
      sql.all<JobRow>(
        `SELECT ${COLUMNS} FROM jobs WHERE status = 'running' AND node = ? ORDER BY seq`,
        node.id,
      ),

    /** For whoever runs it, which may be another process. */
    async askToStop(id: string): Promise<void> {
      await sql.run("UPDATE jobs SET stop_asked = 1 WHERE id = ?", id);
    },

    askedToStop: (): Promise<readonly JobRow[]> =>
      sql.all<JobRow>(`SELECT ${COLUMNS} FROM jobs WHERE status = 'running' AND stop_asked = 1`),

    /** False where it is no longer to be run as it was claimed. */
    async setThread(tx: Transaction, row: JobRow, thread: string): Promise<boolean> {
      const changed = tx.run(
        "UPDATE jobs SET thread = ? WHERE id = ? AND status = 'running' AND turn = ? AND stop_asked = 0",
        thread,
        row.id,
        row.turn,
      );
      if (row.conversation === null) return (await changed) > 0;
      void tx.run(
        `INSERT INTO conversations ("user", name, thread) VALUES (?, ?, ?)
         ON CONFLICT ("user", name) DO UPDATE SET thread = excluded.thread`,
        row.user,
        row.conversation,
        thread,
      );
      return (await changed) > 0;
    },

    async counts(): Promise<{ queued: number; running: number }> {
      const count = async (status: JobStatus) =>
        (await sql.get<{ count: number }>("SELECT count(*) AS count FROM jobs WHERE status = ?", status))
          ?.count ?? 0;
      const [queued, running] = await Promise.all([count("queued"), count("running")]);
      return { queued, running };
    },

    async remove(id: string): Promise<void> {
      await sql.run("DELETE FROM jobs WHERE id = ? AND status = 'completed'", id);
    },

    /** Gives the jobs and conversations of one user to another; jobs that were held for a pairing may run. */
    async give(tx: Transaction, from: string, to: string): Promise<void> {
      await Promise.all([
        // Both run one of the same name at this moment: of one conversation only one job runs.
        tx.run(
          `UPDATE jobs SET conversation = NULL WHERE "user" = ? AND status = 'running' AND conversation IN (
             SELECT other.conversation FROM jobs AS other WHERE other."user" = ? AND other.status = 'running')`,
          from,
          to,
        ),
        tx.run('UPDATE jobs SET "user" = ?, held = 0 WHERE "user" = ?', to, from),
        // A conversation that the account has under the same name goes on; the identity's thread is still there to read.
        tx.run(
          `UPDATE conversations SET "user" = ? WHERE "user" = ?
             AND name NOT IN (SELECT name FROM conversations WHERE "user" = ?)`,
          to,
          from,
          to,
        ),
        tx.run('DELETE FROM conversations WHERE "user" = ?', from),
      ]);
    },

    async heldCounts(): Promise<ReadonlyMap<string, number>> {
      const rows = await sql.all<{ id: string; held: number }>(
        `SELECT "user" AS id, count(*) AS held FROM jobs INDEXED BY jobs_held
         WHERE status = 'queued' AND held = 1 GROUP BY "user"`,
      );
      return new Map(rows.map(({ id, held }) => [id, Number(held)]));
    },

    firstHeld: (
      limit: number,
    ): Promise<readonly { id: string; user: string; message: string; created_at: string }[]> =>
      sql.all(
        `SELECT id, "user", message, created_at FROM jobs WHERE seq IN (
           SELECT min(seq) FROM jobs INDEXED BY jobs_held WHERE status = 'queued' AND held = 1 GROUP BY "user")
         ORDER BY seq LIMIT ?`,
        limit,
      ),

    async held(user: string): Promise<readonly string[]> {
      const rows = await sql.all<{ id: string }>(
        `SELECT id FROM jobs INDEXED BY jobs_held WHERE "user" = ? AND status = 'queued' AND held = 1 ORDER BY seq`,
        user,
      );
      return rows.map(({ id }) => id);
    },

    sweep: (days: number, signal: AbortSignal): Promise<number> =>
      store.pruneOld(OLD_JOBS, daysAgo(days), { signal }),
  };
}

// The index is named, because the planner would rather sort all that is queued. Two nodes never wait for each other; of two that
// take jobs of one conversation at the same moment, the unique index turns one away.
const claimOf = (
  engine: Sql["engine"],
  condition = "",
) => `UPDATE jobs SET status = 'running', turn = ?, node = ?, started_at = ?, attempts = attempts + 1 WHERE seq = (
    SELECT seq FROM jobs AS free INDEXED BY jobs_waiting
    WHERE free.status = 'queued' AND free.held = 0 AND free."user" > ? ${condition} AND NOT EXISTS (
      SELECT 1 FROM jobs AS other WHERE other.status = 'running' AND other."user" = free."user"
        AND other.conversation = free.conversation)
    ORDER BY free."user", free.seq LIMIT 1 ${engine === "postgres" ? "FOR UPDATE SKIP LOCKED" : ""})
  AND status = 'queued' RETURNING *`;

async function threadOf(tx: Transaction, row: JobRow): Promise<string | undefined> {
  const found = await tx.get<{ thread: string }>(
    `SELECT thread FROM conversations WHERE "user" = ? AND name = ?`,
    row.user,
    row.conversation,
  );
  return found?.thread;
}
