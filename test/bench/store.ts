/** The same work on each engine in one run: turns, submissions, searches; then what a fleet costs. */
import { flushMillis } from "../../plugins/store/maintenance/diagnosis.ts";
import { startPostgres } from "../support/processes/postgres/server.ts";
import {
  type Bench,
  compare,
  type Figure,
  type Goal,
  interleave,
  type Progress,
  perSecond,
  perSecondAtLeast,
} from "./support/bench.ts";
import { FULL, openEngines, POSTGRES } from "./support/engines.ts";
import { createDatabase, measureFrames, measureMemory, measureTrips } from "./support/nodes.ts";
import { inFolder } from "./support/programs.ts";
import { type Kind, openWork, TEXTS, type Work } from "./support/work.ts";

const ROUNDS = 3;
const MEASURE_MS = 300;
const FLUSH_ROUNDS = 5;

interface Measured {
  readonly what: string;
  readonly kind: Kind;
  readonly atOnce: number;
  readonly goals?: Readonly<Record<string, Goal>>;
}

const SEARCHES = perSecondAtLeast(150);
// Three milliseconds each, on the main thread.
const COMMON_WORD = perSecondAtLeast(334);

const MEASURED: readonly Measured[] = [
  { what: "turns, one after the other", kind: "turn", atOnce: 1 },
  { what: "turns, 32 at once", kind: "turn", atOnce: 32 },
  { what: "jobs submitted, one after the other", kind: "submit", atOnce: 1 },
  { what: "jobs submitted, 32 at once", kind: "submit", atOnce: 32 },
  {
    what: `memory searches in ${TEXTS.toLocaleString("en")} documents`,
    kind: "searchMemory",
    atOnce: 1,
    goals: { [FULL]: SEARCHES, [POSTGRES]: SEARCHES },
  },
  {
    what: `thread searches in ${TEXTS.toLocaleString("en")} messages`,
    kind: "searchThreads",
    atOnce: 1,
    goals: { [POSTGRES]: perSecondAtLeast(200) },
  },
  {
    what: "thread searches for a common word",
    kind: "searchCommon",
    atOnce: 1,
    goals: { [FULL]: COMMON_WORD },
  },
];

/** What the disk itself can do, beside which the figures of SQLite with its flushes have to be read. */
async function measureDisk(folder: string, progress: Progress): Promise<Figure[]> {
  const flush = "4 KiB written and flushed";
  const samples = await interleave(
    { [flush]: async () => 1000 / flushMillis(folder) },
    FLUSH_ROUNDS,
    progress,
  );
  return compare(samples, { unit: "a second", what: "the disk" });
}

async function measureEngines(folder: string, url: string, progress: Progress): Promise<Figure[]> {
  const stores = await openEngines(folder, url);
  const works = new Map<string, Work>();
  try {
    for (const [name, store] of stores)
      works.set(name, await openWork(store, folder, (text) => progress(`${name}: ${text}`)));
    const figures: Figure[] = [];
    for (const { what, kind, atOnce, goals } of MEASURED) {
      const contestants = [...works].map(
        ([name, work]) => [name, () => perSecond(work[kind], { atOnce, millis: MEASURE_MS })] as const,
      );
      // The first round compiles statements and fills caches.
      for (const [, measure] of contestants) await measure();
      const samples = await interleave(Object.fromEntries(contestants), ROUNDS, (text) =>
        progress(`${what}, ${text}`),
      );
      figures.push(...compare(samples, { unit: "a second", what, baseline: FULL, ...(goals && { goals }) }));
    }
    return figures;
  } finally {
    for (const work of works.values()) await work.stop();
    for (const store of stores.values()) await store.close();
  }
}

export const bench: Bench = {
  name: "store",
  about:
    "the same work on SQLite and on PostgreSQL, each figure beside SQLite that flushes; what a fleet costs",
  run: (progress) =>
    inFolder(async (folder) => {
      progress("starting PostgreSQL");
      const server = await startPostgres({ fsync: true });
      try {
        const database = (name: string) => createDatabase(server.url, name);
        return [
          ...(await measureDisk(folder, progress)),
          ...(await measureEngines(folder, await database("engines"), progress)),
          ...(await measureTrips(await database("trips"), folder, progress)),
          ...(await measureFrames(await database("frames"), folder, progress)),
          ...(await measureMemory(await database("memory"), folder, progress)),
        ];
      } finally {
        await server.close();
      }
    }),
};
