/** What an open turn says and puts, on its way to the store: one transaction at a time, and in order. */
import type { Sql, Transaction, TurnItem } from "../../../../kernel/plugin.ts";
import { type OwnTurn, writeItem } from "../turns/items.ts";
import { addPiece, dropPieces } from "../turns/pieces.ts";
import { createPieces, isTold, type Said, tellAll } from "./pieces.ts";

export interface WriteQueue {
  /** Keeps text of an item that is not whole yet, and tells it when it is stored. */
  say(said: Said): void;
  /** Resolves when the items are stored. */
  put(...items: TurnItem[]): Promise<void>;
  /** Stored only with the next write of items, or with the turn's end. */
  hold(item: TurnItem): void;
  /** Writes it along with the next items, or with the turn's end. */
  add(write: (tx: Transaction) => void): void;
  /** The items with the lengths of the pieces in which they were told, where those are kept. */
  items(): TurnItem[];
  /** Waits for the transaction under way, and takes what nobody has written yet: for the turn's end. */
  takeRest(): Promise<Rest>;
  /** In the transaction of the turn's end: the items that are not stored, in place of their pieces. */
  writeItems(tx: Transaction): void;
  /** In the transaction of the turn's end: what was to be written along. */
  writeBesides(tx: Transaction): void;
}

/** What was left when the turn ended. Those who wait for it hear how the last transaction went. */
export interface Rest {
  /** Runs the last transaction. The answer is awaited after the commit, so that the commit needs none before it. */
  write<Answer>(write: (tx: Transaction) => Promise<Answer>): Promise<Answer>;
}

interface Put {
  resolve(): void;
  reject(error: unknown): void;
}

interface Batch {
  readonly said: readonly Said[];
  readonly puts: readonly Put[];
}

// A model that says more within so long has it stored together: people do not read that fast.
const GATHER_MS = 5;

export function createWriteQueue(
  sql: Sql,
  turn: {
    readonly own: OwnTurn;
    /** Those it was opened with, which are stored; it goes on with them. */
    readonly items: TurnItem[];
    readonly keepsPieces: boolean;
    /** True where nothing that is said shall be kept before it is whole. */
    readonly isMute: boolean;
    /** A write found that the turn is gone. */
    onGone(): void;
  },
): WriteQueue {
  const { own, items } = turn;
  // Opening the turn has written what it came with.
  const stored = new Set<TurnItem>(items);
  const pieces = createPieces(turn.keepsPieces);
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
  let { isMute } = turn;

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

  /** What comes while one transaction is on its way goes with the next. */
  async function drain(): Promise<void> {
    if (isDraining) return;
    isDraining = true;
    while (puts.length > 0 || (said.length > 0 && untilText() <= 0)) await writeNext();
    isDraining = false;
    if (said.length > 0) gathering ??= setTimeout(writeGathered, untilText());
  }

  const untilText = (): number => spokeAt + GATHER_MS - performance.now();

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
          if (isSpeaking && whole.some(isTold)) void dropPieces(tx, own.id);
          for (const write of along) write(tx);
          // Heard after the commit, so that a database on another machine is asked once; or never, where that fails.
          const written = Promise.all([...told, ...rows]);
          written.catch(() => {});
          return { written };
        },
        { flush: false },
      );
      if ((await written).includes(0)) turn.onGone();
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

  /** Items that become whole in the same step need not be kept. */
  function writePieces(
    tx: Transaction,
    given: readonly Said[],
    whole: readonly TurnItem[],
  ): readonly Promise<number>[] {
    const kept = isMute ? [] : given.filter(({ item }) => !whole.some(({ id }) => id === item));
    isSpeaking ||= kept.length > 0;
    return pieces.rows(kept).map((piece) => addPiece(tx, own, piece));
  }

  async function writeRest<Answer>(
    rest: Batch,
    write: (tx: Transaction) => Promise<Answer>,
  ): Promise<Answer> {
    try {
      const { answer } = await sql.transaction(async (tx) => ({ answer: write(tx) }));
      besides = [];
      for (const { resolve } of rest.puts) resolve();
      return await answer;
    } catch (error) {
      for (const { reject } of rest.puts) reject(error);
      throw error;
    } finally {
      tellAll(rest.said);
    }
  }

  return {
    say(next) {
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
    items: () => items.map(pieces.with),
    async takeRest() {
      while (underWay !== undefined) await underWay;
      clearTimeout(gathering);
      const rest = take();
      return { write: (write) => writeRest(rest, write) };
    },
    writeItems(tx) {
      for (const item of unstored()) void writeItem(tx, own, pieces.with(item));
      if (isSpeaking) void dropPieces(tx, own.id);
    },
    writeBesides(tx) {
      for (const write of besides) write(tx);
    },
  };
}
