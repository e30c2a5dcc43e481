/**
 * Search by meaning. Each passage is kept as 384 signs (48 bytes, in memory) and 384 bytes (on disk). A search
 * walks the signs of one user, which is a few milliseconds for a hundred thousand, and compares the nearest exactly.
 */
import { LRUCache } from "lru-cache";
import type { SyncSql } from "../../../kernel/plugin.ts";
import type { Ranked } from "./lexical.ts";

export const DIMENSIONS = 384;
const WORDS = DIMENSIONS / 32;
const NEAREST = 64;
/** Below this two texts have nothing to do with each other. */
const LEAST_SIMILAR = 0.3;
/** Users whose signs stay in memory. */
const MOST_USERS = 64;

interface Signs {
  bits: Uint32Array;
  ids: Float64Array;
  count: number;
}

export type Vectors = ReturnType<typeof createVectors>;

export function createVectors(sql: SyncSql) {
  const loaded = new LRUCache<string, Signs>({ max: MOST_USERS });

  function signsOf(user: string): Signs {
    const known = loaded.get(user);
    if (known) return known;
    const rows = sql.all<{ id: number; signs: Uint8Array }>(
      "SELECT id, signs FROM memory_vectors WHERE user = ?",
      user,
    );
    const signs: Signs = {
      bits: new Uint32Array(rows.length * WORDS),
      ids: new Float64Array(rows.length),
      count: 0,
    };
    for (const row of rows) add(signs, row.id, row.signs);
    loaded.set(user, signs);
    return signs;
  }

  function forget(user: string, document: number): void {
    const gone = sql.all<{ id: number }>("SELECT id FROM memory_vectors WHERE document = ?", document);
    if (gone.length === 0) return;
    sql.run("DELETE FROM memory_vectors WHERE document = ?", document);
    const known = loaded.get(user);
    for (const { id } of gone) if (known) drop(known, id);
  }

  return {
    /** Replaces the passages of a document. */
    put(user: string, document: number, vectors: readonly Float32Array[]): void {
      sql.transaction(() => {
        forget(user, document);
        for (const vector of vectors) {
          const signs = signsOfVector(vector);
          const { lastId } = sql.run(
            "INSERT INTO memory_vectors (document, user, signs, vector) VALUES (?, ?, ?, ?)",
            document,
            user,
            signs,
            toBytes(vector),
          );
          const known = loaded.get(user);
          if (known) add(known, lastId, signs);
        }
      });
    },

    forget,

    /** True where this user has any, so that nobody loads the model for nothing. */
    has: (user: string): boolean =>
      sql.get("SELECT 1 FROM memory_vectors WHERE user = ? LIMIT 1", user) !== undefined,

    /** Documents by the likeness of their nearest passage. */
    search(user: string, query: Float32Array): Ranked[] {
      const near = nearest(signsOf(user), toWords(signsOfVector(query)));
      const best = new Map<number, number>();
      for (const id of near) {
        const row = sql.get<{ document: number; vector: Uint8Array }>(
          "SELECT document, vector FROM memory_vectors WHERE id = ? AND user = ?",
          id,
          user,
        );
        if (!row) continue;
        const likeness = similarity(query, row.vector);
        if (likeness >= LEAST_SIMILAR && likeness > (best.get(row.document) ?? 0))
          best.set(row.document, likeness);
      }
      return [...best].map(([id, score]) => ({ id, score })).sort((one, other) => other.score - one.score);
    },
  };
}

function add(signs: Signs, id: number, bytes: Uint8Array): void {
  if (signs.count === signs.ids.length) {
    const room = Math.max(64, signs.count * 2);
    const bits = new Uint32Array(room * WORDS);
    const ids = new Float64Array(room);
    bits.set(signs.bits);
    ids.set(signs.ids);
    signs.bits = bits;
    signs.ids = ids;
  }
  signs.bits.set(toWords(bytes), signs.count * WORDS);
  signs.ids[signs.count] = id;
  signs.count += 1;
}

/** The last one takes the place of the one that goes. */
function drop(signs: Signs, id: number): void {
  const at = signs.ids.subarray(0, signs.count).indexOf(id);
  if (at < 0) return;
  const last = signs.count - 1;
  signs.ids[at] = signs.ids[last] as number;
  signs.bits.copyWithin(at * WORDS, last * WORDS, signs.count * WORDS);
  signs.count = last;
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
