/** Writes what an open turn says and stores: one transaction at a time, and in order. */
import type { Sql, Transaction, TurnItem } from "../../../../kernel/plugin.ts";
import { type OwnTurn, writeItem } from "../turns/items.ts";
import { isTold, Pieces, type Said } from "./pieces.ts";

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
    /** True if nothing that is said shall be kept before it is whole. */
    readonly isMute: boolean;
    onGone(): void;
  },
) {
  const { own, items } = turn;
  const pieces = new Pieces(own, turn.keepsPieces, turn.isMute);
  // Opening the turn has written what it came with.
  const stored = new Set<TurnItem>(items);
  let said: Said[] = [];
  let puts: Put[] = [];
  let besides: ((tx: Transaction) => void)[] = [];
  const storedIds = new Set(items.map(({ id }) => id));
  /** A commit that may have been made though its answer was lost: then its new item is there. */
  let unsure:
    | { readonly item: string; readonly ids: readonly string[]; readonly along: typeof besides }
    | undefined;
  let isDraining = false;
  // When text was written last, and what writes the text that came too soon after it.
  let spokeAt = Number.NEGATIVE_INFINITY;
  let gathering: NodeJS.Timeout | undefined;
  /** The transaction that has taken what it writes. */
  let underWay: Promise<void> | undefined;
  const place = (item: TurnItem): void => {
    const at = items.findIndex((other) => other.id === item.id);
    if (at === -1) items.push(item);
    else items[at] = item;
  };

  function take(): Batch {
    const batch = { said, puts };
    pieces.count(said);
    said = [];
    puts = [];
    return batch;
  }

  /** Those that nothing newer has taken the place of, in the order in which they happened. */
  const unstored = (): readonly TurnItem[] => items.filter((item) => !stored.has(item));

  /** Writes that come while one transaction is on its way go with the next. */
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

  /** What such a commit wrote along must not be written, and counted, again. */
  async function forgetMade(
    tx: Transaction,
    { item, ids, along }: NonNullable<typeof unsure>,
  ): Promise<void> {
    if ((await tx.get("SELECT 1 AS one FROM turn_items WHERE id = ?", item)) !== undefined) {
      besides = besides.filter((write) => !along.includes(write));
      for (const id of ids) storedIds.add(id);
    }
    unsure = undefined;
  }

  async function writeNext(): Promise<void> {
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    let batch: Batch | undefined;
    let whole: readonly TurnItem[] = [];
    let along: typeof besides = [];
    try {
      const { written } = await sql.transaction(
        async (tx) => {
          if (unsure !== undefined) await forgetMade(tx, unsure);
          if (batch === undefined) {
            batch = take();
            underWay = over;
            if (batch.said.length > 0) spokeAt = performance.now();
            if (batch.puts.length > 0) {
              whole = unstored();
              along = [...besides];
            }
          }
          const told = pieces.write(tx, batch.said, whole);
          const rows = whole.map((item) => writeItem(tx, own, pieces.withLengths(item)));
          if (whole.some(isTold)) pieces.drop(tx);
          for (const write of along) write(tx);
          // Heard after the commit, so that a database on another machine is asked once; or never, where that fails.
          const written = Promise.all([...told, ...rows]);
          written.catch(() => {});
          return { written };
        },
        { flush: false },
      );
      if ((await written).includes(0)) turn.onGone();
      for (const item of whole) {
        stored.add(item);
        storedIds.add(item.id);
      }
      besides = besides.filter((write) => !along.includes(write));
      if (whole.some(isTold)) pieces.isSpeaking = false;
      tellAll(batch?.said ?? []);
      for (const { resolve } of batch?.puts ?? []) resolve();
    } catch (error) {
      const lost = batch ?? take();
      const ids = whole.map(({ id }) => id);
      const item = ids.find((id) => !storedIds.has(id));
      if (item !== undefined && along.length > 0) unsure = { item, ids, along };
      // A full disk, most likely: the turn's end says so. A text with a hole in it would be worse than none.
      if (lost.said.length > 0) pieces.isMute = true;
      tellAll(lost.said);
      for (const { reject } of lost.puts) reject(error);
    } finally {
      if (underWay === over) underWay = undefined;
      end();
    }
  }

  return {
    say(next: Said): void {
      if (pieces.isMute) {
        pieces.count([next]);
        tellAll([next]);
      } else {
        said.push(next);
        void drain();
      }
    },
    /** Appends items, or replaces those with the same ids, and resolves when they are stored. A message that was being said is whole with it. */
    put(...given: readonly TurnItem[]): Promise<void> {
      for (const item of given) place(item);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      puts.push({ resolve, reject });
      void drain();
      return promise;
    },
    /** The same, but stored only with the next write of items or the turn's end: for what comes right before it. */
    hold: place,
    /** Has an item from now on that others have stored. */
    adopt(item: TurnItem): void {
      place(item);
      stored.add(item);
      storedIds.add(item.id);
    },
    /** Writes it along with the next items, or with the turn's end. */
    add: (write: (tx: Transaction) => void) => void besides.push(write),
    items: () => items.map((item) => pieces.withLengths(item)),
    /**
     * Runs the transaction of the turn's end, which takes what nobody has written yet; those who wait for that hear how it went.
     * The answer of `write` is awaited after the commit, so that the commit needs none before it.
     */
    async end<Answer>(write: (tx: Transaction) => Promise<Answer>): Promise<Answer> {
      while (underWay !== undefined) await underWay;
      clearTimeout(gathering);
      const rest = take();
      try {
        const { answer } = await sql.transaction(async (tx) => {
          if (unsure !== undefined) await forgetMade(tx, unsure);
          return { answer: write(tx) };
        });
        besides = [];
        for (const { resolve } of rest.puts) resolve();
        return await answer;
      } catch (error) {
        for (const { reject } of rest.puts) reject(error);
        throw error;
      } finally {
        tellAll(rest.said);
      }
    },
    /** In the transaction of the turn's end: the items that are not stored, in place of their pieces. */
    writeItems(tx: Transaction): void {
      for (const item of unstored()) void writeItem(tx, own, pieces.withLengths(item));
      pieces.drop(tx);
    },
    /** In the transaction of the turn's end: what was to be written along. */
    writeBesides(tx: Transaction): void {
      for (const write of besides) write(tx);
    },
  };
}

function tellAll(said: readonly Said[]): void {
  for (const { deltas, tell } of said) for (const delta of deltas) tell(delta);
}
