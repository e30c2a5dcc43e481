/** Branches of a thread: a turn sees what led to the one it goes on from, and nothing of what came after that one. */
import { Fault, type Gate, type Queries, type Transaction } from "../../../../kernel/plugin.ts";
import type { Turn } from "../../services.ts";
import { NOTHING_REQUIRED } from "../required-tools.ts";
import type { ThreadRow } from "../thread-row.ts";

/** Turns between these two numbers, both excluded, are another branch's. */
export interface Gap {
  readonly after: number;
  readonly before: number;
}

/** The gaps in the past of a turn. */
export type Path = readonly Gap[];

export const isOnPath = (path: Path, seq: number): boolean =>
  !path.some(({ after, before }) => seq > after && seq < before);

export const keyOf = (path: Path): string => path.map(({ after, before }) => `${after}-${before}`).join();

/**
 * SQL: a turn is among the newest of a thread whose items have so many bytes together, counting those that hold. Its values are the
 * thread and the numbers that the turns are between. Only lengths are read for it.
 */
export const newestOf = (bytes: number, holds = "1 = 1"): string => `turns.seq > coalesce((
  SELECT max(seq) FROM (
    SELECT turns.seq, sum(coalesce((SELECT sum(octet_length(body)) FROM turn_items WHERE turn = turns.id AND ${holds}), 0))
      OVER (ORDER BY turns.seq DESC) AS bytes
    FROM turns WHERE thread = ? AND turns.seq > ? AND turns.seq < ?) AS sized
  WHERE bytes > ${bytes}), 0)`;

export async function readPath(queries: Queries, thread: string, seq: number): Promise<Path> {
  const find = `SELECT seq, parent_seq FROM turns INDEXED BY turns_branching
    WHERE thread = ? AND seq <= ? AND parent_seq IS NOT NULL ORDER BY seq DESC`;
  const jumps = await queries.all<{ seq: number; parent_seq: number }>(find, thread, seq);
  const path: Gap[] = [];
  let at = seq;
  for (const jump of jumps) {
    if (jump.seq > at) continue;
    path.push({ after: jump.parent_seq, before: jump.seq });
    at = jump.parent_seq;
  }
  return path;
}

/** The turn that another goes on from. */
export interface Origin {
  /** Undefined at the beginning of a thread. */
  readonly id: string | undefined;
  readonly seq: number;
  readonly gate: Gate | undefined;
}

/** Before the first turn, whose number is 1 at least. */
const BEGINNING: Origin = { id: undefined, seq: 0, gate: undefined };

interface Columns {
  readonly id: string;
  readonly seq: number;
  readonly gate: string | null;
}

const read = (row: Columns | undefined): Origin | undefined =>
  row && { id: row.id, seq: row.seq, gate: row.gate === null ? undefined : (JSON.parse(row.gate) as Gate) };

export async function findOrigin(
  queries: Queries,
  { user, after }: Pick<Turn, "user" | "after">,
  thread: string | undefined,
): Promise<Origin> {
  if (after === null) return BEGINNING;
  const find = 'SELECT id, seq, gate FROM turns WHERE id = ? AND thread = ? AND "user" = ?';
  const isKnown = after !== undefined && thread !== undefined;
  const origin = isKnown ? read(await queries.get<Columns>(find, after, thread, user)) : undefined;
  if (origin !== undefined) return origin;
  throw noTurn(`${after}`, "after");
}

export function noTurn(turn: string, param: string): Fault {
  return new Fault("missing", "turn_not_found", `The thread has no turn ${turn}.`, { param });
}

/**
 * A person answers a gate on another channel, and whoever got no further than that gate goes on from what came of it.
 * The caller of a function answers it where it was called, as often as they like.
 */
export async function followAnswers(queries: Queries, thread: ThreadRow, origin: Origin): Promise<Origin> {
  const find =
    "SELECT id, seq, gate FROM turns WHERE thread = ? AND seq > ? AND input LIKE ? ORDER BY seq LIMIT 1";
  for (let at = origin; ; ) {
    const { gate } = at;
    if (gate === undefined || gate.type === "external_tool" || gate.id === thread.gate?.id) return at;
    const answer = read(await queries.get<Columns>(find, thread.id, at.seq, `%"gate":"${gate.id}"%`));
    if (answer === undefined) return at;
    at = answer;
  }
}

/** The thread as a turn finds it that goes on from there: what another branch waits for is no concern of its. */
export function threadAt(thread: ThreadRow, { gate }: Origin, input: Turn["input"]): ThreadRow {
  if (gate !== undefined && gate.id === thread.gate?.id) return thread;
  const answers = input.type === "tool_output" || input.type === "tool_outputs";
  const counts = answers && gate?.type === "external_tool" ? gate : undefined;
  return { ...thread, gate: counts, pending: [], required: NOTHING_REQUIRED };
}

/** Goes on from there, which is a branch where others have since. */
export function moveTurn(
  tx: Transaction,
  { id, thread }: { readonly id: string; readonly thread: string },
  origin: number,
): Promise<number> {
  const move = `UPDATE turns SET parent_seq = CASE WHEN EXISTS (
      SELECT 1 FROM turns AS later WHERE later.thread = ? AND later.seq > ? AND later.seq < turns.seq
    ) THEN CAST(? AS BIGINT) END WHERE id = ?`;
  return tx.run(move, thread, origin, origin, id);
}

/** The answer to a gate goes on from the turn that asked. Returns that turn where the given one had to be moved. */
export async function moveToGate(
  tx: Transaction,
  turn: { readonly id: string; readonly thread: string; readonly seq: number },
  gate: Gate,
): Promise<Origin | undefined> {
  const [row, path] = await Promise.all([
    tx.get<Columns>("SELECT id, seq, gate FROM turns WHERE id = ? AND thread = ?", gate.turn, turn.thread),
    readPath(tx, turn.thread, turn.seq),
  ]);
  const asked = read(row);
  if (asked === undefined || isOnPath(path, asked.seq)) return undefined;
  await moveTurn(tx, turn, asked.seq);
  return asked;
}
