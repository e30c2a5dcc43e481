/** How a turn ends, and what that is in the store. */
import { whyHeld } from "../../../kernel/kit/display.ts";
import {
  Fault,
  type Gate,
  type Log,
  type ModelName,
  reason,
  type Transaction,
  type Usage,
} from "../../../kernel/plugin.ts";
import type { Turn } from "../services.ts";
import type { Carried } from "./required-tools.ts";
import type { PendingCall } from "./thread-row.ts";
import type { OwnTurn } from "./turns/items.ts";

export interface Ending {
  readonly status: "completed" | "waiting" | "cancelled" | "failed";
  readonly error?: { readonly code: string; readonly message: string };
  readonly gate?: Gate;
  readonly pending?: readonly PendingCall[];
  readonly required?: Carried;
  readonly incomplete?: "max_output_tokens" | "content_filter";
  /** What it used together with turns that worked for it, where there were any. */
  readonly total?: Usage;
}

interface Next {
  readonly node: string;
}

/** Closes the turn of a thread, and returns the node of the turn that waits for it. */
export function closeTurn(
  tx: Transaction,
  turn: OwnTurn & {
    readonly thread: string;
    readonly isBranched: boolean;
    readonly model: ModelName;
    readonly openedAt: string;
  },
  { status, error, gate, pending, required, incomplete, total }: Ending,
  usage: Usage,
  now: string,
): Promise<Next | undefined> {
  const { id, node, thread, model } = turn;
  const waiting = gate ? [json(gate), json(pending?.length ? pending : undefined), json(required)] : [];
  // The thread before its turns, as whoever deletes it does.
  const touch = `UPDATE threads SET updated_at = ?${gate ? ", gate = ?, pending = ?, required = ?" : ""}
    WHERE id = ? AND EXISTS (SELECT 1 FROM turns WHERE turns.id = ? AND turns.node = ?)`;
  void tx.run(touch, now, ...waiting, thread, id, node);
  // A thread has one gate: what another branch waited for is no longer asked.
  const unask = `UPDATE turns SET status = 'completed' WHERE thread = ? AND status = 'waiting'
    AND EXISTS (SELECT 1 FROM turns AS own WHERE own.id = ? AND own.node = ?)`;
  if (gate && turn.isBranched) void tx.run(unask, thread, id, node);
  const columns = {
    status,
    error: json(error),
    gate: json(gate),
    incomplete: incomplete ?? null,
    usage: json(total ?? usage),
    provider: model.provider,
    model: model.name,
    completed_at: now,
  };
  const set = Object.keys(columns).map((name) => `${name} = ?`);
  void tx.run(`UPDATE turns SET ${set} WHERE id = ? AND node = ?`, ...Object.values(columns), id, node);
  countTurn(tx, turn, status, usage, now);
  const next = `SELECT node FROM turns INDEXED BY turns_open WHERE thread = ? AND status IN ('queued', 'running')
    ORDER BY seq LIMIT 1`;
  return tx.get<Next>(next, thread);
}

/** What was spent, as `turn_figures` has it. */
export const spentColumns = ({ inputTokens, outputTokens, cachedTokens, ...usage }: Usage) => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  cached_tokens: cachedTokens,
  usd: Number(usage.totalCost),
  estimated_usd: Number(usage.estimatedCost ?? 0),
  saved_usd: Number(usage.savedCost ?? 0),
});

/** Counts a turn that ends, for `usage`. */
export function countTurn(
  tx: Transaction,
  { id, node, model, openedAt }: OwnTurn & { readonly model: ModelName; readonly openedAt: string },
  status: Ending["status"],
  usage: Usage,
  now: string,
): void {
  const spent = spentColumns(usage);
  const millis = Math.max(0, Date.parse(now) - Date.parse(openedAt));
  const figures = { provider: model.provider, model: model.name, status, ...spent, millis };
  const columns = Object.keys(figures);
  const add = `INSERT INTO turn_figures (created_at, turn, seq, "user", channel, ${columns})
    SELECT created_at, id, seq, "user", channel, ${columns.map(() => "?")} FROM turns WHERE id = ? AND node = ?`;
  void tx.run(add, ...Object.values(figures), id, node);
}

const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

/** Returns how an error ends a turn, unless the turn was told to stop. */
export function endingOf(error: unknown, signal: AbortSignal, log: Log): Ending {
  const cause = signal.aborted ? signal.reason : error;
  if (cause instanceof Fault)
    return { status: "failed", error: { code: cause.code, message: callersReason(cause) } };
  if (signal.aborted) return { status: "cancelled" };
  log.error({ error }, "a turn failed because of a bug");
  return {
    status: "failed",
    error: { code: "internal", message: "Something went wrong in the service; the log has the details." },
  };
}

/** A turn that leaves nothing behind cannot be answered later, unless the caller brings its history along. */
export function withoutQuestion({ keeping }: Pick<Turn, "keeping">, ending: Ending): Ending {
  const { gate } = ending;
  if (!keeping?.ephemeral || gate === undefined || gate.type === "external_tool") return ending;
  const [needs, first] = wanted(gate);
  return {
    status: "failed",
    error: {
      code: `${gate.type}_required`,
      message: `The tool "${gate.call.name}" needs ${needs}, but nothing of this turn is kept that could be continued. ${first}, or send the request with store: true.`,
    },
  };
}

function wanted(gate: Exclude<Gate, { type: "external_tool" }>): readonly [string, string] {
  switch (gate.type) {
    case "approval": {
      const why = whyHeld(gate);
      return why === ""
        ? ["approval", "Allow the tool first"]
        : [`approval (${why})`, "Put these values into your own request"];
    }
    case "authentication":
      return [`the credential "${gate.secret}"`, "Provide it first"];
    case "question":
      return ["an answer from a person", "Use another channel"];
  }
}

export function unstoredEnding(error: unknown): Ending {
  const code = error instanceof Fault ? error.code : "store_failed";
  return {
    status: "failed",
    error: { code, message: `The turn could not be stored: ${callersReason(error)}` },
  };
}

export const STOPPED = new Fault("turn", "interrupted", "The service was stopped while the turn ran.");
export const TAKEN_OVER = new Fault(
  "turn",
  "interrupted",
  "The turn was interrupted: its node could not reach the database.",
);

/** Words for a caught value, for people other than the operator. */
export const callersReason = (error: unknown): string =>
  (error instanceof Fault ? error.callersMessage : undefined) ?? reason(error);
