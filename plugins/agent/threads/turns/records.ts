/** Stored turns as channels read them: one, a page of all, or a page of one path. */

import { pageOf, pageSize, readNumber, type SqlValue } from "../../../../kernel/kit/store.ts";
import { NO_USAGE, type Outside } from "../../../../kernel/kit/turns.ts";
import type { Gate, Sql, TurnItem, TurnRecord, TurnStatus, Usage } from "../../../../kernel/plugin.ts";
import type { Threads, TurnPage } from "../../services.ts";
import { IS_LISTED } from "../thread-row.ts";
import { noTurn } from "./branch.ts";
import { itemsOf, type Piece } from "./items.ts";
import { PARENT, readInput } from "./turn-rows.ts";
import { readShownPath, readVersions, type ShownPath } from "./versions.ts";

interface TurnColumns {
  readonly parent: string | null;
  readonly parent_seq: number | null;
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

interface SaidColumns {
  readonly turn: string;
  readonly body: string;
  readonly item: string | null;
  readonly type: string | null;
}

/** The size of a turn as it is shown. */
const BYTES = `CAST(octet_length(input) + 2 * coalesce((SELECT sum(octet_length(body)) FROM turn_items WHERE turn = turns.id), 0)
  AS BIGINT) AS bytes`;
/** A message counts twice, because it is shown as its turn's input and as an item. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

const ALL: ShownPath = { ranges: [{ from: 1, to: Number.MAX_SAFE_INTEGER }], jumps: [] };

export function createTurnRecords(sql: Sql) {
  /** Reads turns with what each is just saying in one statement, so that a message is not in both. */
  async function readItems(turns: string, ...values: SqlValue[]): Promise<ReadonlyMap<string, TurnItem[]>> {
    const find = `SELECT turn, body, item, type FROM (
        SELECT turn, body, NULL AS item, NULL AS type, 0 AS piece, seq FROM turn_items WHERE turn IN (${turns})
        UNION ALL SELECT turn, text, item, type, 1, seq FROM turn_pieces WHERE turn IN (${turns})) AS said
      ORDER BY piece, seq`;
    const rows = await sql.all<SaidColumns>(find, ...values, ...values);
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

  async function pathThrough(user: string, thread: string, through: string | undefined): Promise<ShownPath> {
    if (through === undefined) return ALL;
    if (through === "newest") return readShownPath(sql, thread, Number.MAX_SAFE_INTEGER);
    const find = 'SELECT seq FROM turns WHERE id = ? AND thread = ? AND "user" = ?';
    const turn = await sql.get<{ seq: number }>(find, through, thread, user);
    if (turn === undefined) throw noTurn(through, "through");
    return readShownPath(sql, thread, turn.seq);
  }

  async function pageForward(thread: string, limit: number | undefined, after: string): Promise<TurnPage> {
    const from = readNumber(after);
    const later = "FROM turns WHERE thread = ? AND seq > ? ORDER BY seq LIMIT ?";
    const sizes = await sql.all<{ bytes: number }>(`SELECT ${BYTES} ${later}`, thread, from, pageSize(limit));
    const most = fitting(sizes);
    const rows = await sql.all<TurnColumns>(
      `SELECT turns.*, ${PARENT} AS parent ${later}`,
      ...[thread, from, most + 1],
    );
    const last = rows.slice(0, most).at(-1)?.seq ?? 0;
    const which = "SELECT id FROM turns WHERE thread = ? AND seq > ? AND seq <= ?";
    const items = await readItems(which, thread, from, last);
    const read = (row: TurnColumns) => recordOf(row, items.get(row.id) ?? []);
    return { ...pageOf(rows, most, read, ({ seq }) => String(seq)), versions: [] };
  }

  return {
    /** The thread must be the user's. */
    async page(...[user, thread, query = {}]: Parameters<Threads["turns"]>): Promise<TurnPage> {
      if ("after" in query) return await pageForward(thread, query.limit, query.after);
      const { limit, before, through } = query;
      const wanted = pageSize(limit);
      const to = before === undefined ? Number.MAX_SAFE_INTEGER : readNumber(before);
      const path = await pathThrough(user, thread, through);
      // Each has a turn at least.
      const ranges = path.ranges.filter(({ from }) => from < to).slice(0, wanted + 1);
      if (ranges.length === 0) return { items: [], versions: [] };
      const bounds = ranges.flatMap(({ from, to: end }) => [from, Math.min(end, to - 1)]);
      const isIn = ranges.map(() => "seq BETWEEN ? AND ?").join(" OR ");
      const measure = `SELECT ${BYTES} FROM turns WHERE thread = ? AND (${isIn}) ORDER BY seq DESC LIMIT ?`;
      const most = fitting(await sql.all<{ bytes: number }>(measure, thread, ...bounds, wanted));
      const find = `SELECT turns.*, ${PARENT} AS parent FROM turns WHERE thread = ? AND (${isIn}) ORDER BY seq DESC LIMIT ?`;
      const rows = await sql.all<TurnColumns>(find, thread, ...bounds, most + 1);
      const shown = rows.slice(0, most);
      const oldest = shown.at(-1)?.seq ?? 0;
      // On a path the one below it in this list is the one it goes on from.
      const placed = shown.map(({ id, parent_seq }, at) => ({
        id,
        parent: parent_seq ?? rows[at + 1]?.seq ?? 0,
      }));
      const which = `SELECT id FROM turns WHERE thread = ? AND seq >= ? AND (${isIn})`;
      const [items, versions] = await Promise.all([
        // After the rows: what says that it is completed must not lack an item.
        readItems(which, thread, oldest, ...bounds),
        readVersions(sql, thread, path.jumps, placed.toReversed()),
      ]);
      const page = pageOf(
        rows,
        most,
        (row) => recordOf(row, items.get(row.id) ?? []),
        (row) => String(row.seq),
      );
      // Pages go back in time; within a page a conversation reads from top to bottom.
      return { ...page, items: page.items.toReversed(), versions };
    },

    async find(user: string, turn: string): Promise<TurnRecord | undefined> {
      const find = `SELECT turns.*, ${PARENT} AS parent FROM turns JOIN threads ON threads.id = turns.thread
        WHERE turns.id = ? AND turns."user" = ? AND ${IS_LISTED}`;
      const taken = find.replace(
        "turns.id = ?",
        "turns.id = (SELECT turn FROM turn_items WHERE turn_items.id = ?)",
      );
      const row =
        (await sql.get<TurnColumns>(find, turn, user)) ?? (await sql.get<TurnColumns>(taken, turn, user));
      return row && recordOf(row, (await readItems("?", row.id)).get(row.id) ?? []);
    },
  };
}

/** How many turns go on a page: at least one, however large it is. */
function fitting(turns: readonly { readonly bytes: number }[]): number {
  let left = MAX_PAGE_BYTES;
  const count = turns.findIndex(({ bytes }) => {
    left -= bytes;
    return left < 0;
  });
  return Math.max(1, count === -1 ? turns.length : count);
}

function recordOf(row: TurnColumns, items: readonly TurnItem[]): TurnRecord {
  return {
    id: row.id,
    thread: row.thread,
    after: row.parent ?? undefined,
    user: row.user,
    channel: row.channel,
    status: row.status,
    input: readInput(row.input, items),
    items,
    model: { provider: row.provider, name: row.model },
    usage: row.usage === null ? NO_USAGE : (JSON.parse(row.usage) as Usage),
    createdAt: row.created_at,
    outside: row.outside === null ? undefined : (JSON.parse(row.outside) as Outside),
    error: row.error === null ? undefined : (JSON.parse(row.error) as TurnRecord["error"]),
    gate: row.gate === null ? undefined : (JSON.parse(row.gate) as Gate),
    incomplete: row.incomplete ?? undefined,
    completedAt: row.completed_at ?? undefined,
  };
}
