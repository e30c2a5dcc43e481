/** A thread as its row says it is: what it waits for, and what a new turn has to know. */
import { createHash } from "node:crypto";
import type {
  ExternalTool,
  Gate,
  ModelName,
  Queries,
  Sql,
  ToolCall,
  Transaction,
  Turn,
} from "../../../kernel/plugin.ts";
import { type Carried, NOTHING_REQUIRED } from "./required-tools.ts";

/** A call of an answer that waits behind a gate. */
export interface PendingCall extends ToolCall {
  /** Where it has begun and asked something too: what its own gate will be. */
  readonly asked?: Pick<
    Extract<Gate, { type: "question" }>,
    "server" | "questions" | "resume" | "fingerprint"
  >;
}

export interface ThreadRow {
  readonly id: string;
  readonly user: string;
  readonly gate: Gate | undefined;
  /** Calls of the same answer that wait behind the gate. */
  readonly pending: readonly PendingCall[];
  /** What the turn at the gate had said about tools that must not fail. */
  readonly required: Carried;
  readonly summary: Summary;
  /** What answers on it, where one was chosen. */
  readonly model: ModelName | undefined;
}

/** What stands for the oldest turns, and the last of them. */
export interface Summary {
  readonly text: string | undefined;
  readonly to: number;
}

interface Columns {
  readonly id: string;
  readonly gate: string | null;
  readonly pending: string | null;
  readonly required: string | null;
  readonly summary: string | null;
  readonly summarised_to: number;
  readonly provider: string | null;
  readonly model: string | null;
}

const FIND = `SELECT id, gate, pending, required, summary, summarised_to, provider, model FROM threads
  WHERE id = ? AND "user" = ? AND ephemeral = 0`;

export async function findThread(queries: Queries, user: string, id: string): Promise<ThreadRow | undefined> {
  return read(user, await queries.get<Columns>(FIND, id, user));
}

/** The same, and nobody else opens or closes anything on it before the transaction is over. SQLite has one writer. */
export async function lockThread(
  tx: Queries,
  engine: Sql["engine"],
  user: string,
  id: string,
): Promise<ThreadRow | undefined> {
  return read(user, await tx.get<Columns>(engine === "postgres" ? `${FIND} FOR UPDATE` : FIND, id, user));
}

/** With all that is on it. Of a thread that is ephemeral nothing is in the index of words. */
export function removeThread(tx: Transaction, id: string): Promise<number> {
  return tx.run("DELETE FROM threads WHERE id = ?", id);
}

function read(user: string, row: Columns | undefined): ThreadRow | undefined {
  return (
    row && {
      id: row.id,
      user,
      gate: row.gate === null ? undefined : (JSON.parse(row.gate) as Gate),
      pending: row.pending === null ? [] : (JSON.parse(row.pending) as PendingCall[]),
      required: row.required === null ? NOTHING_REQUIRED : (JSON.parse(row.required) as Carried),
      summary: { text: row.summary ?? undefined, to: row.summarised_to },
      model: chosenIn(row),
    }
  );
}

/** The model that was chosen for a thread. */
export const chosenIn = (row: {
  readonly provider: string | null;
  readonly model: string | null;
}): ModelName | undefined =>
  row.provider === null || row.model === null ? undefined : { provider: row.provider, name: row.model };

/** They belong to the thread: an answer at a gate that does not repeat them goes on with them. */
export const keepsTools = ({ input, tools }: Turn): boolean =>
  input.type !== "message" && tools === undefined;

/** The caller's tools, as the thread has them. */
export async function readTools(
  queries: Queries,
  user: string,
  thread: string,
): Promise<readonly ExternalTool[]> {
  const row = await queries.get<{ tools: string }>(
    'SELECT tools FROM thread_tools JOIN threads ON threads.id = thread WHERE thread = ? AND "user" = ?',
    thread,
    user,
  );
  return row === undefined ? [] : (JSON.parse(row.tools) as readonly ExternalTool[]);
}

/** Clients send the same with every request, and may send a lot: only what has changed is written. */
export function writeTools(tx: Transaction, thread: string, turn: Turn, isNew: boolean): void {
  if (keepsTools(turn)) return;
  if (!turn.tools?.length) {
    if (!isNew) void tx.run("DELETE FROM thread_tools WHERE thread = ?", thread);
    return;
  }
  const tools = JSON.stringify(turn.tools);
  void tx.run(
    `INSERT INTO thread_tools (thread, digest, tools) VALUES (?, ?, ?)
     ON CONFLICT (thread) DO UPDATE SET digest = excluded.digest, tools = excluded.tools
     WHERE thread_tools.digest <> excluded.digest`,
    thread,
    createHash("sha256").update(tools).digest("base64url"),
    tools,
  );
}
