/** A thread as its row says it is: what it waits for, and what a new turn has to know. */
import type { ExternalTool, Gate, Queries, Sql, ToolCall, Transaction } from "../../../kernel/plugin.ts";
import { type Carried, NOTHING_REQUIRED } from "../turn/required-tools.ts";

export interface ThreadRow {
  readonly id: string;
  readonly user: string;
  readonly gate: Gate | undefined;
  /** Calls of the same answer that wait behind the gate. */
  readonly pending: readonly ToolCall[];
  /** What the turn at the gate had said about tools that must not fail. */
  readonly required: Carried;
  /** The caller's tools, as last declared. */
  readonly tools: readonly ExternalTool[];
  readonly summary: Summary;
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
  readonly tools: string | null;
  readonly summary: string | null;
  readonly summarised_to: number;
}

const FIND = `SELECT id, gate, pending, required, tools, summary, summarised_to FROM threads
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
      pending: row.pending === null ? [] : (JSON.parse(row.pending) as ToolCall[]),
      required: row.required === null ? NOTHING_REQUIRED : (JSON.parse(row.required) as Carried),
      tools: row.tools === null ? [] : (JSON.parse(row.tools) as ExternalTool[]),
      summary: { text: row.summary ?? undefined, to: row.summarised_to },
    }
  );
}
