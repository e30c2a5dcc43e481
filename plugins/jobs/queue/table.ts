/** Jobs as rows: every question is answered from an index, however many there are. */

import { randomUUIDv7 } from "node:crypto";
import { currentTraceparent } from "../../../kernel/kit/http.ts";
import { pageOf, pageSize, readNumber } from "../../../kernel/kit/store.ts";
import type { Job, JobCallback, JobStatus, Page, Sql, Transaction } from "../../../kernel/plugin.ts";
import type { Store } from "../../store/services.ts";
import type { Jobs, NewJob } from "../services.ts";
import { type Claimed, createClaim, createJoin } from "./claim.ts";
import type { Completion } from "./completion.ts";
import { createHeldJobs } from "./held.ts";
import { daysAgo, findEarlier, fingerprintOf } from "./repeats.ts";
import { COLUMNS, type JobRow, jobOf } from "./row.ts";
import { OLD_JOBS } from "./tables.ts";

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

export function createJobTable(sql: Sql, store: Pick<Store, "node" | "pruneOld">) {
  const { node } = store;

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

  return {
    ...createHeldJobs(sql),
    claim: createClaim(sql, node.id),
    join: createJoin(sql, node.id),

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

    /** Does nothing if it is no longer run as that turn. `besides` is done in the same transaction. */
    putBack(
      { id, turn }: Pick<JobRow, "id" | "turn">,
      besides?: (tx: Transaction) => Promise<unknown>,
    ): Promise<void> {
      const putBack = `UPDATE jobs SET status = 'queued', joined = 0, turn = NULL, node = NULL
        WHERE id = ? AND status = 'running' AND (turn = ? OR turn IS NULL)`;
      return sql.transaction(async (tx) => {
        if ((await tx.run(putBack, id, turn)) > 0) await besides?.(tx);
      });
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

    sweep: (days: number, signal: AbortSignal): Promise<number> =>
      store.pruneOld(OLD_JOBS, daysAgo(days), { signal }),
  };
}
