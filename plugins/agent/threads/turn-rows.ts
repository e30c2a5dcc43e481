/** Turns as rows when they are opened: where they stand on their thread, and what they go on from. */
import type { ModelName, Transaction, Turn, TurnInput, TurnStatus } from "../../../kernel/plugin.ts";

export interface Place {
  readonly seq: number;
  readonly status: TurnStatus;
}

export interface NewTurnRow {
  readonly id: string;
  readonly thread: string;
  readonly turn: Pick<Turn, "user" | "channel" | "instructions" | "context" | "outside" | "after">;
  readonly input: TurnInput;
  readonly model: ModelName;
  readonly now: string;
  readonly node: string;
  /** True for what was brought along: nothing is left to do. */
  readonly isOver: boolean;
}

const OPEN = "status IN ('queued', 'running')";

const STATUS = `CASE WHEN EXISTS (
  SELECT 1 FROM turns AS other INDEXED BY turns_open WHERE other.thread = threads.id AND other.${OPEN}
) THEN 'queued' ELSE 'running' END`;

/** The turn that it goes on from, where the thread has gone on since; otherwise that is the one before it anyway. */
const PARENT = `(SELECT origin.seq FROM turns AS origin WHERE origin.id = CAST(? AS TEXT) AND EXISTS (
  SELECT 1 FROM turns AS later WHERE later.thread = origin.thread AND later.seq > origin.seq))`;

const COLUMNS =
  "id, channel, input, instructions, context, outside, provider, model, node, created_at, completed_at";
const PLACE = "ON CONFLICT (id) DO NOTHING RETURNING seq, status";
const addToKnown = (isOver: boolean, goesOn: boolean): string =>
  `INSERT INTO turns (${COLUMNS}${goesOn ? ", parent_seq" : ""}, thread, "user", status)
   SELECT ${COLUMNS.replaceAll(/\w+/g, "CAST(? AS TEXT)")}${goesOn ? `, ${PARENT}` : ""}, id, "user",
     ${isOver ? "'completed'" : STATUS}
   FROM threads WHERE id = ? AND "user" = ? ${PLACE}`;
// A new thread has no other turn; plain values spare SQLite the copies of pages that it makes before it inserts a SELECT.
const addToNew = (isOver: boolean): string => `INSERT INTO turns (${COLUMNS}, thread, "user", status)
  VALUES (${COLUMNS.replaceAll(/\w+/g, "?")}, ?, ?, '${isOver ? "completed" : "running"}') ${PLACE}`;

/** Runs at once where no other turn of its thread is open, and otherwise waits in line. */
export function addTurn(
  tx: Transaction,
  row: NewTurnRow & { readonly isNew: boolean },
): Promise<Place | undefined> {
  const { turn, isOver, isNew } = row;
  const goesOn = !isNew && turn.after !== undefined;
  return tx.get<Place>(
    isNew ? addToNew(isOver) : addToKnown(isOver, goesOn),
    row.id,
    turn.channel,
    JSON.stringify(row.input),
    turn.instructions ?? null,
    turn.context === undefined ? null : JSON.stringify(turn.context),
    turn.outside === undefined ? null : JSON.stringify(turn.outside),
    row.model.provider,
    row.model.name,
    row.node,
    row.now,
    isOver ? row.now : null,
    ...(goesOn ? [turn.after as string] : []),
    row.thread,
    turn.user,
  );
}

export async function countOpen(tx: Transaction, thread: string): Promise<number> {
  const query = `SELECT count(*) AS count FROM turns INDEXED BY turns_open WHERE thread = ? AND ${OPEN}`;
  return (await tx.get<{ count: number }>(query, thread))?.count ?? 0;
}
