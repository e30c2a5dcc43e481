/** Threads and turns as they are opened and, after a crash, closed. What was written is never lost. */
import { randomUUIDv7 } from "node:crypto";
import type {
  ExternalTool,
  Gate,
  ModelName,
  SyncSql,
  ToolCall,
  Turn,
  TurnInput,
  TurnItem,
  TurnStatus,
} from "../../../kernel/plugin.ts";
import { type Carried, NOTHING_REQUIRED } from "../turn/required-tools.ts";
import { createTurnWriter, type TurnWriter } from "../turn/writer.ts";
import { createPieces } from "./pieces.ts";
import { titleOf } from "./title.ts";

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
}

interface ThreadColumns {
  readonly id: string;
  readonly gate: string | null;
  readonly pending: string | null;
  readonly required: string | null;
  readonly tools: string | null;
}

export const INTERRUPTED = {
  code: "interrupted",
  message: "The turn was interrupted by a restart. What it had done so far is kept.",
} as const;

export interface Ledger {
  thread(user: string, id: string): ThreadRow | undefined;
  knows(turn: string): boolean;
  /** Opens the turn, and its thread where it has none; a resumed gate is closed in the same step. */
  open(turn: Turn, id: string, model: ModelName, status: TurnStatus): TurnWriter;
  /** Gives up on the caller's function that this turn left its thread waiting for. True where there was one. */
  release(user: string, turn: string): boolean;
  /** Closes what a crash left open. */
  recover(): number;
}

export function createLedger(sql: SyncSql): Ledger {
  const pieces = createPieces(sql);
  // Last, because every savepoint makes the full-text index write out what it has gathered.
  const indexText = (seq: number, text: string, thread: string): void =>
    sql.last(() =>
      sql.run("INSERT INTO thread_texts (rowid, text, thread) VALUES (?, ?, ?)", seq, text, thread),
    );

  const index = (item: TurnItem, thread: string, seq: number): void => {
    if (item.type === "message" && item.text !== "") indexText(seq, item.text, thread);
  };

  const insertItem = (turn: string, item: TurnItem): number =>
    sql.run("INSERT INTO turn_items (id, turn, body) VALUES (?, ?, ?)", item.id, turn, JSON.stringify(item))
      .lastId;

  /** A new thread with what the turn brings, which is a turn more where it brings history. */
  function openThread(turn: Turn, model: ModelName, now: string): string {
    const id = randomUUIDv7();
    const title = titleOf(turn);
    const { lastId } = sql.run(
      "INSERT INTO threads (id, user, title, created_at, updated_at, turns, tools) VALUES (?, ?, ?, ?, ?, ?, ?)",
      id,
      turn.user,
      title,
      now,
      now,
      turn.history?.length ? 2 : 1,
      toolsOf(turn),
    );
    indexText(-lastId, title, id);
    importHistory(turn, id, model, now);
    return id;
  }

  function continueThread(thread: string, turn: Turn, now: string): string {
    sql.run(
      "UPDATE threads SET turns = turns + 1, updated_at = ?, tools = ? WHERE id = ?",
      now,
      toolsOf(turn),
      thread,
    );
    if (turn.input.type !== "message") closeGate(thread);
    return thread;
  }

  function insertTurn(row: {
    readonly id: string;
    readonly thread: string;
    readonly turn: Turn;
    readonly input: TurnInput;
    readonly status: TurnStatus;
    readonly model: ModelName;
    readonly now: string;
  }): number {
    const { turn } = row;
    const { lastId } = sql.run(
      `INSERT INTO turns (id, thread, user, channel, status, input, instructions, context, outside, provider, model, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      row.id,
      row.thread,
      turn.user,
      turn.channel,
      row.status,
      JSON.stringify(row.input),
      turn.instructions ?? null,
      turn.context === undefined ? null : JSON.stringify(turn.context),
      turn.outside === undefined ? null : JSON.stringify(turn.outside),
      row.model.provider,
      row.model.name,
      row.now,
    );
    return lastId;
  }

  /** Earlier items that the caller brought are a turn of their own, so that this one holds only what is its. */
  function importHistory(turn: Turn, thread: string, model: ModelName, now: string): void {
    if (turn.history === undefined || turn.history.length === 0) return;
    const id = randomUUIDv7();
    const { instructions: _, context: __, outside: ___, ...bare } = turn;
    const input: TurnInput = { type: "message", text: "" };
    insertTurn({ id, thread, turn: bare, input, status: "completed", model, now });
    sql.run("UPDATE turns SET completed_at = ? WHERE id = ?", now, id);
    for (const item of turn.history) {
      const own = { ...item, id: randomUUIDv7() };
      index(own, thread, insertItem(id, own));
    }
  }

  function closeGate(thread: string): void {
    const gate = sql.get<{ gate: string | null }>("SELECT gate FROM threads WHERE id = ?", thread)?.gate;
    if (gate === null || gate === undefined) return;
    sql.run("UPDATE threads SET gate = NULL, pending = NULL, required = NULL WHERE id = ?", thread);
    const { turn } = JSON.parse(gate) as Gate;
    sql.run("UPDATE turns SET status = 'completed' WHERE id = ? AND status = 'waiting'", turn);
  }

  return {
    thread(user, id) {
      const row = sql.get<ThreadColumns>(
        "SELECT id, gate, pending, required, tools FROM threads WHERE id = ? AND user = ?",
        id,
        user,
      );
      if (row === undefined) return undefined;
      return {
        id: row.id,
        user,
        gate: row.gate === null ? undefined : (JSON.parse(row.gate) as Gate),
        pending: row.pending === null ? [] : (JSON.parse(row.pending) as ToolCall[]),
        required: row.required === null ? NOTHING_REQUIRED : (JSON.parse(row.required) as Carried),
        tools: row.tools === null ? [] : (JSON.parse(row.tools) as ExternalTool[]),
      };
    },

    knows: (turn) => sql.get("SELECT 1 FROM turns WHERE id = ?", turn) !== undefined,

    open(turn, id, model, status) {
      const now = new Date().toISOString();
      const items: TurnItem[] = [];
      const { thread, seq } = sql.transaction(() => {
        const thread =
          turn.thread === undefined ? openThread(turn, model, now) : continueThread(turn.thread, turn, now);
        const seq = insertTurn({ id, thread, turn, input: turn.input, status, model, now });
        if (turn.input.type === "message" && turn.input.text !== "") {
          const item: TurnItem = { type: "message", id: randomUUIDv7(), role: "user", text: turn.input.text };
          index(item, thread, insertItem(id, item));
          items.push(item);
        }
        return { thread, seq };
      });
      return createTurnWriter(
        { sql, pieces, index, insertItem },
        { turn, id, thread, seq, items, now, status, model },
      );
    },

    release(user, turn) {
      return sql.transaction(() => {
        const row = sql.get<{ id: string; gate: string }>(
          `SELECT threads.id, threads.gate FROM threads JOIN turns ON turns.thread = threads.id
           WHERE turns.id = ? AND turns.user = ? AND threads.gate IS NOT NULL`,
          turn,
          user,
        );
        const gate = row && (JSON.parse(row.gate) as Gate);
        // Gates for people stay: they are denied, not cancelled.
        if (gate?.type !== "external_tool" || gate.turn !== turn) return false;
        closeGate(row?.id as string);
        return true;
      });
    },

    recover() {
      return sql.transaction(() => {
        const open = sql.all<{ id: string; thread: string }>(
          "SELECT id, thread FROM turns WHERE status IN ('queued', 'running')",
        );
        for (const { id, thread } of open) {
          const said = pieces.read(id);
          if (said) insertItem(id, said);
          pieces.drop(id);
          for (const { seq, body } of sql.all<{ seq: number; body: string }>(
            "SELECT seq, body FROM turn_items WHERE turn = ? ORDER BY seq",
            id,
          )) {
            sql.run("DELETE FROM thread_texts WHERE rowid = ?", seq);
            index(JSON.parse(body) as TurnItem, thread, seq);
          }
          sql.run(
            "UPDATE turns SET status = 'failed', error = ?, completed_at = ? WHERE id = ?",
            JSON.stringify(INTERRUPTED),
            new Date().toISOString(),
            id,
          );
        }
        return open.length;
      });
    },
  };
}

function toolsOf({ tools }: Turn): string | null {
  return tools?.length ? JSON.stringify(tools) : null;
}
