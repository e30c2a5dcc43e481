/**
 * Search by meaning. Each passage is kept as 384 signs (48 bytes, in memory) and 384 bytes (on disk). A search
 * walks the signs of one user, which is about a millisecond for a hundred thousand, and compares the nearest exactly.
 * What is in memory follows the table, which other processes and nodes write too: each change of a user's vectors has
 * a number, and a search that finds a higher one reads what is new. What has gone shows when its row is not there.
 */
import { setImmediate } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Sql, Transaction } from "../../kernel/plugin.ts";
import type { Ranked } from "./documents.ts";
import { distancesTo, SIGN_BYTES } from "./hamming.ts";

export const DIMENSIONS = SIGN_BYTES * 8;
/** In memory: the signs, and two numbers. */
const BYTES_EACH = SIGN_BYTES + 16;
/** So many of those whose signs differ least are weighed, and so many of these compared exactly. */
const WEIGHED = 500;
const NEAREST = 100;
const COMPARED = Array.from({ length: NEAREST }, () => "?").join();
/** Below this two texts have nothing to do with each other. */
const MIN_SIMILARITY = 0.3;
/** The most that signs may take in memory: two million passages. */
const MAX_BYTES = 128 * 1024 * 1024;
/** More would keep everybody waiting while a user's signs are read. */
const READ_AT_ONCE = 5000;

interface Signs {
  bits: Uint8Array;
  ids: Float64Array;
  documents: Float64Array;
  count: number;
  /** Up to which change they are known. */
  change: number;
}

interface SignsRow {
  readonly id: number;
  readonly document: number;
  readonly change: number;
  readonly signs: Uint8Array;
}

interface Compared {
  readonly id: number;
  readonly document: number;
  readonly vector: Uint8Array;
}

export type Vectors = ReturnType<typeof createVectors>;

export function createVectors(sql: Sql) {
  const loaded = new LRUCache<string, Signs>({ maxSize: MAX_BYTES });

  function keep(user: string, signs: Signs): void {
    // The cache looks at the size of what is new to it only.
    loaded.delete(user);
    loaded.set(user, signs, { size: 1 + signs.ids.length * BYTES_EACH });
  }

  /** The signs of a user, at least up to this change. */
  async function follow(user: string, change: number): Promise<Signs> {
    const signs = loaded.get(user) ?? createSigns();
    // Others who search meanwhile wait for the same.
    keep(user, signs);
    while (signs.change < change) {
      const rows = await sql.all<SignsRow>(
        `SELECT id, document, change, signs FROM memory_vectors WHERE "user" = ? AND change > ?
         ORDER BY change LIMIT ${READ_AT_ONCE}`,
        user,
        signs.change,
      );
      const isLast = rows.length < READ_AT_ONCE;
      const end = rows.at(-1)?.change ?? 0;
      // Another search may have read some of them meanwhile; of the last change there may be more.
      take(
        signs,
        rows.filter((row) => row.change > signs.change && (isLast || row.change < end)),
      );
      if (isLast) signs.change = Math.max(signs.change, change);
      keep(user, signs);
      if (!isLast) await setImmediate();
    }
    return signs;
  }

  return {
    async put(
      tx: Transaction,
      user: string,
      document: number,
      vectors: readonly Float32Array[],
    ): Promise<void> {
      // The number is taken first: whoever else changes this user's vectors waits, so that numbers commit in order.
      const [, row] = await Promise.all([
        tx.run("DELETE FROM memory_vectors WHERE document = ?", document),
        tx.get<{ change: number }>(
          `INSERT INTO memory_changes ("user", change) VALUES (?, ?)
           ON CONFLICT ("user") DO UPDATE SET change = memory_changes.change + 1 RETURNING change`,
          user,
          // A user who was removed and is back starts above all that anybody still has in memory.
          Date.now(),
        ),
      ]);
      if (vectors.length === 0) return;
      const change = (row as { change: number }).change;
      await tx.run(
        `INSERT INTO memory_vectors (document, "user", signs, vector, change)
         VALUES ${vectors.map(() => "(?, ?, ?, ?, ?)").join()}`,
        ...vectors.flatMap((vector) => [document, user, signsOfVector(vector), toBytes(vector), change]),
      );
    },

    /** The number of the last change; undefined where this user never had any, so that nobody loads the model for nothing. */
    async lastChange(user: string): Promise<number | undefined> {
      const row = await sql.get<{ change: number }>(
        'SELECT change FROM memory_changes WHERE "user" = ?',
        user,
      );
      return row?.change;
    },

    /** Documents by the likeness of their nearest passage, as they were at this change or later. */
    async search(user: string, query: Float32Array, change: number): Promise<Ranked[]> {
      const signs = await follow(user, change);
      let rows: readonly Compared[] = [];
      for (;;) {
        const near = nearest(signs, query);
        if (near.length === 0) return [];
        rows = await sql.all<Compared>(
          // By number: SQLite would rather walk all that are the user's.
          `SELECT id, document, vector FROM memory_vectors WHERE "user" || '' = ? AND id IN (${COMPARED})`,
          user,
          ...Array.from({ length: NEAREST }, (_, at) => near[at] ?? -1),
        );
        const there = new Set(rows.map(({ id }) => id));
        const gone = near.filter((id) => !there.has(id));
        if (gone.length === 0) break;
        // They may have kept others out.
        drop(signs, new Set(gone), signs.ids);
      }
      const best = new Map<number, number>();
      for (const { document, vector } of rows) {
        const likeness = similarity(query, vector);
        if (likeness >= MIN_SIMILARITY && likeness > (best.get(document) ?? 0)) best.set(document, likeness);
      }
      return [...best].map(([id, score]) => ({ id, score })).sort((one, other) => other.score - one.score);
    },
  };
}

function createSigns(): Signs {
  return {
    bits: new Uint8Array(0),
    ids: new Float64Array(0),
    documents: new Float64Array(0),
    count: 0,
    change: -1,
  };
}

function reserve(signs: Signs, more: number): void {
  const needed = signs.count + more;
  if (needed <= signs.ids.length) return;
  const room = signs.count === 0 ? needed : Math.max(64, needed, signs.count * 2);
  const { bits, ids, documents } = signs;
  signs.bits = new Uint8Array(room * SIGN_BYTES);
  signs.ids = new Float64Array(room);
  signs.documents = new Float64Array(room);
  signs.bits.set(bits);
  signs.ids.set(ids);
  signs.documents.set(documents);
}

/** Takes in rows, which replace what was known of their documents. */
function take(signs: Signs, rows: readonly SignsRow[]): void {
  drop(signs, new Set(rows.map(({ document }) => document)), signs.documents);
  // SQLite gives the number of a row that has gone to the next.
  drop(signs, new Set(rows.map(({ id }) => id)), signs.ids);
  reserve(signs, rows.length);
  for (const row of rows) {
    signs.bits.set(row.signs, signs.count * SIGN_BYTES);
    signs.ids[signs.count] = row.id;
    signs.documents[signs.count] = row.document;
    signs.count += 1;
  }
  signs.change = rows.at(-1)?.change ?? signs.change;
}

/** Drops those whose value in the column is one of these; the last takes the place of one that goes. */
function drop(signs: Signs, gone: ReadonlySet<number>, column: Float64Array): void {
  if (gone.size === 0 || signs.count === 0) return;
  const { bits, ids, documents } = signs;
  for (let at = signs.count - 1; at >= 0; at -= 1) {
    if (!gone.has(column[at] as number)) continue;
    const last = signs.count - 1;
    ids[at] = ids[last] as number;
    documents[at] = documents[last] as number;
    bits.copyWithin(at * SIGN_BYTES, last * SIGN_BYTES, signs.count * SIGN_BYTES);
    signs.count = last;
  }
}

/** The nearest passages: of those whose signs differ least, the ones that differ where the query's values are small. */
function nearest({ bits, ids, count }: Signs, query: Float32Array): number[] {
  const distances = distancesTo(signsOfVector(query), bits, count);
  const histogram = new Uint32Array(DIMENSIONS + 1);
  for (let at = 0; at < count; at += 1) {
    const distance = distances[at] as number;
    histogram[distance] = (histogram[distance] as number) + 1;
  }
  let cut = 0;
  for (let seen = 0; cut <= DIMENSIONS; cut += 1) {
    seen += histogram[cut] as number;
    if (seen >= WEIGHED) break;
  }
  const weigh = createWeights(query);
  const found: { id: number; weight: number }[] = [];
  for (let at = count - 1; at >= 0; at -= 1) {
    if ((distances[at] as number) <= cut)
      found.push({ id: ids[at] as number, weight: weigh(bits, at * SIGN_BYTES) });
  }
  return found
    .sort((one, other) => other.weight - one.weight)
    .slice(0, NEAREST)
    .map(({ id }) => id);
}

/** Adds up the query's values where a passage's sign is positive; for each byte of signs the sums are looked up. */
function createWeights(query: Float32Array): (bits: Uint8Array, from: number) => number {
  const sums = new Float32Array(SIGN_BYTES * 256);
  for (let byte = 0; byte < SIGN_BYTES; byte += 1) {
    for (let signs = 1; signs < 256; signs += 1) {
      const lowest = 31 - Math.clz32(signs & -signs);
      const others = sums[byte * 256 + (signs & (signs - 1))] as number;
      sums[byte * 256 + signs] = others + (query[byte * 8 + lowest] as number);
    }
  }
  return (bits, from) => {
    let weight = 0;
    for (let byte = 0; byte < SIGN_BYTES; byte += 1)
      weight += sums[byte * 256 + (bits[from + byte] as number)] as number;
    return weight;
  };
}

export function signsOfVector(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(SIGN_BYTES);
  for (let at = 0; at < DIMENSIONS; at += 1) {
    if ((vector[at] ?? 0) > 0) bytes[at >> 3] = (bytes[at >> 3] as number) | (1 << (at & 7));
  }
  return bytes;
}

export function toBytes(vector: Float32Array): Uint8Array {
  const bytes = new Int8Array(DIMENSIONS);
  for (let at = 0; at < DIMENSIONS; at += 1)
    bytes[at] = Math.round(Math.max(-1, Math.min(1, vector[at] ?? 0)) * 127);
  return new Uint8Array(bytes.buffer);
}

function similarity(query: Float32Array, bytes: Uint8Array): number {
  const vector = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let dot = 0;
  for (let at = 0; at < DIMENSIONS; at += 1) dot += (query[at] as number) * (vector[at] as number);
  return dot / 127;
}
