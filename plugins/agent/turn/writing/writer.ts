/** One open turn: its items in memory and, as they happen, in the store; then its end. */
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
import { NO_USAGE } from "../../spending/cost.ts";
import { type Attached, writeAttached } from "../../threads/attachments/stored.ts";
import type { ThreadTexts } from "../../threads/texts.ts";
import { removeThread, type Summary, type ThreadRow } from "../../threads/thread-row.ts";
import { writeItem } from "../../threads/turns/items.ts";
import { addPiece, dropPieces } from "../../threads/turns/pieces.ts";
import { closeTurn, type Ending } from "../ending.ts";
import { createPieces, isTold, type Said, tellAll } from "./pieces.ts";

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

interface Put {
  resolve(): void;
  reject(error: unknown): void;
}

/** What one transaction writes. */
interface Batch {
  readonly said: readonly Said[];
  readonly puts: readonly Put[];
}

// A model that says more within so long has it stored together: people do not read that fast.
const GATHER_MILLIS = 5;

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
  // Opening the turn has written what it came with.
  const stored = new Set<TurnItem>(items);
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

  let said: Said[] = [];
  let puts: Put[] = [];
  let besides: ((tx: Transaction) => void)[] = [];
  let isDraining = false;
  // When text was written last, and what writes the text that came too soon after it.
  let spokeAt = Number.NEGATIVE_INFINITY;
  let gathering: NodeJS.Timeout | undefined;
  /** The transaction that has taken what it writes. */
  let underWay: Promise<void> | undefined;
  // Whether text of a message is stored that has not become an item yet, and whether more of it can or shall be kept.
  let isSpeaking = false;
  let isMute = turn.ephemeral ?? false;
  let hasWritten = false;
  const { promise: gone, resolve: foundGone } = Promise.withResolvers<void>();

  const pieces = createPieces(turn.keepsPieces ?? false);

  const place = (item: TurnItem): void => {
    const at = items.findIndex((other) => other.id === item.id);
    if (at === -1) items.push(item);
    else items[at] = item;
  };

  function take(): Batch {
    const batch = { said: pieces.keep(said), puts };
    said = [];
    puts = [];
    return batch;
  }

  /** Those that nothing newer has taken the place of, in the order in which they happened. */
  const unstored = (): readonly TurnItem[] => items.filter((item) => !stored.has(item));

  /** One transaction at a time and in order: what comes while one is on its way goes with the next. */
  async function drain(): Promise<void> {
    if (isDraining) return;
    isDraining = true;
    while (puts.length > 0 || (said.length > 0 && untilText() <= 0)) await writeNext();
    isDraining = false;
    if (said.length > 0) gathering ??= setTimeout(writeGathered, untilText());
  }

  const untilText = (): number => spokeAt + GATHER_MILLIS - performance.now();

  function writeGathered(): void {
    gathering = undefined;
    void drain();
  }

  async function writeNext(): Promise<void> {
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    let batch: Batch | undefined;
    let whole: readonly TurnItem[] = [];
    let along: typeof besides = [];
    try {
      const { written } = await sql.transaction(
        async (tx) => {
          if (batch === undefined) {
            batch = take();
            underWay = over;
            if (batch.said.length > 0) spokeAt = performance.now();
            if (batch.puts.length > 0) {
              whole = unstored();
              along = besides;
            }
          }
          const told = writePieces(tx, batch.said, whole);
          const rows = whole.map((item) => writeItem(tx, own, pieces.with(item)));
          if (isSpeaking && whole.some(isTold)) void dropPieces(tx, id);
          for (const write of along) write(tx);
          // Heard after the commit, so that a database on another machine is asked once; or never, where that fails.
          const written = Promise.all([...told, ...rows]);
          written.catch(() => {});
          return { written };
        },
        { flush: false },
      );
      if ((await written).includes(0)) foundGone();
      for (const item of whole) stored.add(item);
      besides = besides.filter((write) => !along.includes(write));
      if (whole.some(isTold)) isSpeaking = false;
      tellAll(batch?.said ?? []);
      for (const { resolve } of batch?.puts ?? []) resolve();
    } catch (error) {
      const lost = batch ?? take();
      // A full disk, most likely: the turn's end says so. A text with a hole in it would be worse than none.
      if (lost.said.length > 0) isMute = true;
      tellAll(lost.said);
      for (const { reject } of lost.puts) reject(error);
    } finally {
      if (underWay === over) underWay = undefined;
      end();
    }
  }

  /** Of items that become whole in the same step nothing has to be kept. */
  function writePieces(
    tx: Transaction,
    given: readonly Said[],
    whole: readonly TurnItem[],
  ): readonly Promise<number>[] {
    const kept = isMute ? [] : given.filter(({ item }) => !whole.some(({ id }) => id === item));
    isSpeaking ||= kept.length > 0;
    return pieces.rows(kept).map((piece) => addPiece(tx, own, piece));
  }

  const writeEnd = (tx: Transaction, ending: Ending, usage: Usage, now: string) => {
    if (turn.ephemeral) {
      for (const write of besides) write(tx);
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
    for (const item of unstored()) void writeItem(tx, own, pieces.with(item));
    // All that was said, also to begin with: the index is written once for a turn.
    for (const item of items)
      if (item.type === "message" && item.text !== "") texts.addMessage(tx, item.id, thread, item.text);
    if (isSpeaking) void dropPieces(tx, id);
    for (const write of besides) write(tx);
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
    say(item, deltas, tell, type = "text") {
      const next: Said = { item, deltas, type, tell };
      if (isMute) return tellAll(pieces.keep([next]));
      said.push(next);
      void drain();
    },
    put(...given) {
      for (const item of given) place(item);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      puts.push({ resolve, reject });
      void drain();
      return promise;
    },
    hold: place,
    add: (write) => void besides.push(write),
    attach(attached) {
      for (const one of attached) besides.push((tx) => void writeAttached(tx, sql.engine, own, one));
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
      while (underWay !== undefined) await underWay;
      clearTimeout(gathering);
      const now = new Date().toISOString();
      const rest = take();
      current = endedAs(ending, usage, now);
      try {
        const { next } = await sql.transaction(async (tx) => ({ next: writeEnd(tx, ending, usage, now) }));
        besides = [];
        for (const { resolve } of rest.puts) resolve();
        // Asked for after the commit, so that the commit needs no answer before it.
        return (await next)?.node;
      } catch (error) {
        for (const { reject } of rest.puts) reject(error);
        throw error;
      } finally {
        tellAll(rest.said);
      }
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
      items: items.map(pieces.with),
      createdAt: start.now,
      ...current,
    }),
  };
}
