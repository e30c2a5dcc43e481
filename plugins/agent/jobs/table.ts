/** Jobs as rows: every question is answered from an index, however many there are. */
import { createHash, randomUUIDv7 } from "node:crypto";
import {
  Fault,
  type Job,
  type JobStatus,
  type NewJob,
  type Page,
  type Sql,
  type Transaction,
} from "../../../kernel/plugin.ts";
import { pageOf, pageSize, readNumber } from "../threads/threads.ts";
import type { Completion } from "./completion.ts";

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

/** One that was taken to be run. */
export interface Claimed extends JobRow {
  /** The thread of its conversation. */
  readonly goesOn: string | undefined;
}

interface Inserted {
  readonly row: JobRow;
  readonly isNew: boolean;
}

/** What it has to be for a completion to count. */
export interface From {
  readonly status?: JobStatus;
  readonly turn?: string;
}

export interface JobQuery {
  readonly user?: string;
  readonly status?: JobStatus;
  readonly limit?: number;
  readonly before?: string;
}

export type JobTable = ReturnType<typeof createJobTable>;

const DAY_MILLIS = 86_400_000;

export function createJobTable(sql: Sql) {
  const lock = locks(sql.engine);

  /** Only the store can tell which of two that come at the same moment, perhaps on two nodes, was first. */
  async function insert(tx: Transaction, job: NewJob): Promise<Inserted> {
    const fingerprint = job.fingerprint ?? fingerprintOf(job);
    const scope = [job.channel, job.sender ?? ""];
    const names = [
      ...(job.canBeReplayed === true ? [JSON.stringify([...scope, "message", fingerprint])] : []),
      ...(job.idempotencyKey === undefined ? [] : [JSON.stringify([...scope, job.user, job.idempotencyKey])]),
    ];
    if (names.length > 0) {
      // In one order everywhere, so that no two wait for each other.
      const locked = names.toSorted().map((name) => lock(tx, name));
      const [replayed, repeated] = await Promise.all([
        findReplayed(tx, job, fingerprint),
        findRepeated(tx, job, fingerprint),
        ...locked,
      ]);
      const known = replayed ?? repeated;
      if (known !== undefined) return { row: known, isNew: false };
    }
    const row = await tx.get<JobRow>(
      `INSERT INTO jobs (id, "user", channel, sender, fingerprint, message, conversation, metadata, idempotency_key, held,
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
  }

  return {
    /** The row, or the one that the same key or the same signed message has made within a day. */
    insert: (job: NewJob, tx?: Transaction): Promise<Inserted> =>
      tx === undefined ? sql.transaction((own) => insert(own, job)) : insert(tx, job),

    find: (id: string): Promise<JobRow | undefined> => sql.get<JobRow>("SELECT * FROM jobs WHERE id = ?", id),

    async list({ user, status, limit, before }: JobQuery): Promise<Page<Job>> {
      const most = pageSize(limit);
      const rows = await sql.all<JobRow>(
        `SELECT * FROM jobs WHERE seq < ? ${user === undefined ? "" : 'AND "user" = ?'}
         ${status === undefined ? "" : "AND status = ?"} ORDER BY seq DESC LIMIT ?`,
        before === undefined ? Number.MAX_SAFE_INTEGER : readNumber(before),
        ...(user === undefined ? [] : [user]),
        ...(status === undefined ? [] : [status]),
        most + 1,
      );
      return pageOf(rows, most, jobOf, ({ seq }) => String(seq));
    },

    /**
     * Takes the oldest job that may run of the user who comes after `user` in the round. Jobs of a conversation that is
     * running wait, without holding up the user's others.
     */
    claim: (user: string, turn: string): Promise<Claimed | undefined> =>
      sql.transaction(
        async (tx) => {
          // One claim at a time in all nodes: two of one conversation must not both find it free.
          const [, first] = await Promise.all([lock(tx, "claim"), tx.get<JobRow>(CLAIM, turn, user)]);
          const row = first ?? (user === "" ? undefined : await tx.get<JobRow>(CLAIM, turn, ""));
          if (row === undefined) return undefined;
          return { ...row, goesOn: row.conversation === null ? undefined : await threadOf(tx, row) };
        },
        // A claim that is lost in a power cut is a job that was never begun.
        { flush: false },
      ),

    async putBack(id: string): Promise<void> {
      await sql.run("UPDATE jobs SET status = 'queued', turn = NULL WHERE id = ? AND status = 'running'", id);
    },

    /** Undefined where it was complete before, or is no longer what `from` says. */
    complete: (
      id: string,
      { response, error }: Completion,
      { status, turn }: From,
    ): Promise<JobRow | undefined> =>
      sql.get<JobRow>(
        `UPDATE jobs SET status = 'completed', response = ?, error = ?, completed_at = ?
         WHERE id = ? AND status <> 'completed' ${status === undefined ? "" : "AND status = ?"}
         ${turn === undefined ? "" : "AND turn = ?"} RETURNING *`,
        response ?? null,
        error === undefined ? null : JSON.stringify(error),
        new Date().toISOString(),
        id,
        ...(status === undefined ? [] : [status]),
        ...(turn === undefined ? [] : [turn]),
      ),

    running: (): Promise<readonly JobRow[]> =>
      sql.all<JobRow>("SELECT * FROM jobs WHERE status = 'running' ORDER BY seq"),

    /** For whoever runs it, which may be another process. */
    async askToStop(id: string): Promise<void> {
      await sql.run("UPDATE jobs SET stop_asked = 1 WHERE id = ?", id);
    },

    askedToStop: (): Promise<readonly JobRow[]> =>
      sql.all<JobRow>("SELECT * FROM jobs WHERE status = 'running' AND stop_asked = 1"),

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

    /** Whether the turn had called a tool that can change things. */
    hadWritten: async (turn: string): Promise<boolean> =>
      (await sql.get<{ wrote: number }>("SELECT wrote FROM turns WHERE id = ?", turn))?.wrote === 1,

    async counts(): Promise<{ queued: number; running: number }> {
      const count = async (status: JobStatus) =>
        (await sql.get<{ count: number }>("SELECT count(*) AS count FROM jobs WHERE status = ?", status))
          ?.count ?? 0;
      const [queued, running] = await Promise.all([count("queued"), count("running")]);
      return { queued, running };
    },

    sweep: (days: number): Promise<number> =>
      sql.run("DELETE FROM jobs WHERE status = 'completed' AND completed_at < ?", daysAgo(days)),
  };
}

// The index is named, because the planner would rather sort all that is queued.
const CLAIM = `UPDATE jobs SET status = 'running', turn = ? WHERE seq = (
    SELECT seq FROM jobs AS free INDEXED BY jobs_waiting
    WHERE free.status = 'queued' AND free.held = 0 AND free."user" > ? AND NOT EXISTS (
      SELECT 1 FROM jobs AS other WHERE other.status = 'running' AND other."user" = free."user"
        AND other.conversation = free.conversation)
    ORDER BY free."user", free.seq LIMIT 1)
  AND status = 'queued' RETURNING *`;

/** The conversation's thread, where it is still there. */
async function threadOf(tx: Transaction, row: JobRow): Promise<string | undefined> {
  const found = await tx.get<{ thread: string }>(
    `SELECT thread FROM conversations JOIN threads ON threads.id = thread AND threads."user" = conversations."user"
     WHERE conversations."user" = ? AND name = ?`,
    row.user,
    row.conversation,
  );
  return found?.thread;
}

/** Holds others with the same name off until the transaction is over. SQLite has one writer. */
function locks(engine: Sql["engine"]): (tx: Transaction, name: string) => Promise<unknown> {
  if (engine === "sqlite") return async () => {};
  return (tx, name) => tx.run("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", `postern jobs ${name}`);
}

async function findReplayed(tx: Transaction, job: NewJob, fingerprint: string): Promise<JobRow | undefined> {
  if (job.canBeReplayed !== true) return undefined;
  return await tx.get<JobRow>(
    `SELECT * FROM jobs WHERE fingerprint = ? AND channel = ? AND sender = ? AND created_at > ?
     ORDER BY seq DESC LIMIT 1`,
    fingerprint,
    job.channel,
    job.sender ?? "",
    daysAgo(1),
  );
}

async function findRepeated(tx: Transaction, job: NewJob, fingerprint: string): Promise<JobRow | undefined> {
  if (job.idempotencyKey === undefined) return undefined;
  const known = await tx.get<JobRow>(
    `SELECT * FROM jobs WHERE "user" = ? AND idempotency_key = ? AND channel = ? AND sender = ? AND created_at > ?
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
