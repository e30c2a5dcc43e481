/** What channels read of threads and turns, always within one user. */
import {
  Fault,
  type Gate,
  type Outside,
  type Page,
  type SyncSql,
  type ThreadSummary,
  type Threads,
  type TurnInput,
  type TurnItem,
  type TurnRecord,
  type TurnStatus,
  type Usage,
} from "../../../kernel/plugin.ts";
import { NO_USAGE } from "../spending/cost.ts";
import { readPiecesNow } from "./pieces.ts";
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
  readonly provider: string;
  readonly model: string;
  readonly usage: string | null;
  readonly created_at: string;
  readonly completed_at: string | null;
}

/** `onRemove` is told of a thread before it goes, so that what runs on it stops. */
export function createThreads(sql: SyncSql, onRemove: (thread: string) => void): Threads {
  const owned = (user: string, thread: string): number => {
    const row = sql.get<{ seq: number }>("SELECT seq FROM threads WHERE id = ? AND user = ?", thread, user);
    if (row === undefined) throw new Fault("missing", "thread_not_found", `There is no thread ${thread}.`);
    return row.seq;
  };

  /** With what a running turn is just saying. */
  const readItems = ({ id, status }: TurnColumns): TurnItem[] => {
    const items = sql
      .all<{ body: string }>("SELECT body FROM turn_items WHERE turn = ? ORDER BY seq", id)
      .map(({ body }) => JSON.parse(body) as TurnItem);
    const said = status === "running" ? readPiecesNow(sql, id) : undefined;
    return said ? [...items, said] : items;
  };

  return {
    list(user, { q, limit, before } = {}) {
      const most = pageSize(limit);
      const match = q === undefined ? undefined : matchOf(q);
      if (match === "") return { items: [] };
      const { at, id } = readCursor(before);
      const rows = sql.all<ThreadColumns>(
        `SELECT id, title, created_at, updated_at, turns, gate FROM threads
         WHERE user = ? AND (updated_at, id) < (?, ?)
         ${match === undefined ? "" : "AND id IN (SELECT thread FROM thread_texts WHERE thread_texts MATCH ?)"}
         ORDER BY updated_at DESC, id DESC LIMIT ?`,
        user,
        at,
        id,
        ...(match === undefined ? [] : [match]),
        most + 1,
      );
      return pageOf(rows, most, summaryOf, (row) => `${row.updated_at}_${row.id}`);
    },

    find(user, thread) {
      const row = sql.get<ThreadColumns>(
        "SELECT id, title, created_at, updated_at, turns, gate FROM threads WHERE id = ? AND user = ?",
        thread,
        user,
      );
      return row && summaryOf(row);
    },

    turns(user, thread, { limit, before } = {}) {
      owned(user, thread);
      const most = pageSize(limit);
      const rows = sql.all<TurnColumns>(
        "SELECT * FROM turns WHERE thread = ? AND seq < ? ORDER BY seq DESC LIMIT ?",
        thread,
        before === undefined ? Number.MAX_SAFE_INTEGER : readNumber(before),
        most + 1,
      );
      const page = pageOf(
        rows,
        most,
        (row) => recordOf(row, readItems(row)),
        (row) => String(row.seq),
      );
      // Pages go back in time; within a page a conversation reads from top to bottom.
      return { ...page, items: page.items.toReversed() };
    },

    turn(user, turn) {
      const row = sql.get<TurnColumns>("SELECT * FROM turns WHERE id = ? AND user = ?", turn, user);
      return row && recordOf(row, readItems(row));
    },

    rename(user, thread, title) {
      const seq = owned(user, thread);
      const clipped = clipTitle(title);
      if (clipped === "")
        throw new Fault("invalid", "empty_title", "A title must not be empty.", { param: "title" });
      sql.transaction(() => {
        sql.run("UPDATE threads SET title = ? WHERE seq = ?", clipped, seq);
        sql.run("UPDATE thread_texts SET text = ? WHERE rowid = ?", clipped, -seq);
      });
    },

    remove(user, thread) {
      const seq = owned(user, thread);
      onRemove(thread);
      sql.transaction(() => {
        sql.run("DELETE FROM thread_texts WHERE rowid = ?", -seq);
        sql.run(
          `DELETE FROM thread_texts WHERE rowid IN
             (SELECT turn_items.seq FROM turn_items JOIN turns ON turns.id = turn_items.turn WHERE turns.thread = ?)`,
          thread,
        );
        sql.run("DELETE FROM threads WHERE seq = ?", seq);
      });
    },
  };
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

/** Each word is looked for in every thread: so many are enough to find one. */
const MOST_WORDS = 16;

/** Every word has to be there; the last may be unfinished. */
function matchOf(q: string): string {
  const words = [...new Set(q.match(/[\p{L}\p{N}]+/gu) ?? [])].slice(0, MOST_WORDS);
  return words.map((word, at) => (at === words.length - 1 ? `"${word}"*` : `"${word}"`)).join(" ");
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
