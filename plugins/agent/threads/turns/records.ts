/** Stored turns as channels read them: one, a page of all, or a page of one path. */

import {
  NO_USAGE,
  type Outside,
  pageOf,
  pageSize,
  readNumber,
  type SqlValue,
  type TurnPage,
} from "../../../../kernel/kit.ts";
import {
  Fault,
  type Gate,
  type Sql,
  type TurnInput,
  type TurnItem,
  type TurnRecord,
  type TurnStatus,
  type Usage,
} from "../../../../kernel/plugin.ts";
import type { Threads } from "../../services.ts";
import { itemsOf, type Piece } from "./pieces.ts";
import { PARENT } from "./turn-rows.ts";
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

export interface TurnRecords {
  find: Threads["turn"];
  /** The thread must be the user's. */
  page: Threads["turns"];
}

const ALL: ShownPath = { ranges: [{ from: 1, to: Number.MAX_SAFE_INTEGER }], jumps: [] };

export function createTurnRecords(sql: Sql): TurnRecords {
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

  async function pathThrough(user: string, thread: string, through: string | undefined): Promise<ShownPath> {
    if (through === undefined) return ALL;
    if (through === "newest") return readShownPath(sql, thread, Number.MAX_SAFE_INTEGER);
    const find = 'SELECT seq FROM turns WHERE id = ? AND thread = ? AND "user" = ?';
    const turn = await sql.get<{ seq: number }>(find, through, thread, user);
    if (turn === undefined)
      throw new Fault("missing", "turn_not_found", `The thread has no turn ${through}.`, {
        param: "through",
      });
    return readShownPath(sql, thread, turn.seq);
  }

  return {
    async page(user, thread, { limit, before, through } = {}): Promise<TurnPage> {
      const most = pageSize(limit);
      const to = before === undefined ? Number.MAX_SAFE_INTEGER : readNumber(before);
      const path = await pathThrough(user, thread, through);
      // Each has a turn at least.
      const ranges = path.ranges.filter(({ from }) => from < to).slice(0, most + 1);
      if (ranges.length === 0) return { items: [], versions: [] };
      const bounds = ranges.flatMap(({ from, to: end }) => [from, Math.min(end, to - 1)]);
      const isIn = ranges.map(() => "seq BETWEEN ? AND ?").join(" OR ");
      const rows = await sql.all<TurnColumns>(
        `SELECT turns.*, ${PARENT} AS parent FROM turns WHERE thread = ? AND (${isIn}) ORDER BY seq DESC LIMIT ?`,
        thread,
        ...bounds,
        most + 1,
      );
      const shown = rows.slice(0, most);
      const oldest = shown.at(-1)?.seq ?? 0;
      // On a path the one below it in this list is the one it goes on from.
      const placed = shown.map(({ id, parent_seq }, at) => ({
        id,
        parent: parent_seq ?? rows[at + 1]?.seq ?? 0,
      }));
      const [items, versions] = await Promise.all([
        // After the rows: what says that it is completed must not lack an item.
        readItems(
          `SELECT id FROM turns WHERE thread = ? AND seq >= ? AND (${isIn})`,
          thread,
          oldest,
          ...bounds,
        ),
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

    async find(user, turn) {
      const row = await sql.get<TurnColumns>(
        `SELECT turns.*, ${PARENT} AS parent FROM turns JOIN threads ON threads.id = turns.thread
         WHERE turns.id = ? AND turns."user" = ? AND ephemeral = 0`,
        turn,
        user,
      );
      return row && recordOf(row, (await readItems("?", turn)).get(turn) ?? []);
    },
  };
}

function recordOf(row: TurnColumns, items: readonly TurnItem[]): TurnRecord {
  return {
    id: row.id,
    thread: row.thread,
    ...(row.parent !== null && { after: row.parent }),
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
