/** Opens a turn, and its thread where it has none, in one transaction: a turn that is refused leaves nothing behind. */
import { randomUUIDv7 } from "node:crypto";
import {
  type Alongside,
  Fault,
  type Gate,
  type ModelName,
  type Sql,
  type Transaction,
  type Turn,
  type TurnInput,
  type TurnItem,
  type TurnStatus,
} from "../../../kernel/plugin.ts";
import { type Beginning, beginningOf } from "../turn/resume.ts";
import { writeItem } from "./items.ts";
import type { ThreadTexts } from "./texts.ts";
import { lockThread, type ThreadRow } from "./thread-row.ts";
import { titleOf } from "./title.ts";

export interface OpenedTurn {
  readonly id: string;
  readonly thread: string;
  /** Its place among all turns. */
  readonly seq: number;
  /** Queued where others of its thread are open. */
  readonly status: TurnStatus;
  readonly now: string;
  readonly items: TurnItem[];
  readonly beginning: Beginning;
  /** The thread as it was; undefined where it is new. */
  readonly before: ThreadRow | undefined;
}

interface Place {
  readonly seq: number;
  readonly status: TurnStatus;
}

// A thread is a conversation: more than this many messages ahead of the answer is a caller gone wrong.
const MOST_WAITING = 4;

export type OpenTurn = (
  turn: Turn & { readonly id: string },
  model: ModelName,
  options: { readonly isIdGiven: boolean; readonly alongside: Alongside | undefined },
) => Promise<OpenedTurn>;

/**
 * The statements of a message are issued together and judged afterwards: what must not be is rolled back, and a database
 * on another machine is asked once.
 */
export function createOpening(sql: Sql, texts: ThreadTexts, node: string): OpenTurn {
  return async (turn, model, { isIdGiven, alongside }) => {
    const now = new Date().toISOString();
    const thread = turn.thread ?? randomUUIDv7();
    const isNew = turn.thread === undefined;
    const { id } = turn;
    const items: TurnItem[] =
      turn.input.type === "message" && turn.input.text !== ""
        ? [{ type: "message", id: randomUUIDv7(), role: "user", text: turn.input.text }]
        : [];
    const plain = isNew ? beginningOf(turn, undefined) : undefined;

    const { placed, ...opened } = await sql.transaction(async (tx) => {
      const found = isNew ? undefined : lockThread(tx, sql.engine, turn.user, thread);
      const ahead = isNew ? undefined : countOpen(tx, thread);
      if (isNew) addThread(tx, thread, turn, model, now);
      else touchThread(tx, thread, turn, now);
      const placed = addTurn(tx, { id, thread, isNew, turn, input: turn.input, model, now, node });
      for (const item of items) void writeItem(tx, { id, node }, item);
      const besides = alongside?.(tx, { id, thread });
      // Where one failed first, the answers of the others do not matter.
      for (const answer of [found, ahead, placed, besides]) answer?.catch(() => {});
      if (isIdGiven && (await placed) === undefined && (isNew || (await found) !== undefined))
        throw new Fault("invalid", "turn_exists", `The turn ${id} already exists.`, { param: "id" });
      let beginning = plain;
      const before = await found;
      if (!isNew) {
        if (before === undefined)
          throw new Fault("missing", "thread_not_found", `There is no thread ${thread}.`, {
            param: "thread",
          });
        beginning = beginningOf(turn, before);
        refuseBusy((await ahead) ?? 0);
        if (turn.input.type !== "message") await closeGate(tx, thread, before.gate);
      }
      await besides;
      return { placed, before, beginning: beginning as Beginning };
    });
    // Asked for after the commit, so that a new thread needs no answer before it.
    const { seq, status } = (await placed) as Place;
    return { id, thread, seq, status, now, items, ...opened };
  };

  /** A new thread with what the turn brings, which is a turn more where it brings history. */
  function addThread(tx: Transaction, id: string, turn: Turn, model: ModelName, now: string): void {
    const title = titleOf(turn);
    void tx.run(
      `INSERT INTO threads (id, "user", title, created_at, updated_at, turns, tools) VALUES (?, ?, ?, ?, ?, ?, ?)`,
      id,
      turn.user,
      title,
      now,
      now,
      turn.history?.length ? 2 : 1,
      toolsOf(turn),
    );
    texts.addTitle(tx, id, title);
    if (turn.history?.length) importHistory(tx, id, turn, model, now);
  }

  /** Earlier items that the caller brought are a turn of their own, so that this one holds only what is its. */
  function importHistory(tx: Transaction, thread: string, turn: Turn, model: ModelName, now: string): void {
    const id = randomUUIDv7();
    const { instructions: _, context: __, outside: ___, ...bare } = turn;
    const input: TurnInput = { type: "message", text: "" };
    void addTurn(tx, { id, thread, isNew: true, turn: bare, input, model, now, node, isOver: true });
    for (const given of turn.history ?? []) {
      const item = { ...given, id: randomUUIDv7() };
      void writeItem(tx, { id, node }, item);
      if (item.type === "message" && item.text !== "") texts.addMessage(tx, item.id, thread, item.text);
    }
  }
}

function touchThread(tx: Transaction, thread: string, turn: Turn, now: string): void {
  // The catalog belongs to the thread: a resume that does not repeat it goes on with it.
  const keepsTools = turn.input.type !== "message" && turn.tools === undefined;
  void tx.run(
    `UPDATE threads SET turns = turns + 1, updated_at = ?${keepsTools ? "" : ", tools = ?"} WHERE id = ? AND "user" = ?`,
    now,
    ...(keepsTools ? [] : [toolsOf(turn)]),
    thread,
    turn.user,
  );
}

/** Runs at once where no other turn of its thread is open, and otherwise waits in line. */
function addTurn(
  tx: Transaction,
  row: {
    readonly id: string;
    readonly thread: string;
    readonly isNew: boolean;
    readonly turn: Turn;
    readonly input: TurnInput;
    readonly model: ModelName;
    readonly now: string;
    readonly node: string;
    readonly isOver?: boolean;
  },
): Promise<Place | undefined> {
  const { turn, isOver = false } = row;
  const values = [
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
  ];
  if (!row.isNew) return tx.get<Place>(ADD_TO_KNOWN, ...values, row.thread, turn.user);
  const status = isOver ? "completed" : "running";
  return tx.get<Place>(ADD_TO_NEW, ...values, row.thread, turn.user, status, isOver ? row.now : null);
}

const OPEN = "status IN ('queued', 'running')";

const STATUS = `CASE WHEN EXISTS (
  SELECT 1 FROM turns AS other INDEXED BY turns_open WHERE other.thread = threads.id AND other.${OPEN}
) THEN 'queued' ELSE 'running' END`;

const COLUMNS = "id, channel, input, instructions, context, outside, provider, model, node, created_at";
const PLACE = "ON CONFLICT (id) DO NOTHING RETURNING seq, status";
const ADD_TO_KNOWN = `INSERT INTO turns (${COLUMNS}, thread, "user", status)
  SELECT ${COLUMNS.replaceAll(/\w+/g, "CAST(? AS TEXT)")}, id, "user", ${STATUS}
  FROM threads WHERE id = ? AND "user" = ? ${PLACE}`;
// A new thread has no other turn; plain values spare SQLite the copies of pages that it makes before it inserts a SELECT.
const ADD_TO_NEW = `INSERT INTO turns (${COLUMNS}, thread, "user", status, completed_at)
  VALUES (${COLUMNS.replaceAll(/\w+/g, "?")}, ?, ?, ?, ?) ${PLACE}`;

async function countOpen(tx: Transaction, thread: string): Promise<number> {
  const query = `SELECT count(*) AS count FROM turns INDEXED BY turns_open WHERE thread = ? AND ${OPEN}`;
  return (await tx.get<{ count: number }>(query, thread))?.count ?? 0;
}

function refuseBusy(open: number): void {
  if (open <= MOST_WAITING) return;
  throw new Fault("limited", "thread_busy", `The thread is busy: ${open - 1} messages are waiting.`, {
    retryAfterSecs: 5,
  });
}

export async function closeGate(tx: Transaction, thread: string, gate: Gate | undefined): Promise<void> {
  if (gate === undefined) return;
  await Promise.all([
    tx.run("UPDATE threads SET gate = NULL, pending = NULL, required = NULL WHERE id = ?", thread),
    tx.run("UPDATE turns SET status = 'completed' WHERE id = ? AND status = 'waiting'", gate.turn),
  ]);
}

function toolsOf({ tools }: Turn): string | null {
  return tools?.length ? JSON.stringify(tools) : null;
}
