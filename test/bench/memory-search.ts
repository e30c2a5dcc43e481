/** How a search in memory grows with the documents: by words, by meaning, and both as a turn does it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../kernel/store.ts";
import { createDocuments } from "../../plugins/agent/memory/documents.ts";
import { createMemory } from "../../plugins/agent/memory/memory.ts";
import { MIGRATIONS } from "../../plugins/agent/memory/tables.ts";
import { createVectors, DIMENSIONS } from "../../plugins/agent/memory/vectors.ts";
import { type Bench, type Figure, interleave, median, spread } from "./bench.ts";

const SIZES = [1_000, 10_000, 100_000] as const;
const ROUNDS = 5;
const QUERIES = 40;
const WORDS_EACH = 40;
const VOCABULARY = 20_000;
const USER = "ann";

/** The same numbers in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Words as languages have them: few are common, most are rare. */
function createWriter(random: () => number): (count: number) => string {
  const shares: number[] = [];
  let total = 0;
  for (let rank = 1; rank <= VOCABULARY; rank++) {
    total += 1 / rank;
    shares.push(total);
  }
  const word = () => {
    const wanted = random() * total;
    let low = 0;
    let high = VOCABULARY - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((shares[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return `word${low}x`;
  };
  return (count) => Array.from({ length: count }, word).join(" ");
}

function createVector(random: () => number): Float32Array {
  const vector = Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function openFilled(folder: string, size: number) {
  const random = createRandom(size);
  const write = createWriter(random);
  const store = openStore(join(folder, `${size}.sqlite`));
  const sql = store.tables("memory", MIGRATIONS);
  const documents = createDocuments(sql);
  const vectors = createVectors(sql);
  sql.transaction(() => {
    for (let at = 0; at < size; at++) {
      vectors.put(USER, documents.write(USER, `notes/${at}.md`, write(WORDS_EACH)).id, [
        createVector(random),
      ]);
    }
  });
  const memory = createMemory({ store, vectors: false, log: quiet });
  const timed = async (search: () => unknown) => {
    const began = performance.now();
    for (let query = 0; query < QUERIES; query++) await search();
    return (performance.now() - began) / QUERIES;
  };
  return {
    meaning: () => timed(() => vectors.search(USER, createVector(random))),
    whole: () => timed(() => memory.search(USER, write(3))),
    both: () =>
      timed(async () => {
        vectors.search(USER, createVector(random));
        await memory.search(USER, write(3));
      }),
    close: () => store.close(),
  };
}

export const bench: Bench = {
  name: "memory-search",
  about:
    "one search in memory, without the query's own embedding; target: 100,000 documents within 5× of 1,000",
  async run(progress) {
    const folder = mkdtempSync(join(tmpdir(), "postern-bench-"));
    const filled = SIZES.map((size) => {
      progress(`writing ${size} documents`);
      return { size, ...openFilled(folder, size) };
    });
    try {
      const figures: Figure[] = [];
      for (const kind of ["both", "whole", "meaning"] as const) {
        const contestants = Object.fromEntries(filled.map((memory) => [String(memory.size), memory[kind]]));
        const samples = await interleave(contestants, ROUNDS, progress);
        const baseline = median(samples[String(SIZES[0])] ?? []);
        for (const { size } of filled) {
          const taken = samples[String(size)] ?? [];
          const ratio = median(taken) / baseline;
          figures.push({
            name: `${NAMES[kind]}, ${size.toLocaleString("en")} documents`,
            median: median(taken),
            spread: spread(taken),
            unit: "ms",
            ratio,
            ...(kind === "both" && size === 100_000 && { target: { words: "within 5×", met: ratio <= 5 } }),
          });
        }
      }
      return figures;
    } finally {
      for (const memory of filled) memory.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

const NAMES = {
  both: "by words and vectors",
  whole: "memory.search by words",
  meaning: "ranking by vectors",
};
