/** Growth: how a search in memory grows with the documents: by words, by meaning, and both as a turn does it. */
import { join } from "node:path";
import { createMemory } from "../../plugins/memory/memory.ts";
import { MIGRATIONS } from "../../plugins/memory/tables.ts";
import { createVectors } from "../../plugins/memory/vectors.ts";
import type { OpenStore } from "../../plugins/store/engine/open-store.ts";
import { openStore } from "../../plugins/store/sqlite/store.ts";
import { startPostgres } from "../support/processes/postgres/server.ts";
import { type Bench, compare, type Figure, type Goal, interleave, type Progress } from "./support/bench.ts";
import { openPostgres } from "./support/engines.ts";
import { createVector, fillMemory } from "./support/memory.ts";
import { createDatabase } from "./support/nodes.ts";
import { inFolder } from "./support/programs.ts";
import { createRandom, createWriter } from "./support/words.ts";

const SIZES = [1_000, 10_000, 100_000];
const ROUNDS = 5;
const QUERIES = 40;
const USER = "ann";

async function openFilled(store: OpenStore, size: number) {
  const random = createRandom(size);
  const write = createWriter(random);
  const sql = await store.tables("memory", MIGRATIONS);
  await fillMemory(sql, USER, size, random);
  const vectors = createVectors(sql);
  const memory = await createMemory({
    store,
    vectors: false,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });
  const timed = async (search: () => Promise<unknown>) => {
    const began = performance.now();
    for (let query = 0; query < QUERIES; query++) await search();
    return (performance.now() - began) / QUERIES;
  };
  const byMeaning = async () =>
    await vectors.search(USER, createVector(random), (await vectors.lastChange(USER)) ?? 0);
  const byWords = () => memory.search(USER, write(3));
  return {
    size,
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

const GOAL: Goal = {
  words: "≤ 4×, ≥ 150 a second",
  met: (ratio, millis) => ratio <= 4 && 1000 / millis >= 150,
};

type Filled = Awaited<ReturnType<typeof openFilled>>;

async function fill(
  engine: string,
  open: (size: number) => Promise<OpenStore>,
  progress: Progress,
): Promise<Filled[]> {
  const filled: Filled[] = [];
  for (const size of SIZES) {
    progress(`${engine}: writing ${size} documents`);
    filled.push(await openFilled(await open(size), size));
  }
  return filled;
}

async function measure(engine: string, filled: readonly Filled[], progress: Progress): Promise<Figure[]> {
  try {
    const figures: Figure[] = [];
    for (const [kind, what] of KINDS) {
      const points = filled.map((memory) => [nameOf(memory.size), memory[kind]] as const);
      const samples = await interleave(Object.fromEntries(points), ROUNDS, progress);
      const goals = kind === "both" ? { [nameOf(100_000)]: GOAL } : {};
      figures.push(
        ...compare(samples, { unit: "ms", what: `${engine}, ${what}`, baseline: nameOf(1_000), goals }),
      );
    }
    return figures;
  } finally {
    for (const memory of filled) await memory.close();
  }
}

export const bench: Bench = {
  name: "memory-search",
  about:
    "growth: one search in memory, without the query's own embedding; 100,000 documents within 4× of 1,000, on both engines",
  run: (progress) =>
    inFolder(async (folder) => {
      progress("starting PostgreSQL");
      const server = await startPostgres();
      try {
        const [sqlite, postgres] = await Promise.all([
          fill("SQLite", async (size) => openStore(join(folder, `${size}.sqlite`)), progress),
          fill(
            "PostgreSQL",
            async (size) => openPostgres(await createDatabase(server.url, `memory${size}`)),
            progress,
          ),
        ]);
        return [
          ...(await measure("SQLite", sqlite, progress)),
          ...(await measure("PostgreSQL", postgres, progress)),
        ];
      } finally {
        await server.close();
      }
    }),
};
