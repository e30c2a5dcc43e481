/** Turns as rows when they are opened: where they stand on their thread, and what they go on from. */
import { digestText } from "../../../../kernel/kit/concurrency.ts";
import type { Outside } from "../../../../kernel/kit/turns.ts";
import type { ModelName, Transaction, TurnInput, TurnItem, TurnStatus } from "../../../../kernel/plugin.ts";
import type { Turn } from "../../services.ts";

export interface TurnPosition {
  readonly seq: number;
  /** The turn that it goes on from; null at the beginning. */
  readonly parent: string | null;
  readonly status: TurnStatus;
}

export interface NewTurnRow {
  readonly id: string;
  readonly thread: string;
  readonly turn: Pick<Turn, "user" | "channel" | "preamble" | "after">;
  /** As `inputText` writes it. */
  readonly input: string;
  readonly model: ModelName;
  readonly now: string;
  readonly node: string;
  /** True for what was brought along: nothing is left to do. */
  readonly isOver: boolean;
}

export const OPEN = "status IN ('queued', 'running')";

const STATUS = `CASE WHEN EXISTS (
  SELECT 1 FROM turns AS other INDEXED BY turns_open WHERE other.thread = threads.id AND other.${OPEN}
) THEN 'queued' ELSE 'running' END`;

/** The turn that it goes on from, where the thread has gone on since; otherwise that is the one before it anyway. */
const AFTER = `(SELECT origin.seq FROM turns AS origin WHERE origin.id = CAST(? AS TEXT) AND EXISTS (
  SELECT 1 FROM turns AS later WHERE later.thread = origin.thread AND later.seq > origin.seq))`;

const COLUMNS =
  "id, channel, input, instructions, context, outside, provider, model, node, created_at, completed_at";
/** For a row of turns: the id of the turn that it goes on from. */
export const PARENT = `(SELECT origin.id FROM turns AS origin WHERE origin.thread = turns.thread AND origin.seq = coalesce(
  turns.parent_seq, (SELECT max(earlier.seq) FROM turns AS earlier WHERE earlier.thread = turns.thread AND earlier.seq < turns.seq)))`;

/** A thread may have a model of its own. */
const given = (column: string): string =>
  column === "provider" || column === "model"
    ? `coalesce(threads.${column}, CAST(? AS TEXT))`
    : "CAST(? AS TEXT)";

const PLACE = "ON CONFLICT (id) DO NOTHING RETURNING seq, status";
const addToKnown = (isOver: boolean, after: string | null | undefined): string =>
  `INSERT INTO turns (${COLUMNS}${after === undefined ? "" : ", parent_seq"}, thread, "user", status)
   SELECT ${COLUMNS.replaceAll(/\w+/g, given)}${after === undefined ? "" : `, ${after === null ? 0 : AFTER}`}, id, "user",
     ${isOver ? "'completed'" : STATUS}
   FROM threads WHERE id = ? AND "user" = ? ${PLACE}, ${PARENT} AS parent`;
// A new thread has no other turn; plain values spare SQLite the copies of pages that it makes before it inserts a SELECT.
const addToNew = (isOver: boolean): string => `INSERT INTO turns (${COLUMNS}, thread, "user", status)
  VALUES (${COLUMNS.replaceAll(/\w+/g, "?")}, ?, ?, '${isOver ? "completed" : "running"}') ${PLACE}, NULL AS parent`;

/** Runs at once where no other turn of its thread is open, and otherwise waits in line. */
export function addTurn(
  tx: Transaction,
  row: NewTurnRow & { readonly isNew: boolean },
): Promise<TurnPosition | undefined> {
  const { id, thread, turn, model, node, now, isOver, isNew } = row;
  const { preamble = {}, after } = turn;
  const { instructions = null, context, outside } = preamble;
  const told = [
    instructions,
    context ? JSON.stringify(context) : null,
    outside ? JSON.stringify(outside) : null,
  ];
  const values = [id, turn.channel, row.input, ...told, model.provider, model.name, node];
  const times = [now, isOver ? now : null];
  const origin = !isNew && typeof after === "string" ? [after] : [];
  const add = isNew ? addToNew(isOver) : addToKnown(isOver, after);
  return tx.get<TurnPosition>(add, ...values, ...times, ...origin, thread, turn.user);
}

export interface PreambleColumns {
  readonly instructions: string | null;
  readonly context: string | null;
  readonly outside: string | null;
}

export const preambleOf = ({ instructions, context, outside }: PreambleColumns) => ({
  instructions: instructions ?? undefined,
  context: context === null ? undefined : (JSON.parse(context) as Record<string, unknown>),
  outside: outside === null ? undefined : (JSON.parse(outside) as Outside),
});

/** Shorter texts cost less than what would stand for them. */
const MIN_SHARED_LENGTH = 100;

/** The input as its row has it: in the place of a long message, which is an item of its own, is a digest. */
export async function inputText(input: TurnInput): Promise<string> {
  if (input.type !== "message" || input.text.length < MIN_SHARED_LENGTH) return JSON.stringify(input);
  return JSON.stringify({ ...input, text: "", digest: await digestText(input.text) });
}

export function readInput(text: string, items: readonly TurnItem[]): TurnInput {
  const { digest, ...input } = JSON.parse(text) as TurnInput & { readonly digest?: string };
  if (digest === undefined || input.type !== "message") return input;
  const said = items.find((item) => item.type === "message" && item.role === "user");
  return said?.type === "message" ? { ...input, text: said.text } : input;
}

/** SQL: how many turns of the thread with this id are queued or running. */
export const openOn = (thread: string): string =>
  `(SELECT count(*) FROM turns INDEXED BY turns_open WHERE thread = ${thread} AND ${OPEN})`;

export async function countOpen(tx: Transaction, thread: string): Promise<number> {
  return (await tx.get<{ count: number }>(`SELECT ${openOn("?")} AS count`, thread))?.count ?? 0;
}
