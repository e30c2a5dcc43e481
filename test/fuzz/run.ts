/** `npm run fuzz -- <target> [--runs N] [--seed S] [--workers W]`: keeps the smallest input that fails in test/corpus. */
import { fork } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { inspect, parseArgs } from "node:util";
import { keep, type Target } from "./target.ts";
import { TARGETS } from "./targets.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: "string", default: "10000" },
    seed: { type: "string" },
    workers: { type: "string", default: "1" },
  },
});
const chosen = TARGETS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (chosen.length === 0) throw new Error(`Targets: ${TARGETS.map(({ name }) => name).join(", ")}.`);
// Most inputs are refused by an error that nobody reads.
Error.stackTraceLimit = 0;
const [runs, seed, workers] = [values.runs, values.seed ?? randomInt(2 ** 31), values.workers].map(
  Number,
) as [number, number, number];

async function fuzz(target: Target): Promise<void> {
  const began = performance.now();
  const found = await target.fuzz(runs, seed);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  if (found === undefined)
    return console.log(`${target.name}: ${runs} inputs, seed ${seed}, ${seconds} s: nothing found`);
  process.exitCode = 1;
  console.log(`${target.name}: seed ${seed}: kept as ${keep(target.name, found.input)}`);
  console.log(inspect(found.error, { depth: 10 }));
}

async function fuzzInWorker(at: number): Promise<void> {
  const part = Math.ceil(runs / workers);
  const args = [...positionals, "--runs", String(part), "--seed", String(seed + at)];
  const [code] = await once(fork(import.meta.filename, args), "exit");
  if (code !== 0) process.exitCode = 1;
}

if (workers > 1) await Promise.all(Array.from({ length: workers }, (_, at) => fuzzInWorker(at)));
else for (const target of chosen) await fuzz(target);
