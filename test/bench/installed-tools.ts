/** What one more installed tool costs all the others: a call, a listing, and a start. */
import { openFolderCatalog } from "../../host/catalog/storage/folders.ts";
import { fixture } from "../support/tools/components.ts";
import { atMost, type Bench, compare, type Figure, interleave, type Progress } from "./support/bench.ts";
import { inFolder, serve, stopServing } from "./support/programs.ts";
import { installAs, openHost } from "./support/tool-host.ts";

const SIZES = [1, 10, 100, 300];
const ROUNDS = 5;
const STARTS = 3;
const EACH = 40;
const PARAMS = JSON.stringify({ text: "x".repeat(100) });

interface Filled {
  readonly size: number;
  readonly home: string;
  call(): Promise<number>;
  list(): Promise<number>;
  readAll(): Promise<number>;
  start(): Promise<number>;
  close(): Promise<void>;
}

async function mean(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  for (let count = 0; count < EACH; count++) await work();
  return (performance.now() - began) / EACH;
}

async function fill(home: string, size: number): Promise<Filled> {
  const host = await openHost(home);
  const names = Array.from({ length: size }, (_, index) => `tool-${index}`);
  await installAs(host, names, await fixture("measured.wat"));
  const last = names.at(-1) ?? "";
  const call = async () => {
    const { outcome } = await host.run({ id: "call", name: last, params: PARAMS }, { user: "bench" });
    if (outcome.status !== "ok") throw new Error(outcome.message);
  };
  await mean(call);
  return {
    size,
    home,
    call: () => mean(call),
    list: () => mean(() => host.catalog.list()),
    async readAll() {
      const began = performance.now();
      await openFolderCatalog(home).list();
      return performance.now() - began;
    },
    async start() {
      const began = performance.now();
      const service = await serve(home, { TOOLS_SHIPPED: "false", MODEL_PROVIDER: "builtin" });
      const took = performance.now() - began;
      await stopServing(service);
      return took;
    },
    close: host.close,
  };
}

type Measure = "call" | "list" | "readAll" | "start";

const CURVES: readonly (readonly [Measure, string, number, number])[] = [
  ["call", "a call", 1.5, ROUNDS],
  ["list", "listing them", 10, ROUNDS],
  // Each is read once after a start: no worse than their number.
  ["readAll", "reading all of them, once", 300, ROUNDS],
  ["start", "a start", 1.5, STARTS],
];

async function trace(filled: readonly Filled[], progress: Progress): Promise<Figure[]> {
  const figures: Figure[] = [];
  const nameOf = (size: number) => `${size} installed`;
  for (const [measure, what, factor, rounds] of CURVES) {
    const points = filled.map((one) => [nameOf(one.size), () => one[measure]()] as const);
    const samples = await interleave(Object.fromEntries(points), rounds, (text) =>
      progress(`${what}, ${text}`),
    );
    const goals = { [nameOf(SIZES.at(-1) ?? 0)]: atMost(factor) };
    figures.push(...compare(samples, { unit: "ms", what, goals }));
  }
  return figures;
}

export const bench: Bench = {
  name: "installed-tools",
  about: "growth: what the nth installed tool costs; the end of each curve within its factor of the first",
  run: (progress) =>
    inFolder(async (folder) => {
      const filled: Filled[] = [];
      try {
        for (const size of SIZES) {
          progress(`installing ${size}`);
          filled.push(await fill(`${folder}/${size}`, size));
        }
        return await trace(filled, progress);
      } finally {
        for (const { close } of filled) await close();
      }
    }),
};
