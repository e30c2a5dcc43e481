/** Growth: how a search in memory grows with the documents: by words, by meaning, and both as a turn does it. */
import { join } from "node:path";
import { createDocuments } from "../../plugins/memory/documents.ts";
import { createMemory } from "../../plugins/memory/memory.ts";
import { MIGRATIONS } from "../../plugins/memory/tables.ts";
import { createVectors, DIMENSIONS } from "../../plugins/memory/vectors.ts";
import { openStore } from "../../plugins/store/sqlite/store.ts";
import { atMost, type Bench, compare, type Figure, interleave } from "./support/bench.ts";
import { inFolder } from "./support/programs.ts";
import { createRandom, createWriter } from "./support/words.ts";

const SIZES = [100, 1_000, 10_000, 100_000];
const ROUNDS = 5;
const QUERIES = 40;
const WORDS_EACH = 40;
const USER = "ann";

function createVector(random: () => number): Float32Array {
  const vector = Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const WRITTEN_AT_ONCE = 1000;

async function openFilled(folder: string, size: number) {
  const random = createRandom(size);
  const write = createWriter(random);
  const store = openStore(join(folder, `${size}.sqlite`));
  const sql = await store.tables("memory", MIGRATIONS);
  const documents = createDocuments(sql);
  const vectors = createVectors(sql);
  for (let from = 0; from < size; from += WRITTEN_AT_ONCE)
    await sql.transaction(async (tx) => {
      for (let at = from; at < Math.min(size, from + WRITTEN_AT_ONCE); at++) {
        const { id } = await documents.write(tx, USER, `notes/${at}.md`, write(WORDS_EACH));
        await vectors.put(tx, USER, id, [createVector(random)]);
      }
    });
  const memory = await createMemory({ store, vectors: false, log: quiet });
  const timed = async (search: () => Promise<unknown>) => {
    const began = performance.now();
    for (let query = 0; query < QUERIES; query++) await search();
    return (performance.now() - began) / QUERIES;
  };
  const byMeaning = async () =>
    await vectors.search(USER, createVector(random), (await vectors.lastChange(USER)) ?? 0);
  const byWords = () => memory.search(USER, write(3));
  return {
    meaning: () => timed(byMeaning),
    whole: () => timed(byWords),
    both: () => timed(() => Promise.all([byMeaning(), byWords()])),
    close: () => store.close(),
  };
}

const KINDS = [
  ["both", "by words and vectors"],
  ["whole", "memory.search by words"],
  ["meaning", "ranking by vectors"],
] as const;

const nameOf = (size: number) => `${size.toLocaleString("en")} documents`;

export const bench: Bench = {
  name: "memory-search",
  about:
    "growth: one search in memory, without the query's own embedding; 100,000 documents within 5× of 1,000",
  run: (progress) =>
    inFolder(async (folder) => {
      const filled = [];
      for (const size of SIZES) {
        progress(`writing ${size} documents`);
        filled.push({ size, ...(await openFilled(folder, size)) });
      }
      try {
        const figures: Figure[] = [];
        for (const [kind, what] of KINDS) {
          const points = filled.map((memory) => [nameOf(memory.size), memory[kind]] as const);
          const samples = await interleave(Object.fromEntries(points), ROUNDS, progress);
          const goals = kind === "both" ? { [nameOf(100_000)]: atMost(5) } : {};
          figures.push(...compare(samples, { unit: "ms", what, baseline: nameOf(1_000), goals }));
        }
        return figures;
      } finally {
        for (const memory of filled) await memory.close();
      }
    }),
};
