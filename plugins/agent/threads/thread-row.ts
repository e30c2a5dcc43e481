/** A thread as its row says it is: what it waits for, and what a new turn has to know. */

import { hash } from "node:crypto";
import {
  Fault,
  type Gate,
  type ModelName,
  type Queries,
  type Sql,
  type ToolCall,
  type Transaction,
} from "../../../kernel/plugin.ts";
import type { ExternalTool, Turn } from "../services.ts";
import { type Carried, NOTHING_REQUIRED } from "./required-tools.ts";

/** A call of an answer that waits behind a gate. */
export interface PendingCall extends ToolCall {
  /** If it has begun and asked something too, its own gate. */
  readonly asked?: Pick<
    Extract<Gate, { type: "question" }>,
    "server" | "questions" | "resume" | "fingerprint"
  >;
}

export interface ThreadRow {
  readonly id: string;
  readonly user: string;
  readonly gate: Gate | undefined;
  readonly pending: readonly PendingCall[];
  /** The state of required tools in the turn at the gate. */
  readonly required: Carried;
  readonly summary: Summary;
  readonly model: ModelName | undefined;
  /** True while a model may give it a title. */
  readonly isUntitled: boolean;
}

/** A summary stands for the oldest turns, up to the last of them. */
export interface Summary {
  readonly text: string | undefined;
  readonly to: number;
}

export const NO_SUMMARY: Summary = { text: undefined, to: 0 };

interface Columns {
  readonly id: string;
  readonly gate: string | null;
  readonly pending: string | null;
  readonly required: string | null;
  readonly summary: string | null;
  readonly summarised_to: number;
  readonly provider: string | null;
  readonly model: string | null;
  readonly titled_by: string | null;
}

/** SQL: which threads people and models find. One in the bin is found there only, and an ephemeral one nowhere. */
export const IS_LISTED = "ephemeral = 0 AND binned_at IS NULL";

const FIND = `SELECT id, gate, pending, required, summary, summarised_to, provider, model, titled_by FROM threads
  WHERE id = ? AND "user" = ? AND ${IS_LISTED}`;

/** With `lock`, nobody else opens or closes anything on it before the transaction is over. SQLite has one writer. */
export async function findThread(
  queries: Queries,
  user: string,
  id: string,
  lock?: Sql["engine"],
): Promise<ThreadRow | undefined> {
  const row = await queries.get<Columns>(lock === "postgres" ? `${FIND} FOR UPDATE` : FIND, id, user);
  return (
    row && {
      id: row.id,
      user,
      gate: row.gate === null ? undefined : (JSON.parse(row.gate) as Gate),
      pending: row.pending === null ? [] : (JSON.parse(row.pending) as PendingCall[]),
      required: row.required === null ? NOTHING_REQUIRED : (JSON.parse(row.required) as Carried),
      summary: { text: row.summary ?? undefined, to: row.summarised_to },
      model: chosenIn(row),
      isUntitled: row.titled_by === null,
    }
  );
}

/** Removes all that is on it too. Nothing of an ephemeral thread is in the index of words. */
export function removeThread(tx: Transaction, id: string): Promise<number> {
  return tx.run("DELETE FROM threads WHERE id = ?", id);
}

/** The model that was chosen for a thread. */
export const chosenIn = (row: {
  readonly provider: string | null;
  readonly model: string | null;
}): ModelName | undefined =>
  row.provider === null || row.model === null ? undefined : { provider: row.provider, name: row.model };

export function noThread(thread: string, param?: string): Fault {
  return new Fault("missing", "thread_not_found", `There is no thread ${thread}.`, { param });
}

/** They belong to the thread: an answer at a gate that does not repeat them goes on with them. */
export const keepsTools = ({ input, answer }: Turn): boolean =>
  input.type !== "message" && answer?.tools === undefined;

/** The caller's tools, as the thread has them. */
export async function readTools(
  queries: Queries,
  user: string,
  thread: string,
): Promise<readonly ExternalTool[]> {
  const find =
    'SELECT tools FROM thread_tools JOIN threads ON threads.id = thread WHERE thread = ? AND "user" = ? AND binned_at IS NULL';
  const row = await queries.get<{ tools: string }>(find, thread, user);
  return row === undefined ? [] : (JSON.parse(row.tools) as readonly ExternalTool[]);
}

/** Clients send the same with every request, and may send a lot: only what has changed is written. */
export function writeTools(tx: Transaction, thread: string, turn: Turn, isNew: boolean): void {
  if (keepsTools(turn)) return;
  const given = turn.answer?.tools;
  if (!given?.length) {
    if (!isNew) void tx.run("DELETE FROM thread_tools WHERE thread = ?", thread);
    return;
  }
  const tools = JSON.stringify(given);
  // Nothing for a thread that is not there, which is refused when that is known.
  const write = `INSERT INTO thread_tools (thread, digest, tools)
    SELECT id, CAST(? AS TEXT), CAST(? AS TEXT) FROM threads WHERE id = ?
    ON CONFLICT (thread) DO UPDATE SET digest = excluded.digest, tools = excluded.tools
    WHERE thread_tools.digest <> excluded.digest`;
  void tx.run(write, hash("sha256", tools, "base64url"), tools, thread);
}
