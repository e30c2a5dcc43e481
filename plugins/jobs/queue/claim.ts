/** Takes the next job to run: the users in turn, and of one conversation one job at a time. */
import type { Sql, Transaction } from "../../../kernel/plugin.ts";
import type { JobTurn } from "../services.ts";
import { type JobRow, parse } from "./row.ts";

export interface Claimed extends JobRow {
  /** The thread of its conversation, which may be gone. */
  readonly goesOn: string | undefined;
  readonly request: string | null;
}

// A claim that is lost in a power cut is a job that was never begun.
const UNFLUSHED = { flush: false };
/** PostgreSQL's word for it. SQLite has one writer, who sees what runs. */
const UNIQUE_VIOLATION = "23505";

/** Takes the oldest job that may run of the next user in the round, with a channel of that channel alone. */
export function createClaim(sql: Sql, node: string) {
  const claimAny = claimOf(sql.engine);
  const claimOfChannel = claimOf(sql.engine, "AND free.channel = ?");

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
        ...[turn, node, now, after],
        ...(channel === undefined ? [] : [channel]),
      );
    const row = (await claimAfter(user)) ?? (user === "" ? undefined : await claimAfter(""));
    if (row === undefined) return undefined;
    return { ...row, goesOn: row.conversation === null ? undefined : await threadOf(tx, row) };
  }

  return async (user: string, turn: string, channel?: string): Promise<Claimed | undefined> => {
    for (;;) {
      try {
        return await sql.transaction((tx) => claimOne(tx, user, turn, channel), UNFLUSHED);
      } catch (error) {
        if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
      }
    }
  };
}

/**
 * Takes the oldest waiting job of a conversation whose job `turn` runs here, if that turn may hear its message. Undefined if it may not: then
 * it waits for its own turn, and those after it as well.
 */
export function createJoin(sql: Sql, node: string) {
  return (running: Claimed, turn: string): Promise<Claimed | undefined> =>
    sql.transaction(async (tx) => {
      const find = `SELECT seq, request, attempts FROM jobs INDEXED BY jobs_waiting
        WHERE status = 'queued' AND held = 0 AND "user" = ? AND conversation = ? ORDER BY seq LIMIT 1`;
      const { user, conversation } = running;
      const next = await tx.get<Pick<Claimed, "seq" | "request" | "attempts">>(find, user, conversation);
      if (next === undefined || next.attempts > 0) return undefined;
      if (!parse<JobTurn>(next.request)?.work?.steers) return undefined;
      const join = `UPDATE jobs SET status = 'running', joined = 1, turn = ?, node = ?, started_at = ?, attempts = attempts + 1
        WHERE seq = ? AND status = 'queued' AND EXISTS (SELECT 1 FROM jobs AS other WHERE other.turn = ? AND other.status = 'running')
        RETURNING *`;
      const now = new Date().toISOString();
      const row = await tx.get<Omit<Claimed, "goesOn">>(join, turn, node, now, next.seq, running.turn);
      return row && { ...row, goesOn: await threadOf(tx, row) };
    }, UNFLUSHED);
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
