/** What channels read of threads and turns, always within one user. */
import {
  badCursor,
  pageOf,
  pageSize,
  type Store,
  type ThreadSummary,
  type WantedModel,
} from "../../../kernel/kit.ts";
import { Fault, type Gate, type ModelName, type Sql, type TokenScope } from "../../../kernel/plugin.ts";

import type { Threads } from "../services.ts";
import { exportThread } from "./export/export.ts";
import { threadTexts } from "./texts.ts";
import { chosenIn } from "./thread-row.ts";
import { clipTitle } from "./title.ts";
import { createTurnRecords } from "./turns/records.ts";
import { createUsage } from "./usage.ts";

interface ThreadColumns {
  readonly id: string;
  readonly title: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly turns: number;
  readonly provider: string | null;
  readonly model: string | null;
  readonly gate: string | null;
  readonly pinned: number;
}

const COLUMNS = "id, title, created_at, updated_at, turns, provider, model, gate, pinned";

export interface StoredThreads extends Omit<Threads, "checked"> {
  /** Removes all threads of a user. */
  removeAll(user: string): Promise<void>;
}

// A long transaction would keep everybody else waiting.
const REMOVED_AT_ONCE = 200;

export interface ThreadsParts {
  /** Counts turns for the usage of users and models. */
  readonly store: Pick<Store, "figures">;
  /** Told of a thread before it goes, so that what runs on it stops. */
  onRemove(thread: string): void | Promise<void>;
  /** The whole name of a model that may be chosen. */
  choose(wanted: WantedModel, scope: TokenScope | undefined): Promise<ModelName>;
}

export function createThreads(sql: Sql, { store, onRemove, choose }: ThreadsParts): StoredThreads {
  const texts = threadTexts(sql);
  const records = createTurnRecords(sql);
  const { turns: usage } = createUsage(store);

  const findRow = (user: string, thread: string) =>
    sql.get<ThreadColumns>(
      `SELECT ${COLUMNS} FROM threads WHERE id = ? AND "user" = ? AND ephemeral = 0`,
      thread,
      user,
    );
  const assertOwned = async (user: string, thread: string): Promise<void> => {
    if ((await findRow(user, thread)) === undefined) throw noThread(thread);
  };

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

  const threads: StoredThreads = {
    async list(user, { q, limit, before, pinnedFirst = false } = {}) {
      const most = pageSize(limit);
      const from = readCursor(before);
      const match = q === undefined ? undefined : texts.matching(q);
      if (q !== undefined && match === undefined) return { items: [] };
      const read = (which: string, { at, id }: Cursor, count: number) =>
        sql.all<ThreadColumns>(
          `SELECT ${COLUMNS} FROM threads
           WHERE "user" = ? AND ephemeral = 0 ${which} AND (updated_at, id) < (?, ?)
             ${match === undefined ? "" : `AND ${texts.matches}`}
           ORDER BY updated_at DESC, id DESC LIMIT ?`,
          user,
          at,
          id,
          ...(match === undefined ? [] : [match]),
          count,
        );
      const cursorOf = ({ pinned, updated_at, id }: ThreadColumns) =>
        `${pinnedFirst && pinned ? PINNED : ""}${updated_at}_${id}`;
      if (!pinnedFirst) return pageOf(await read("", from, most + 1), most, summaryOf, cursorOf);
      // One after the other, so that each is read in the order of its index.
      const isAmongPinned = before === undefined || from.isPinned;
      const pinned = isAmongPinned ? await read("AND pinned = 1", from, most + 1) : [];
      const left = most + 1 - pinned.length;
      const others = left > 0 ? await read("AND pinned = 0", isAmongPinned ? NEWEST : from, left) : [];
      return pageOf([...pinned, ...others], most, summaryOf, cursorOf);
    },

    async find(user, thread) {
      const row = await findRow(user, thread);
      return row && summaryOf(row);
    },

    async turns(user, thread, query) {
      const [page] = await Promise.all([records.page(user, thread, query), assertOwned(user, thread)]);
      return page;
    },

    turn: records.find,

    async attachment(user, id) {
      const row = await sql.get<{ mime: string; name: string | null; data: Uint8Array }>(
        `SELECT mime, name, data FROM attachments JOIN threads ON threads.id = attachments.thread
         WHERE attachments.id = ? AND "user" = ? AND ephemeral = 0 LIMIT 1`,
        id,
        user,
      );
      return row && { mime: row.mime, name: row.name ?? undefined, data: row.data };
    },

    export: (...which) => exportThread(threads, ...which),

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

    async pin(user, thread, pinned) {
      const changed = await sql.run(
        'UPDATE threads SET pinned = ? WHERE id = ? AND "user" = ?',
        pinned ? 1 : 0,
        thread,
        user,
      );
      if (changed === 0) throw noThread(thread);
    },

    async setModel(user, thread, wanted, scope) {
      const model = wanted && (await choose(wanted, scope));
      const changed = await sql.run(
        'UPDATE threads SET provider = ?, model = ? WHERE id = ? AND "user" = ? AND ephemeral = 0',
        model?.provider ?? null,
        model?.name ?? null,
        thread,
        user,
      );
      if (changed === 0) throw noThread(thread);
    },

    async remove(user, thread) {
      await assertOwned(user, thread);
      if ((await removeThreads(user, [thread])) === 0) throw noThread(thread);
    },

    usage,
    hadSideEffects: async (turn) =>
      (await sql.get<{ wrote: number }>("SELECT wrote FROM turns WHERE id = ?", turn))?.wrote === 1,
    async users(prefix) {
      const rows = await sql.all<{ user: string }>(
        'SELECT DISTINCT "user" FROM threads WHERE "user" >= ? AND "user" < ?',
        prefix,
        `${prefix}\u{10ffff}`,
      );
      return rows.map(({ user }) => user);
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
  return threads;
}

function noThread(thread: string): Fault {
  return new Fault("missing", "thread_not_found", `There is no thread ${thread}.`);
}

function summaryOf(row: ThreadColumns): ThreadSummary {
  const model = chosenIn(row);
  return {
    id: row.id,
    title: row.title,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    turns: row.turns,
    pinned: row.pinned === 1,
    ...(model && { model }),
    ...(row.gate !== null && { gate: JSON.parse(row.gate) as Gate }),
  };
}

interface Cursor {
  readonly at: string;
  readonly id: string;
  readonly isPinned: boolean;
}

const NEWEST: Cursor = { at: "9999", id: "", isPinned: false };
const PINNED = "pinned_";

function readCursor(before: string | undefined): Cursor {
  if (before === undefined) return NEWEST;
  const isPinned = before.startsWith(PINNED);
  const match = /^([0-9TZ:.-]+)_([0-9a-f-]+)$/.exec(isPinned ? before.slice(PINNED.length) : before);
  if (match === null) throw badCursor();
  return { at: match[1] as string, id: match[2] as string, isPinned };
}
