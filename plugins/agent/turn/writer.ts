/** One open turn: its items in memory and, as they happen, on disk; then its end. */
import type {
  Gate,
  ModelName,
  SyncSql,
  ToolCall,
  Turn,
  TurnItem,
  TurnRecord,
  TurnStatus,
  Usage,
} from "../../../kernel/plugin.ts";
import { NO_USAGE } from "../spending/cost.ts";
import type { Pieces } from "../threads/pieces.ts";
import type { Carried } from "./required-tools.ts";

export interface Ending {
  readonly status: "completed" | "waiting" | "cancelled" | "failed";
  readonly error?: { readonly code: string; readonly message: string };
  readonly gate?: Gate;
  readonly pending?: readonly ToolCall[];
  readonly required?: Carried;
}

export interface TurnWriter {
  readonly id: string;
  readonly thread: string;
  /** Its place among all turns. */
  readonly seq: number;
  readonly items: readonly TurnItem[];
  /** Keeps text of a message that is not whole yet: on disk when this returns, so that it can be told. */
  say(item: string, text: string): void;
  /** Appends an item, or replaces the one with the same id. A message that was being said is whole with it. */
  put(item: TurnItem): void;
  /** The same, but as an item on disk only with the turn's end: for what comes right before it. */
  hold(item: TurnItem): void;
  begin(model: ModelName): void;
  /** A tool that can change the world outside is about to be called. */
  markWrote(): void;
  /** Resolves when the end is on disk. Rejects where it cannot be stored; calling it again tries again. */
  finish(ending: Ending, usage: Usage): Promise<void>;
  record(): TurnRecord;
}

interface Tables {
  readonly sql: SyncSql;
  readonly pieces: Pieces;
  index(item: TurnItem, thread: string, seq: number): void;
  insertItem(turn: string, item: TurnItem): number;
}

export function createTurnWriter(
  { sql, pieces, index, insertItem }: Tables,
  start: {
    readonly turn: Turn;
    readonly id: string;
    readonly thread: string;
    readonly seq: number;
    readonly items: TurnItem[];
    readonly now: string;
    readonly status: TurnStatus;
    readonly model: ModelName;
  },
): TurnWriter {
  const { turn, id, thread, items } = start;
  // Where each item is on disk; absent for what could not be written yet.
  const stored = new Map<string, number>();
  // Opening the turn has written and indexed what it came with.
  const opened = new Set(items.map((item) => item.id));
  let current: Pick<TurnRecord, "status" | "model" | "usage" | "error" | "gate" | "completedAt"> = {
    status: start.status,
    model: start.model,
    usage: NO_USAGE,
  };

  // Whether text of a message is on disk that has not become an item yet, and whether more of it can be kept.
  let isSpeaking = false;
  let isMute = false;

  const isGone = (): boolean => sql.get("SELECT 1 FROM turns WHERE id = ?", id) === undefined;

  const store = (item: TurnItem): void => {
    if (stored.has(item.id)) {
      sql.run("UPDATE turn_items SET body = ? WHERE id = ?", JSON.stringify(item), item.id);
      return;
    }
    try {
      stored.set(item.id, insertItem(id, item));
    } catch (error) {
      // Its thread was deleted while it ran.
      if (!isGone()) throw error;
    }
  };

  const place = (item: TurnItem): void => {
    const at = items.findIndex((other) => other.id === item.id);
    if (at === -1) items.push(item);
    else items[at] = item;
  };

  function writeEnd({ status, error, gate, pending, required }: Ending, usage: Usage, now: string): void {
    const { changes } = sql.run(
      "UPDATE turns SET status = ?, error = ?, gate = ?, usage = ?, completed_at = ? WHERE id = ?",
      status,
      error ? JSON.stringify(error) : null,
      gate ? JSON.stringify(gate) : null,
      JSON.stringify(usage),
      now,
      id,
    );
    // Its thread was deleted while it ran.
    if (changes === 0) return;
    for (const item of items) {
      if (opened.has(item.id)) continue;
      if (!stored.has(item.id)) store(item);
      index(item, thread, stored.get(item.id) as number);
    }
    if (isSpeaking) pieces.drop(id);
    sql.run("UPDATE threads SET updated_at = ? WHERE id = ?", now, thread);
    if (gate === undefined) return;
    sql.run(
      "UPDATE threads SET gate = ?, pending = ?, required = ? WHERE id = ?",
      JSON.stringify(gate),
      pending?.length ? JSON.stringify(pending) : null,
      required ? JSON.stringify(required) : null,
      thread,
    );
  }

  return {
    id,
    thread,
    seq: start.seq,
    items,
    say(item, text) {
      if (isMute) return;
      try {
        pieces.add(id, item, text);
        isSpeaking = true;
      } catch {
        // A full disk, or the thread is gone: the turn's end says so. A text with a hole in it would be worse than none.
        isMute = true;
      }
    },
    put(item) {
      place(item);
      if (item.type !== "message" || !isSpeaking) return store(item);
      sql.transaction(() => {
        store(item);
        pieces.drop(id);
      });
      isSpeaking = false;
    },
    hold(item) {
      place(item);
      // An earlier state of it is on disk already.
      if (stored.has(item.id)) store(item);
    },
    begin(model) {
      const { status, model: known } = current;
      if (status === "running" && known.provider === model.provider && known.name === model.name) return;
      sql.run(
        "UPDATE turns SET status = 'running', provider = ?, model = ? WHERE id = ?",
        model.provider,
        model.name,
        id,
      );
      current = { ...current, status: "running", model };
    },
    markWrote: () => void sql.run("UPDATE turns SET wrote = 1 WHERE id = ?", id),
    async finish(ending, usage) {
      const now = new Date().toISOString();
      current = {
        status: ending.status,
        model: current.model,
        usage,
        completedAt: now,
        ...(ending.error && { error: ending.error }),
        ...(ending.gate && { gate: ending.gate }),
      };
      const before = new Map(stored);
      try {
        await sql.batch(() => writeEnd(ending, usage, now));
      } catch (error) {
        stored.clear();
        for (const [item, seq] of before) stored.set(item, seq);
        throw error;
      }
    },
    record: () => ({
      id,
      thread,
      user: turn.user,
      channel: turn.channel,
      input: turn.input,
      ...(turn.outside && { outside: turn.outside }),
      items: [...items],
      createdAt: start.now,
      ...current,
    }),
  };
}
