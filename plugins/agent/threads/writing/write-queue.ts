/** Writes what an open turn says and stores: one transaction at a time, and in order. */
import type { Sql, Transaction, TurnItem } from "../../../../kernel/plugin.ts";
import { addPiece, dropPieces, type OwnTurn, writeItem } from "../turns/items.ts";

/** Text of an item that is not whole yet, told when it is stored. */
export interface Said {
  readonly item: string;
  readonly deltas: readonly string[];
  readonly type: "text" | "reasoning";
  tell(delta: string): void;
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
    onGone(): void;
  },
) {
  const { own, items, keepsPieces } = turn;
  // Opening the turn has written what it came with.
  const stored = new Set<TurnItem>(items);
  /** How long the pieces are in which each item was told, where the turn keeps that. */
  const lengths = new Map<string, number[]>();
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
  // Whether text of a message is stored that has not become an item yet, and whether more of it can or shall be kept.
  let isSpeaking = false;
  let { isMute } = turn;

  const place = (item: TurnItem): void => {
    const at = items.findIndex((other) => other.id === item.id);
    if (at === -1) items.push(item);
    else items[at] = item;
  };

  function keepLengths(given: readonly Said[]): void {
    if (!keepsPieces) return;
    for (const { item, deltas } of given) {
      const known = lengths.get(item) ?? [];
      lengths.set(item, known);
      for (const { length } of deltas) known.push(length);
    }
  }

  function withLengths(item: TurnItem): TurnItem {
    const pieces = lengths.get(item.id);
    return isTold(item) && pieces ? { ...item, pieces: [...pieces] } : item;
  }

  function take(): Batch {
    const batch = { said, puts };
    keepLengths(said);
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
          const told = writePieces(tx, batch.said, whole);
          const rows = whole.map((item) => writeItem(tx, own, withLengths(item)));
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
      for (const item of whole) {
        stored.add(item);
        storedIds.add(item.id);
      }
      besides = besides.filter((write) => !along.includes(write));
      if (whole.some(isTold)) isSpeaking = false;
      tellAll(batch?.said ?? []);
      for (const { resolve } of batch?.puts ?? []) resolve();
    } catch (error) {
      const lost = batch ?? take();
      const ids = whole.map(({ id }) => id);
      const item = ids.find((id) => !storedIds.has(id));
      if (item !== undefined && along.length > 0) unsure = { item, ids, along };
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
  function writePieces(tx: Transaction, given: readonly Said[], whole: readonly TurnItem[]) {
    const kept = isMute ? [] : given.filter(({ item }) => !whole.some(({ id }) => id === item));
    isSpeaking ||= kept.length > 0;
    return [...Map.groupBy(kept, ({ item }) => item)].map(([item, parts]) => {
      const deltas = parts.flatMap((part) => part.deltas);
      const type = parts[0]?.type === "reasoning" ? "reasoning" : null;
      const cuts = keepsPieces ? JSON.stringify(deltas.map(({ length }) => length)) : null;
      return addPiece(tx, own, { item, type, text: deltas.join(""), cuts });
    });
  }

  return {
    say(next: Said): void {
      if (isMute) {
        keepLengths([next]);
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
    /** Writes it along with the next items, or with the turn's end. */
    add: (write: (tx: Transaction) => void) => void besides.push(write),
    items: () => items.map(withLengths),
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
      for (const item of unstored()) void writeItem(tx, own, withLengths(item));
      if (isSpeaking) void dropPieces(tx, own.id);
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

/** Whether it may have been told piece by piece. */
function isTold(item: TurnItem): item is Extract<TurnItem, { type: "message" | "reasoning" }> {
  return item.type === "message" || item.type === "reasoning";
}
