/** One open turn: its items in memory and, as they happen, in the store; then its end. */

import { NO_USAGE } from "../../../../kernel/kit.ts";
import type {
  ModelName,
  Sql,
  Transaction,
  Turn,
  TurnItem,
  TurnRecord,
  TurnStatus,
  Usage,
} from "../../../../kernel/plugin.ts";
import { type Attached, writeAttached } from "../attachments/stored.ts";
import { closeTurn, type Ending } from "../ending.ts";
import type { ThreadTexts } from "../texts.ts";
import { removeThread, type Summary, type ThreadRow } from "../thread-row.ts";
import { createWriteQueue } from "./write-queue.ts";

/** "waiting" where an earlier turn of the thread is still open, "gone" where it was closed or removed by others. */
export type Begun = "running" | "waiting" | "gone";

export interface TurnWriter {
  readonly id: string;
  readonly thread: string;
  /** Its place among all turns. */
  readonly seq: number;
  /** The turn that it goes on from. */
  readonly after: string | undefined;
  readonly items: readonly TurnItem[];
  /** The summary of its thread, where nobody can have changed it since the turn was opened. */
  readonly summary: Summary | undefined;
  /** What was chosen for its thread; known when it has begun. */
  readonly chosen: ModelName | undefined;
  /** Nothing came before it on its thread. */
  readonly isFirst: boolean;
  /** Not all that came before it on its thread is its past. */
  readonly isBranched: boolean;
  /** Keeps text of an item that is not whole yet; `tell` is called when it is stored, in the order of the texts. */
  say(
    item: string,
    deltas: readonly string[],
    tell: (delta: string) => void,
    type?: "text" | "reasoning",
  ): void;
  /** Appends items, or replaces those with the same ids. A message that was being said is whole with it. */
  put(...items: TurnItem[]): Promise<void>;
  /** The same, but stored only with the next write of items or the turn's end: for what comes right before it. */
  hold(item: TurnItem): void;
  /** Writes it along with the next items, or with the turn's end. */
  add(write: (tx: Transaction) => void): void;
  /** Keeps bytes that an item names, along with that item. */
  attach(attached: readonly Attached[]): void;
  /** Runs it if it is the first in line of its thread. */
  begin(model: ModelName): Promise<Begun>;
  /** The model that answers, should it be another. */
  setModel(model: ModelName): void;
  /** A tool that can change the world outside is about to be called. On disk when it resolves; false where the turn is gone. */
  markWrote(): Promise<boolean>;
  /** Resolves when a write finds that the turn is gone: with its thread, or to a node that took it over. */
  readonly gone: Promise<void>;
  /**
   * Resolves when the end is on disk, with the node of the turn that waits for it. Rejects where it cannot be stored;
   * calling it again tries again.
   */
  finish(ending: Ending, usage: Usage): Promise<string | undefined>;
  /** Its record has this end from now on, which is still to be stored. */
  assume(ending: Ending, usage: Usage): void;
  /** Whether its end is stored: a commit may have been made though its answer was lost. */
  hasEnded(): Promise<boolean>;
  record(): TurnRecord;
}

export function createTurnWriter(
  { sql, texts, node }: { readonly sql: Sql; readonly texts: ThreadTexts; readonly node: string },
  start: {
    readonly turn: Turn;
    readonly id: string;
    readonly thread: string;
    readonly seq: number;
    readonly items: TurnItem[];
    readonly now: string;
    readonly status: TurnStatus;
    readonly model: ModelName;
    readonly before: ThreadRow | undefined;
    readonly isBranched: boolean;
    readonly after: string | undefined;
  },
): TurnWriter {
  const { turn, id, thread, seq, after, items, isBranched } = start;
  // Where it was taken over by another node, nothing of what this one still says counts.
  const own = { id, node };
  let current: Pick<
    TurnRecord,
    "status" | "model" | "usage" | "error" | "gate" | "incomplete" | "completedAt"
  > = {
    status: start.status,
    model: start.model,
    usage: NO_USAGE,
  };

  const { model: wanted } = turn;
  let chosen = start.before === undefined ? (wanted as ModelName | undefined) : start.before.model;

  let hasWritten = false;
  const { promise: gone, resolve: foundGone } = Promise.withResolvers<void>();
  const queue = createWriteQueue(sql, {
    own,
    items,
    keepsPieces: turn.keepsPieces ?? false,
    isMute: turn.ephemeral ?? false,
    onGone: foundGone,
  });

  const writeEnd = (tx: Transaction, ending: Ending, usage: Usage, now: string) => {
    if (turn.ephemeral) {
      queue.writeBesides(tx);
      void removeThread(tx, thread);
      return Promise.resolve(undefined);
    }
    const next = closeTurn(
      tx,
      { ...own, thread, isBranched, model: current.model, openedAt: start.now },
      ending,
      usage,
      now,
    );
    queue.writeItems(tx);
    // All that was said, also to begin with: the index is written once for a turn.
    for (const item of items)
      if (item.type === "message" && item.text !== "") texts.addMessage(tx, item.id, thread, item.text);
    queue.writeBesides(tx);
    return next;
  };

  const endedAs = (ending: Ending, usage: Usage, now: string): typeof current => ({
    status: ending.status,
    model: current.model,
    usage,
    completedAt: now,
    ...(ending.error && { error: ending.error }),
    ...(ending.gate && { gate: ending.gate }),
    ...(ending.incomplete && { incomplete: ending.incomplete }),
  });

  return {
    id,
    thread,
    seq,
    after,
    items,
    get chosen() {
      return chosen;
    },
    summary: start.status === "queued" ? undefined : (start.before?.summary ?? { text: undefined, to: 0 }),
    isFirst: start.before === undefined && !turn.history?.length,
    isBranched,
    say: (item, deltas, tell, type = "text") => queue.say({ item, deltas, type, tell }),
    put: queue.put,
    hold: queue.hold,
    add: queue.add,
    attach(attached) {
      for (const one of attached) queue.add((tx) => void writeAttached(tx, sql.engine, own, one));
    },
    async begin(model) {
      // Its thread may have got another model while it waited.
      const begun = await sql.get<{ provider: string; model: string; isChosen: number }>(
        `UPDATE turns SET status = 'running', provider = coalesce((SELECT provider FROM threads WHERE id = turns.thread), ?),
           model = coalesce((SELECT model FROM threads WHERE id = turns.thread), ?)
         WHERE id = ? AND node = ? AND status = 'queued' AND NOT EXISTS (
           SELECT 1 FROM turns AS other INDEXED BY turns_open
           WHERE other.thread = ? AND other.seq < ? AND other.status IN ('queued', 'running'))
         RETURNING provider, model,
           (SELECT count(*) FROM threads WHERE threads.id = turns.thread AND threads.model IS NOT NULL) AS "isChosen"`,
        model.provider,
        model.name,
        id,
        node,
        thread,
        seq,
      );
      if (begun !== undefined) {
        const named = { provider: begun.provider, name: begun.model };
        chosen = begun.isChosen > 0 ? named : undefined;
        current = { ...current, status: "running", model: named };
        return "running";
      }
      const row = await sql.get<{ status: TurnStatus }>("SELECT status FROM turns WHERE id = ?", id);
      return row?.status === "queued" ? "waiting" : "gone";
    },
    setModel(model) {
      current = { ...current, model };
    },
    async markWrote() {
      hasWritten ||= (await sql.run("UPDATE turns SET wrote = 1 WHERE id = ? AND node = ?", id, node)) > 0;
      if (!hasWritten) foundGone();
      return hasWritten;
    },
    gone,
    async finish(ending, usage) {
      const rest = await queue.takeRest();
      const now = new Date().toISOString();
      current = endedAs(ending, usage, now);
      const next = await rest.write((tx) => writeEnd(tx, ending, usage, now));
      return next?.node;
    },
    assume(ending, usage) {
      current = endedAs(ending, usage, new Date().toISOString());
    },
    async hasEnded() {
      const open = "SELECT 1 FROM turns WHERE id = ? AND status IN ('queued', 'running')";
      return (await sql.get(open, id)) === undefined;
    },
    record: () => ({
      id,
      thread,
      ...(after !== undefined && { after }),
      user: turn.user,
      channel: turn.channel,
      input: turn.input,
      ...(turn.outside && { outside: turn.outside }),
      items: queue.items(),
      createdAt: start.now,
      ...current,
    }),
  };
}
