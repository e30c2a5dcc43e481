/** How a turn ends, as its row and its thread's say. */
import type { Gate, ModelName, ToolCall, Transaction, Usage } from "../../../kernel/plugin.ts";
import type { Carried } from "./required-tools.ts";

export interface Ending {
  readonly status: "completed" | "waiting" | "cancelled" | "failed";
  readonly error?: { readonly code: string; readonly message: string };
  readonly gate?: Gate;
  readonly pending?: readonly ToolCall[];
  readonly required?: Carried;
}

export function writeEnding(
  tx: Transaction,
  turn: {
    readonly id: string;
    readonly thread: string;
    readonly ending: Ending;
    readonly usage: Usage;
    readonly model: ModelName;
    readonly now: string;
  },
): void {
  const { id, thread, usage, model, now } = turn;
  const { status, error, gate, pending, required } = turn.ending;
  // The thread before its turns, as whoever deletes it does.
  void tx.run(
    `UPDATE threads SET updated_at = ?${gate ? ", gate = ?, pending = ?, required = ?" : ""} WHERE id = ?`,
    now,
    ...(gate
      ? [
          JSON.stringify(gate),
          pending?.length ? JSON.stringify(pending) : null,
          required ? JSON.stringify(required) : null,
        ]
      : []),
    thread,
  );
  void tx.run(
    `UPDATE turns SET status = ?, error = ?, gate = ?, usage = ?, provider = ?, model = ?, completed_at = ?
     WHERE id = ?`,
    status,
    error ? JSON.stringify(error) : null,
    gate ? JSON.stringify(gate) : null,
    JSON.stringify(usage),
    model.provider,
    model.name,
    now,
    id,
  );
}
