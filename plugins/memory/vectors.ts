/**
 * Search by meaning. Each passage is kept as 384 signs (48 bytes, in memory) and 384 bytes (on disk). A search
 * walks the signs of one user, which is a few milliseconds for a hundred thousand, and compares the nearest exactly.
 * What is in memory follows the table, which other processes and nodes write too: each change of a user's vectors has
 * a number, and a search that finds a higher one reads what is new. What has gone shows when its row is not there.
 */
import { LRUCache } from "lru-cache";
import type { Sql, Transaction } from "../../kernel/plugin.ts";
import type { Ranked } from "./documents.ts";

export const DIMENSIONS = 384;
const WORDS = DIMENSIONS / 32;
const NEAREST = 64;
const COMPARED = Array.from({ length: NEAREST }, () => "?").join();
/** Below this two texts have nothing to do with each other. */
const MIN_SIMILARITY = 0.3;
/** Users whose signs stay in memory. */
const MAX_USERS = 64;

interface Signs {
  bits: Uint32Array;
  ids: Float64Array;
  documents: Float64Array;
  count: number;
  /** Up to which change they are known. */
  change: number;
}

interface Compared {
  readonly id: number;
  readonly document: number;
  readonly vector: Uint8Array;
}

export type Vectors = ReturnType<typeof createVectors>;

export function createVectors(sql: Sql) {
  const loaded = new LRUCache<string, Signs>({ max: MAX_USERS });

  /** The signs of a user, at least up to this change. */
  async function follow(user: string, change: number): Promise<Signs> {
    const signs = loaded.get(user) ?? createSigns();
    loaded.set(user, signs);
    if (signs.change >= change) return signs;
    const rows = await sql.all<{ id: number; document: number; change: number; signs: Uint8Array }>(
      'SELECT id, document, change, signs FROM memory_vectors WHERE "user" = ? AND change > ? ORDER BY change',
      user,
      signs.change,
    );
    // Another search may have read some of them meanwhile.
    const fresh = rows.filter((row) => row.change > signs.change);
    drop(signs, new Set(fresh.map(({ document }) => document)), signs.documents);
    // SQLite gives the number of a row that has gone to the next.
    drop(signs, new Set(fresh.map(({ id }) => id)), signs.ids);
    reserve(signs, fresh.length);
    for (const row of fresh) add(signs, row);
    signs.change = Math.max(signs.change, change, fresh.at(-1)?.change ?? 0);
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
      const wanted = toWords(signsOfVector(query));
      let rows: readonly Compared[] = [];
      for (;;) {
        const near = nearest(signs, wanted);
        if (near.length === 0) return [];
        rows = await sql.all<Compared>(
          `SELECT id, document, vector FROM memory_vectors WHERE "user" = ? AND id IN (${COMPARED})`,
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
    bits: new Uint32Array(0),
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
  signs.bits = new Uint32Array(room * WORDS);
  signs.ids = new Float64Array(room);
  signs.documents = new Float64Array(room);
  signs.bits.set(bits);
  signs.ids.set(ids);
  signs.documents.set(documents);
}

function add(
  signs: Signs,
  row: { readonly id: number; readonly document: number; readonly signs: Uint8Array },
): void {
  signs.bits.set(toWords(row.signs), signs.count * WORDS);
  signs.ids[signs.count] = row.id;
  signs.documents[signs.count] = row.document;
  signs.count += 1;
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
    bits.copyWithin(at * WORDS, last * WORDS, signs.count * WORDS);
    signs.count = last;
  }
}

/** The passages whose signs differ least: a count of passages for each distance, then those under the cut. */
function nearest(signs: Signs, query: Uint32Array): number[] {
  const { bits, ids, count } = signs;
  const distances = new Uint16Array(count);
  const histogram = new Uint32Array(DIMENSIONS + 1);
  for (let at = 0; at < count; at += 1) {
    const distance = distanceAt(bits, at * WORDS, query);
    distances[at] = distance;
    histogram[distance] = (histogram[distance] as number) + 1;
  }
  let cut = 0;
  for (let seen = 0; cut <= DIMENSIONS; cut += 1) {
    seen += histogram[cut] as number;
    if (seen >= NEAREST) break;
  }
  const found: { id: number; distance: number }[] = [];
  for (let at = count - 1; at >= 0; at -= 1) {
    const distance = distances[at] as number;
    if (distance <= cut) found.push({ id: ids[at] as number, distance });
  }
  return found
    .sort((one, other) => one.distance - other.distance)
    .slice(0, NEAREST)
    .map(({ id }) => id);
}

/** How many of the 384 signs differ. Six words at a time, so that no count outgrows its byte. */
function distanceAt(bits: Uint32Array, from: number, query: Uint32Array): number {
  let distance = 0;
  for (let half = 0; half < WORDS; half += 6) {
    let bytes = 0;
    for (let word = half; word < half + 6; word += 3) {
      const counts =
        countNibbles((bits[from + word] as number) ^ (query[word] as number)) +
        countNibbles((bits[from + word + 1] as number) ^ (query[word + 1] as number)) +
        countNibbles((bits[from + word + 2] as number) ^ (query[word + 2] as number));
      bytes += (counts & 0x0f0f0f0f) + ((counts >>> 4) & 0x0f0f0f0f);
    }
    distance += Math.imul(bytes, 0x01010101) >>> 24;
  }
  return distance;
}

/** The number of ones in each four bits. */
function countNibbles(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555);
  return (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
}

function signsOfVector(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(DIMENSIONS / 8);
  for (let at = 0; at < DIMENSIONS; at += 1) {
    if ((vector[at] ?? 0) > 0) bytes[at >> 3] = (bytes[at >> 3] as number) | (1 << (at & 7));
  }
  return bytes;
}

/** A copy: a view would need the bytes to start at a multiple of four. */
function toWords(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(Uint8Array.from(bytes).buffer);
}

function toBytes(vector: Float32Array): Uint8Array {
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
