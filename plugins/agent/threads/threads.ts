/** Reads threads and turns for channels, always within one user. */

import { createMutex } from "../../../kernel/kit/concurrency.ts";
import { isIdentity } from "../../../kernel/kit/people.ts";
import { badCursor, pageOf, pageSize } from "../../../kernel/kit/store.ts";
import type { ThreadSummary } from "../../../kernel/kit/turns.ts";
import {
  Fault,
  type Gate,
  type ModelName,
  type Sql,
  type TokenScope,
  type Transaction,
  type TurnItem,
} from "../../../kernel/plugin.ts";
import type { WantedModel } from "../../models/services.ts";
import type { Store } from "../../store/services.ts";
import type { BinnedThread, Threads } from "../services.ts";
import { readAnswers } from "./answered-questions.ts";
import { findAttachment } from "./attachments/stored.ts";
import { exportThread } from "./export/export.ts";
import { withMatches } from "./matches.ts";
import { threadTexts } from "./texts.ts";
import { chosenIn, IS_LISTED, noThread } from "./thread-row.ts";
import { clipTitle } from "./title.ts";
import { createTurnRecords } from "./turns/records.ts";
import { OPEN } from "./turns/turn-rows.ts";

interface ThreadColumns {
  readonly id: string;
  readonly title: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly turns: number;
  readonly channel: string;
  readonly provider: string | null;
  readonly model: string | null;
  readonly gate: string | null;
  readonly pinned: number;
}

interface BinnedColumns extends ThreadColumns {
  readonly binned_at: string;
}

/** How turns are counted for the usage of users and models. */
const USAGE = {
  table: "turn_figures",
  time: "created_at",
  number: "seq",
  failed: "status = 'failed'",
  timed: "status IN ('completed', 'waiting')",
  inputTokens: "input_tokens",
  outputTokens: "output_tokens",
  usd: "usd",
  estimatedUsd: "estimated_usd",
  cachedTokens: "cached_tokens",
  savedUsd: "saved_usd",
  groups: { model: "provider || '/' || model", user: '"user"', channel: "channel" },
};

const COLUMNS = "id, title, created_at, updated_at, turns, channel, provider, model, gate, pinned";

export interface StoredThreads extends Omit<Threads, "checked" | "onChanged"> {
  removeAll(user: string): Promise<void>;
  /** Deletes what was put into bins so long ago that nobody wants it back. */
  sweepBins(signal: AbortSignal): Promise<void>;
  /** Gives all threads of one user to another. */
  give(tx: Transaction, from: string, to: string): Promise<void>;
}

// A long transaction would keep everybody else waiting.
const REMOVED_AT_ONCE = 200;

const BIN_MS = 30 * 86_400_000;
/** After every time. */
const EVER = "9999";

const BINNED = `"user" = ? AND binned_at < ?`;

export interface ThreadsParts {
  readonly store: Pick<Store, "figures" | "prune">;
  /** Told of a thread that goes, so that what runs on it stops. */
  onRemove(thread: string): void | Promise<void>;
  choose(wanted: WantedModel, scope: TokenScope | undefined): Promise<ModelName>;
}

export function createThreads(sql: Sql, { store, onRemove, choose }: ThreadsParts): StoredThreads {
  const texts = threadTexts(sql);
  const records = createTurnRecords(sql);
  const inTurn = createMutex();
  const find = `SELECT ${COLUMNS} FROM threads WHERE id = ? AND "user" = ? AND ${IS_LISTED}`;
  const findRow = (user: string, thread: string) => sql.get<ThreadColumns>(find, thread, user);
  const assertOwned = async (user: string, thread: string): Promise<void> => {
    if ((await findRow(user, thread)) === undefined) throw noThread(thread);
  };

  async function removeThreads(user: string, threads: readonly string[]): Promise<number> {
    await Promise.all(threads.map(onRemove));
    const remove = `DELETE FROM threads WHERE "user" = ? AND id IN (${threads.map(() => "?").join()})`;
    return await sql.transaction(async (tx) => {
      const [, gone] = await Promise.all([
        texts.removeThreads(tx, threads),
        tx.run(remove, user, ...threads),
      ]);
      return gone;
    });
  }

  const emptyBin = (user: string, before: string, signal?: AbortSignal): Promise<number> =>
    store.prune(
      {
        ...{ table: "threads", key: "id", order: "seq", condition: BINNED, values: [user, before] },
        removeRest: (tx, _engine, keys) => texts.removeThreads(tx, keys),
      },
      { ...(signal && { signal }) },
    );

  const threads: StoredThreads = {
    async list(user, { q, limit, before, pinnedFirst = false } = {}) {
      const most = pageSize(limit);
      const from = readCursor(before);
      const match = q === undefined ? undefined : texts.matching(q);
      if (q !== undefined && match === undefined) return { items: [] };
      const read = (which: string, { at, id }: Cursor, count: number) => {
        const condition = `"user" = ? AND ${IS_LISTED} ${which}`;
        if (match !== undefined) {
          const list = {
            columns: COLUMNS,
            condition,
            values: [user],
            before: [at, id] as const,
            limit: count,
          };
          return texts.find<ThreadColumns>(sql, list, match);
        }
        return sql.all<ThreadColumns>(
          `SELECT ${COLUMNS} FROM threads WHERE ${condition} AND (updated_at, id) < (?, ?)
           ORDER BY updated_at DESC, id DESC LIMIT ?`,
          ...[user, at, id, count],
        );
      };
      const cursorOf = ({ pinned, updated_at, id }: ThreadColumns) =>
        `${pinnedFirst && pinned ? PINNED : ""}${updated_at}_${id}`;
      const pageWith = async (rows: readonly ThreadColumns[]) => {
        const page = pageOf(rows, most, summaryOf, cursorOf);
        if (q === undefined || match === undefined) return page;
        return { ...page, items: await withMatches(sql, texts, page.items, { q, match }) };
      };
      if (!pinnedFirst) return await pageWith(await read("", from, most + 1));
      // One after the other, so that each is read in the order of its index.
      const isAmongPinned = before === undefined || from.isPinned;
      const pinned = isAmongPinned ? await read("AND pinned = 1", from, most + 1) : [];
      const left = most + 1 - pinned.length;
      const others = left > 0 ? await read("AND pinned = 0", isAmongPinned ? NEWEST : from, left) : [];
      return await pageWith([...pinned, ...others]);
    },

    async find(user, thread) {
      const row = await findRow(user, thread);
      return row && summaryOf(row);
    },

    // A page may take a while to read: one who asks for many waits for their own, and others do not wait for all of them.
    turns: (user, thread, query) =>
      inTurn(user, async () => {
        const [page] = await Promise.all([records.page(user, thread, query), assertOwned(user, thread)]);
        return page;
      }),

    turn: records.find,

    async attachment(user, id) {
      const row = await findAttachment(sql, user, id);
      return row && { mime: row.mime, name: row.name ?? undefined, data: row.data };
    },

    export: (...which) => exportThread(threads, ...which),

    async rename(user, thread, title) {
      const clipped = clipTitle(title);
      if (clipped === "")
        throw new Fault("invalid", "empty_title", "A title must not be empty.", { param: "title" });
      const rename = `UPDATE threads SET title = ?, titled_by = 'person' WHERE id = ? AND "user" = ? AND ${IS_LISTED}`;
      await sql.transaction(async (tx) => {
        const changed = await tx.run(rename, clipped, thread, user);
        if (changed === 0) throw noThread(thread);
        await texts.setTitle(tx, thread, clipped);
      });
    },

    async pin(user, thread, pinned) {
      const pin = `UPDATE threads SET pinned = ? WHERE id = ? AND "user" = ? AND ${IS_LISTED}`;
      const changed = await sql.run(pin, pinned ? 1 : 0, thread, user);
      if (changed === 0) throw noThread(thread);
    },

    async setModel(user, thread, wanted, scope) {
      const { provider = null, name = null } = wanted ? await choose(wanted, scope) : {};
      const set = `UPDATE threads SET provider = ?, model = ? WHERE id = ? AND "user" = ? AND ${IS_LISTED}`;
      const changed = await sql.run(set, provider, name, thread, user);
      if (changed === 0) throw noThread(thread);
    },

    async bin(user, thread) {
      const bin = `UPDATE threads SET binned_at = ? WHERE id = ? AND "user" = ? AND ${IS_LISTED}`;
      await sql.transaction(async (tx) => {
        if ((await tx.run(bin, new Date().toISOString(), thread, user)) === 0) throw noThread(thread);
        // In the same commit: whatever ends this process next, its turns stop on every node.
        await tx.run(`UPDATE turns SET stop_asked = 1 WHERE thread = ? AND ${OPEN}`, thread);
      });
      await onRemove(thread);
    },

    async binned(user, { limit, before } = {}) {
      const most = pageSize(limit);
      const { at, id } = readCursor(before);
      const find = `SELECT ${COLUMNS}, binned_at FROM threads WHERE ${BINNED} AND (binned_at, id) < (?, ?)
        ORDER BY binned_at DESC, id DESC LIMIT ?`;
      const rows = await sql.all<BinnedColumns>(find, user, EVER, at, id, most + 1);
      return pageOf(rows, most, binnedOf, (row) => `${row.binned_at}_${row.id}`);
    },

    async restore(user, thread) {
      const restore = `UPDATE threads SET binned_at = NULL WHERE id = ? AND ${BINNED}`;
      if ((await sql.run(restore, thread, user, EVER)) === 0) throw noThread(thread);
    },

    emptyBin: (user) => emptyBin(user, EVER),

    async isBinned(user, thread) {
      const find = 'SELECT binned_at FROM threads WHERE id = ? AND "user" = ? AND ephemeral = 0';
      const row = await sql.get<{ binned_at: string | null }>(find, thread, user);
      return row && row.binned_at !== null;
    },

    async sweepBins(signal) {
      const before = new Date(Date.now() - BIN_MS).toISOString();
      const find = 'SELECT DISTINCT "user" FROM threads WHERE binned_at < ?';
      for (const { user } of await sql.all<{ user: string }>(find, before))
        await emptyBin(user, before, signal);
    },

    async remove(user, thread) {
      const isThere = `SELECT 1 FROM threads WHERE id = ? AND "user" = ? AND ephemeral = 0`;
      if ((await sql.get(isThere, thread, user)) === undefined) throw noThread(thread);
      if ((await removeThreads(user, [thread])) === 0) throw noThread(thread);
    },

    usage: store.figures(USAGE),
    answered: (user, span) => readAnswers(sql, user, span),
    async unsay(tx, turn, message) {
      if (turn === message) return;
      await texts.removeTurn(tx, turn);
      await tx.run("DELETE FROM turn_items WHERE id = ? AND turn = ?", message, turn);
      const find = `SELECT thread, body FROM turn_items JOIN turns ON turns.id = turn WHERE turn = ? ORDER BY turn_items.seq`;
      for (const { thread, body } of await tx.all<{ thread: string; body: string }>(find, turn)) {
        const item = JSON.parse(body) as TurnItem;
        if (item.type === "message" && item.text !== "") texts.addMessage(tx, item.id, thread, item.text);
      }
    },
    forgetRecords: (job) => sql.run("DELETE FROM recorded_calls WHERE job = ?", job),
    hadSideEffects: async (turn) =>
      (await sql.get<{ wrote: number }>("SELECT wrote FROM turns WHERE id = ?", turn))?.wrote === 1,
    async identities() {
      const find = `SELECT DISTINCT "user" FROM threads WHERE "user" LIKE '%/%'`;
      const rows = await sql.all<{ user: string }>(find);
      return rows.map(({ user }) => user).filter(isIdentity);
    },
    async give(tx, from, to) {
      const turns = 'UPDATE turns SET "user" = ? WHERE thread IN (SELECT id FROM threads WHERE "user" = ?)';
      await Promise.all([
        tx.run(turns, to, from),
        tx.run('UPDATE threads SET "user" = ? WHERE "user" = ?', to, from),
        tx.run('UPDATE turn_figures SET "user" = ? WHERE "user" = ?', to, from),
        tx.run('UPDATE answered_questions SET "user" = ? WHERE "user" = ?', to, from),
        // Answers of the one identity at gates end here: those of the other count.
        tx.run('DELETE FROM approvals WHERE "user" = ?', from),
      ]);
    },

    async removeAll(user) {
      const find = 'SELECT id FROM threads WHERE "user" = ? LIMIT ?';
      for (;;) {
        const rows = await sql.all<{ id: string }>(find, user, REMOVED_AT_ONCE);
        if (rows.length === 0) return;
        await removeThreads(
          user,
          rows.map(({ id }) => id),
        );
      }
    },
  };
  return threads;
}

function summaryOf(row: ThreadColumns): ThreadSummary {
  return {
    id: row.id,
    title: row.title,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    turns: row.turns,
    channel: row.channel,
    pinned: row.pinned === 1,
    model: chosenIn(row),
    gate: row.gate === null ? undefined : (JSON.parse(row.gate) as Gate),
  };
}

function binnedOf({ binned_at: binnedAt, ...row }: BinnedColumns): BinnedThread {
  const expiresAt = new Date(Date.parse(binnedAt) + BIN_MS).toISOString();
  return { ...summaryOf(row), binnedAt, expiresAt };
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
