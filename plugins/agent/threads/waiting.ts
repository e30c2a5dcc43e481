/**
 * Messages that wait in line for the turn before them. Where people talk, that turn takes them before it asks the model again: then they
 * are items of it, under the id that their own turn would have had, and nothing else is left of that turn.
 */
import { randomUUIDv7 } from "node:crypto";
import type { Outside } from "../../../kernel/kit/turns.ts";
import type { Sql, TokenScope, Transaction, TurnInput, TurnItem } from "../../../kernel/plugin.ts";
import { scopesOf } from "../safety/scope.ts";
import { type QueuedRequest, writeRequest } from "./queued.ts";
import { type OwnTurn, writeItem } from "./turns/items.ts";

export type Message = Extract<TurnItem, { type: "message" }>;

interface WaitingRow {
  readonly id: string;
  readonly channel: string;
  readonly parent_seq: number | null;
  /** The number of things that came with the message for its own turn. */
  readonly besides: number;
  /** What came with it and stays with it, as JSON. */
  readonly outside: string | null;
  readonly stop_asked: number;
  readonly request: string | null;
}

// The index has turns of both states: a planner that is told of one alone would not use it.
const WAITING = "turns.thread = ? AND turns.status IN ('queued', 'running') AND turns.status = 'queued'";
const FIND = `SELECT turns.id, channel, parent_seq, stop_asked, request, outside,
    CASE WHEN coalesce(instructions, context) IS NULL THEN 0 ELSE 1 END AS besides
  FROM turns LEFT JOIN queued_turns ON queued_turns.turn = turns.id WHERE ${WAITING} ORDER BY turns.seq`;

/** True if something waits on this thread. */
export const hasWaiting = async (sql: Sql, thread: string): Promise<boolean> =>
  (await sql.get(`SELECT 1 AS one FROM turns INDEXED BY turns_open WHERE ${WAITING} LIMIT 1`, thread)) !==
  undefined;

/** Takes the messages that are next in line, as far as they are for this turn, and returns them in their order. */
export function takeWaiting(
  sql: Sql,
  turn: OwnTurn & { readonly thread: string; readonly seq: number },
  scopes: readonly TokenScope[],
): Promise<readonly Message[]> {
  const { id, node, thread, seq } = turn;
  const isFor = ({ parent_seq, besides, stop_asked, request }: WaitingRow): boolean =>
    (parent_seq === null || parent_seq === seq) &&
    besides + stop_asked === 0 &&
    request !== null &&
    isPlain(JSON.parse(request) as QueuedRequest, scopes);
  return sql.transaction(async (tx) => {
    // The thread before its turns, as whoever deletes it does.
    const lock = sql.engine === "postgres" ? " FOR UPDATE" : "";
    await tx.get(`SELECT 1 AS one FROM threads WHERE id = ?${lock}`, thread);
    const own = "SELECT 1 AS one FROM turns WHERE id = ? AND node = ? AND status = 'running'";
    if ((await tx.get(own, id, node)) === undefined) return [];
    const rows = await tx.all<WaitingRow>(FIND, thread);
    const end = rows.findIndex((row) => !isFor(row));
    const taken: Message[] = [];
    for (const row of end === -1 ? rows : rows.slice(0, end)) {
      const found = await tx.get<{ body: string }>("SELECT body FROM turn_items WHERE turn = ?", row.id);
      if (found === undefined) continue;
      await tx.run("DELETE FROM turns WHERE id = ?", row.id);
      const request: unknown = JSON.parse(row.request as string);
      const item: Message = {
        ...(JSON.parse(found.body) as Message),
        id: row.id,
        ...(row.outside !== null && { outside: JSON.parse(row.outside) as Outside }),
        taken: { channel: row.channel, request },
      };
      await writeItem(tx, turn, item);
      taken.push(item);
    }
    if (taken.length > 0)
      await tx.run("UPDATE threads SET turns = turns - ? WHERE id = ?", taken.length, thread);
    return taken;
  });
}

/** The messages that were taken last, which nothing has followed: no model has answered them. */
export function unheardIn(items: readonly TurnItem[]): readonly Message[] {
  const isTaken = (item: TurnItem) => item.type === "message" && item.taken !== undefined;
  return items.slice(items.findLastIndex((item) => !isTaken(item)) + 1) as readonly Message[];
}

/** Messages that a turn has taken wait in line again, under the same ids, because it is cut short before it has heard them. */
export function putBackMessages(
  tx: Transaction,
  turn: OwnTurn & { readonly thread: string },
  messages: readonly Message[],
): void {
  const { id: taker, node, thread } = turn;
  for (const { taken, outside, ...message } of messages) {
    const { id, text, attachments } = message;
    const { channel, request } = taken as NonNullable<typeof taken>;
    const own = "SELECT id FROM turns WHERE id = ? AND node = ?";
    void tx.run(`DELETE FROM turn_items WHERE id = ? AND turn IN (${own})`, id, taker, node);
    // Its job submits it again.
    if ((request as QueuedRequest).work?.job !== undefined) continue;
    const input: TurnInput = { type: "message", text, attachments };
    const add = `INSERT INTO turns (id, channel, input, outside, created_at, status, thread, "user", provider, model, node)
      SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), 'queued', thread, "user", provider, model, node
      FROM turns WHERE id = ? AND node = ? ON CONFLICT (id) DO NOTHING`;
    const told = outside ? JSON.stringify(outside) : null;
    void tx.run(add, id, channel, JSON.stringify(input), told, new Date().toISOString(), taker, node);
    void writeItem(tx, { id, node }, { ...message, id: randomUUIDv7() });
    writeRequest(tx, id, request as QueuedRequest);
    const count = `UPDATE threads SET turns = turns + 1 WHERE id = ? AND EXISTS (SELECT 1 FROM turns WHERE id = ? AND node = ?)`;
    void tx.run(count, thread, id, node);
  }
}

/**
 * A message with anything that is for its own turn alone waits for that turn. So does one of another token: what a token may not use is not
 * done for its message in the turn of another.
 */
function isPlain(request: QueuedRequest, scopes: readonly TokenScope[]): boolean {
  const { answer = {}, preamble, scope, work: { steers, job: _, trace: __, ...limits } = {} } = request;
  const isBare = [answer, preamble, limits].every((part) => Object.keys(part).length === 0);
  const own = scopesOf({ input: { type: "message", text: "" }, scope, work: limits });
  return steers === true && isBare && JSON.stringify(own) === JSON.stringify(scopes);
}
