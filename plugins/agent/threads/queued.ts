/** Turns that wait in line, written so that they can still run after their process has ended. */
import type { ModelName, Queries, Transaction, TurnItem } from "../../../kernel/plugin.ts";
import type { Turn } from "../services.ts";
import { namedIn, readAttachments } from "./attachments/stored.ts";
import type { OwnTurn } from "./turns/items.ts";
import { PARENT, type PreambleColumns, preambleOf, readInput } from "./turns/turn-rows.ts";

/** What a row of `turns` does not say, or not as it was asked for. */
export type QueuedRequest = Pick<Turn, "answer" | "work" | "keeping" | "scope"> & {
  readonly preamble: Pick<NonNullable<Turn["preamble"]>, "instructionsOnce" | "isReplay" | "origins">;
};

export interface QueuedTurn {
  readonly turn: Turn & { readonly id: string; readonly thread: string };
  readonly model: ModelName;
  readonly seq: number;
  readonly items: TurnItem[];
  readonly after: string | undefined;
  readonly createdAt: string;
  readonly isBranched: boolean;
}

interface Row extends PreambleColumns {
  readonly id: string;
  readonly thread: string;
  readonly seq: number;
  readonly user: string;
  readonly channel: string;
  readonly input: string;
  readonly request: string;
  readonly provider: string;
  readonly model: string;
  readonly created_at: string;
  readonly parent: string | null;
  readonly branched: number;
}

/** An answer at a gate is not kept: its caller hears that it was not taken, and the gate stays. */
export const isKept = ({ input, keeping, preamble }: Turn): boolean =>
  keeping?.survivesRestart === true && input.type === "message" && !preamble?.history?.length;

/** Nothing is written for a turn that runs at once. */
export function writeQueued(tx: Transaction, id: string, turn: Turn): void {
  if (!isKept(turn)) return;
  const { answer, work, keeping, scope, preamble: { instructionsOnce, isReplay, origins } = {} } = turn;
  const request: QueuedRequest = {
    answer,
    work,
    keeping,
    scope,
    preamble: { instructionsOnce, isReplay, origins },
  };
  writeRequest(tx, id, request);
}

export function writeRequest(tx: Transaction, id: string, request: QueuedRequest): void {
  const write = `INSERT INTO queued_turns (turn, request)
    SELECT id, CAST(? AS TEXT) FROM turns WHERE id = ? AND status = 'queued'`;
  void tx.run(write, JSON.stringify(request), id);
}

export function dropQueued(tx: Transaction, id: string): Promise<number> {
  return tx.run("DELETE FROM queued_turns WHERE turn = ?", id);
}

/** Puts a turn back that has begun and done nothing yet. */
export function putBack(queries: Queries, { id, node }: OwnTurn): Promise<number> {
  return queries.run(
    "UPDATE turns SET status = 'queued' WHERE id = ? AND node = ? AND status = 'running'",
    id,
    node,
  );
}

/** Those of this node that wait and that it does not know of, in the order in which they came. What is known is not read again. */
export async function readQueued(
  queries: Queries,
  node: string,
  isKnown: (turn: string) => boolean,
): Promise<readonly QueuedTurn[]> {
  const waiting = `FROM queued_turns JOIN turns ON turns.id = queued_turns.turn JOIN threads ON threads.id = turns.thread
    WHERE status = 'queued' AND node = ?`;
  const find = `SELECT turns.id, turns.thread, turns.seq, turns."user", turns.channel, input, instructions, context, outside,
      request, turns.provider, turns.model, turns.created_at, branched, ${PARENT} AS parent ${waiting} AND turns.id = ?`;
  const ids = await queries.all<{ id: string }>(`SELECT turns.id ${waiting} ORDER BY turns.seq`, node);
  const unknown = ids.filter(({ id }) => !isKnown(id));
  const rows = await Promise.all(unknown.map(({ id }) => queries.get<Row>(find, node, id)));
  return await Promise.all(rows.flatMap((row) => (row === undefined ? [] : [queuedTurn(queries, row)])));
}

async function queuedTurn(queries: Queries, row: Row): Promise<QueuedTurn> {
  const { id, thread, seq, user, channel } = row;
  const read = "SELECT body FROM turn_items WHERE turn = ? ORDER BY seq";
  const items = (await queries.all<{ body: string }>(read, id)).map(
    ({ body }) => JSON.parse(body) as TurnItem,
  );
  const { preamble, ...request } = JSON.parse(row.request) as QueuedRequest;
  const turn: QueuedTurn["turn"] = {
    ...{ ...request, id, thread, user, channel },
    input: readInput(row.input, items),
    preamble: { ...preamble, ...preambleOf(row) },
  };
  const files = await readAttachments(
    queries,
    thread,
    namedIn(turn).map((attachment) => attachment.id),
  );
  return {
    turn: { ...turn, attached: [...files].map(([file, data]) => ({ id: file, data })) },
    model: { provider: row.provider, name: row.model },
    ...{ seq, items },
    after: row.parent ?? undefined,
    createdAt: row.created_at,
    isBranched: row.branched === 1,
  };
}
