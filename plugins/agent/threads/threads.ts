/** What channels read of threads and turns, always within one user. */
import {
  Fault,
  type Gate,
  type Outside,
  type Page,
  type Sql,
  type SqlValue,
  type ThreadSummary,
  type Threads,
  type TurnInput,
  type TurnItem,
  type TurnRecord,
  type TurnStatus,
  type Usage,
} from "../../../kernel/plugin.ts";
import { NO_USAGE } from "../spending/cost.ts";
import { itemsOf, type Piece } from "./pieces.ts";
import { threadTexts } from "./texts.ts";
import { clipTitle } from "./title.ts";

const MOST = 200;
const USUAL = 50;

interface ThreadColumns {
  readonly id: string;
  readonly title: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly turns: number;
  readonly gate: string | null;
}

interface TurnColumns {
  readonly seq: number;
  readonly id: string;
  readonly thread: string;
  readonly user: string;
  readonly channel: string;
  readonly status: TurnStatus;
  readonly input: string;
  readonly instructions: string | null;
  readonly context: string | null;
  readonly outside: string | null;
  readonly error: string | null;
  readonly gate: string | null;
  readonly incomplete: TurnRecord["incomplete"] | null;
  readonly provider: string;
  readonly model: string;
  readonly usage: string | null;
  readonly created_at: string;
  readonly completed_at: string | null;
}

export interface StoredThreads extends Threads {
  /** Removes all threads of a user. */
  removeAll(user: string): Promise<void>;
}

// A long transaction would keep everybody else waiting.
const REMOVED_AT_ONCE = 200;

/** `onRemove` is told of a thread before it goes, so that what runs on it stops. */
export function createThreads(sql: Sql, onRemove: (thread: string) => void | Promise<void>): StoredThreads {
  const texts = threadTexts(sql);

  const findRow = (user: string, thread: string) =>
    sql.get<ThreadColumns>(
      'SELECT id, title, created_at, updated_at, turns, gate FROM threads WHERE id = ? AND "user" = ? AND ephemeral = 0',
      thread,
      user,
    );
  const assertOwned = async (user: string, thread: string): Promise<void> => {
    if ((await findRow(user, thread)) === undefined) throw noThread(thread);
  };

  /** What was said in turns, each with what it is just saying: in one statement, so that a message is not in both. */
  async function readItems(turns: string, ...values: SqlValue[]): Promise<ReadonlyMap<string, TurnItem[]>> {
    const rows = await sql.all<{ turn: string; body: string; item: string | null; type: string | null }>(
      `SELECT turn, body, item, type FROM (
         SELECT turn, body, NULL AS item, NULL AS type, 0 AS piece, seq FROM turn_items WHERE turn IN (${turns})
         UNION ALL SELECT turn, text, item, type, 1, seq FROM turn_pieces WHERE turn IN (${turns})) AS said
       ORDER BY piece, seq`,
      ...values,
      ...values,
    );
    const items = new Map<string, TurnItem[]>();
    for (const [turn, said] of Map.groupBy(rows, (row) => row.turn)) {
      const pieces = said.flatMap(({ item, body, type }): Piece[] =>
        item === null ? [] : [{ item, text: body, type, cuts: null }],
      );
      const whole = said.filter(({ item }) => item === null).map(({ body }) => JSON.parse(body) as TurnItem);
      items.set(turn, [...whole, ...itemsOf(pieces)]);
    }
    return items;
  }

  async function removeThreads(user: string, threads: readonly string[]): Promise<number> {
    await Promise.all(threads.map(onRemove));
    return await sql.transaction(async (tx) => {
      const [, gone] = await Promise.all([
        texts.removeThreads(tx, threads),
        tx.run(
          `DELETE FROM threads WHERE "user" = ? AND id IN (${threads.map(() => "?").join()})`,
          user,
          ...threads,
        ),
      ]);
      return gone;
    });
  }

  return {
    async list(user, { q, limit, before } = {}) {
      const most = pageSize(limit);
      const { at, id } = readCursor(before);
      const match = q === undefined ? undefined : texts.matching(q);
      if (q !== undefined && match === undefined) return { items: [] };
      const rows = await sql.all<ThreadColumns>(
        `SELECT id, title, created_at, updated_at, turns, gate FROM threads
         WHERE "user" = ? AND ephemeral = 0 AND (updated_at, id) < (?, ?) ${match === undefined ? "" : `AND ${texts.matches}`}
         ORDER BY updated_at DESC, id DESC LIMIT ?`,
        user,
        at,
        id,
        ...(match === undefined ? [] : [match]),
        most + 1,
      );
      return pageOf(rows, most, summaryOf, (row) => `${row.updated_at}_${row.id}`);
    },

    async find(user, thread) {
      const row = await findRow(user, thread);
      return row && summaryOf(row);
    },

    async turns(user, thread, { limit, before } = {}) {
      const most = pageSize(limit);
      const to = before === undefined ? Number.MAX_SAFE_INTEGER : readNumber(before);
      const [rows] = await Promise.all([
        sql.all<TurnColumns>(
          "SELECT * FROM turns WHERE thread = ? AND seq < ? ORDER BY seq DESC LIMIT ?",
          thread,
          to,
          most + 1,
        ),
        assertOwned(user, thread),
      ]);
      const [newest, oldest] = [rows[0], rows.slice(0, most).at(-1)];
      // After the rows: what says that it is completed must not lack an item.
      const items =
        newest === undefined || oldest === undefined
          ? undefined
          : await readItems(
              "SELECT id FROM turns WHERE thread = ? AND seq BETWEEN ? AND ?",
              thread,
              oldest.seq,
              newest.seq,
            );
      const page = pageOf(
        rows,
        most,
        (row) => recordOf(row, items?.get(row.id) ?? []),
        (row) => String(row.seq),
      );
      // Pages go back in time; within a page a conversation reads from top to bottom.
      return { ...page, items: page.items.toReversed() };
    },

    async turn(user, turn) {
      const row = await sql.get<TurnColumns>(
        `SELECT turns.* FROM turns JOIN threads ON threads.id = turns.thread
         WHERE turns.id = ? AND turns."user" = ? AND ephemeral = 0`,
        turn,
        user,
      );
      return row && recordOf(row, (await readItems("?", turn)).get(turn) ?? []);
    },

    async attachment(user, id) {
      const row = await sql.get<{ mime: string; name: string | null; data: Uint8Array }>(
        `SELECT mime, name, data FROM attachments JOIN threads ON threads.id = attachments.thread
         WHERE attachments.id = ? AND "user" = ? AND ephemeral = 0 LIMIT 1`,
        id,
        user,
      );
      return row && { mime: row.mime, name: row.name ?? undefined, data: row.data };
    },

    async rename(user, thread, title) {
      const clipped = clipTitle(title);
      if (clipped === "")
        throw new Fault("invalid", "empty_title", "A title must not be empty.", { param: "title" });
      await sql.transaction(async (tx) => {
        const changed = await tx.run(
          'UPDATE threads SET title = ? WHERE id = ? AND "user" = ?',
          clipped,
          thread,
          user,
        );
        if (changed === 0) throw noThread(thread);
        await texts.setTitle(tx, thread, clipped);
      });
    },

    async remove(user, thread) {
      await assertOwned(user, thread);
      if ((await removeThreads(user, [thread])) === 0) throw noThread(thread);
    },

    async removeAll(user) {
      for (;;) {
        const rows = await sql.all<{ id: string }>(
          'SELECT id FROM threads WHERE "user" = ? LIMIT ?',
          user,
          REMOVED_AT_ONCE,
        );
        if (rows.length === 0) return;
        const ids = rows.map(({ id }) => id);
        await removeThreads(user, ids);
      }
    },
  };
}

function noThread(thread: string): Fault {
  return new Fault("missing", "thread_not_found", `There is no thread ${thread}.`);
}

function recordOf(row: TurnColumns, items: readonly TurnItem[]): TurnRecord {
  return {
    id: row.id,
    thread: row.thread,
    user: row.user,
    channel: row.channel,
    status: row.status,
    input: JSON.parse(row.input) as TurnInput,
    items,
    model: { provider: row.provider, name: row.model },
    usage: row.usage === null ? NO_USAGE : (JSON.parse(row.usage) as Usage),
    createdAt: row.created_at,
    ...(row.outside !== null && { outside: JSON.parse(row.outside) as Outside }),
    ...(row.error !== null && { error: JSON.parse(row.error) as { code: string; message: string } }),
    ...(row.gate !== null && { gate: JSON.parse(row.gate) as Gate }),
    ...(row.incomplete && { incomplete: row.incomplete }),
    ...(row.completed_at !== null && { completedAt: row.completed_at }),
  };
}

function summaryOf(row: ThreadColumns): ThreadSummary {
  return {
    id: row.id,
    title: row.title,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    turns: row.turns,
    ...(row.gate !== null && { gate: JSON.parse(row.gate) as Gate }),
  };
}

export function pageSize(limit: number | undefined): number {
  return Math.max(1, Math.min(MOST, Math.floor(limit ?? USUAL)));
}

/** From one row more than asked for: the page, and where to go on. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  most: number,
  read: (row: Row) => Item,
  cursor: (row: Row) => string,
): Page<Item> {
  const shown = rows.slice(0, most);
  const last = shown.at(-1);
  return {
    items: shown.map(read),
    ...(rows.length > most && last !== undefined && { next: cursor(last) }),
  };
}

function readCursor(before: string | undefined): { at: string; id: string } {
  if (before === undefined) return { at: "9999", id: "" };
  const match = /^([0-9TZ:.-]+)_([0-9a-f-]+)$/.exec(before);
  if (match === null) throw badCursor();
  return { at: match[1] as string, id: match[2] as string };
}

export function readNumber(before: string): number {
  if (!/^\d{1,15}$/.test(before)) throw badCursor();
  return Number(before);
}

function badCursor(): Fault {
  return new Fault("invalid", "bad_cursor", "`before` is not a cursor from this list.", {
    param: "before",
  });
}
