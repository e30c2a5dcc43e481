/**
 * `npm run bench [-- name …]`: every bench, or those named, or with `--fast` a few in three rounds; tables in the terminal,
 * test/bench/results.json, and with `--page` the tables of test/bench/README.md and the README's figures. With
 * `--against <commit>` a few, or those named, on that commit and this one in turn.
 */
import { fork } from "node:child_process";
import { globSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../../kernel/package.ts";
import { table } from "../../kernel/terminal/table.ts";
import { findCommit, inCommit, measureBoth, ROUNDS, toSides } from "./support/against.ts";
import { type Bench, type Figure, isFast, median, type Progress, spread } from "./support/bench.ts";
import type { Told } from "./support/one.ts";
import { type Result, type Run, targetsOf, toRows, writePage } from "./support/page.ts";

const HERE = import.meta.dirname;
const ONE = join(HERE, "support", "one.ts");
const LOOP_ROUNDS = 15;
/** What a person waits for: starts, frames, turns. */
const FAST = ["responses", "start", "tui"];

const { positionals: named, values: options } = parseArgs({
  allowPositionals: true,
  options: { fast: { type: "boolean" }, page: { type: "boolean" }, against: { type: "string" } },
});
const { page: forPage = false, against } = options;
const isFew = isFast || against !== undefined;
const wanted = isFew && named.length === 0 ? FAST : named;
const files = globSync("*.ts", { cwd: HERE })
  .filter((file) => file !== "run.ts")
  .sort();
const loaded = await Promise.all(files.map((file) => import(join(HERE, file)) as Promise<{ bench: Bench }>));
const all = loaded.map(({ bench }, at) => ({ ...bench, file: join(HERE, files[at] as string) }));
if (forPage && wanted.length > 0) {
  process.stderr.write("--page needs a run of every bench: the page shows figures of one run\n");
  process.exit(2);
}
const commit = against === undefined ? undefined : findCommit(against);
if (against !== undefined && commit === undefined) {
  process.stderr.write(`there is no commit ${against}; try HEAD~10, or a number that git log prints\n`);
  process.exit(2);
}
const unknown = wanted.filter((name) => !all.some((bench) => bench.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `no bench is named ${unknown.join(", ")}; there are ${all.map(({ name }) => name).join(", ")}\n`,
  );
  process.exit(2);
}
const benches = all.filter(({ name, isLong = false }) =>
  wanted.length === 0 ? !isLong : wanted.includes(name),
);

/** The same sums, over and over: how much their time differs is the machine's doing. */
function timeLoop(): number {
  const began = performance.now();
  let value = 0;
  for (let left = 5_000_000; left > 0; left--) value = (Math.imul(value, 1664525) + 1013904223) | 0;
  return value === 0 ? 0 : performance.now() - began;
}

const loops: number[] = [];
const began = performance.now();
const clock = (since: number) => {
  const seconds = Math.round((performance.now() - since) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
};
const progress = (text: string) => {
  const width = (process.stderr.columns ?? 80) - 1;
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text.slice(0, width)}`);
};

function measure(file: string, progress: Progress): Promise<readonly Figure[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Figure[]>();
  const child = fork(ONE, [file, ...process.argv.slice(2)]);
  let figures: readonly Figure[] | undefined;
  child.on("message", (told: Told) => {
    if ("figures" in told) figures = told.figures;
    else progress(told.progress);
  });
  child.on("error", reject);
  child.on("close", (code) => {
    if (figures === undefined) reject(new Error(`its process ended with ${code}`));
    else resolve(figures);
  });
  return promise;
}

if (commit !== undefined) {
  await compareWith(commit);
  process.exit();
}

/** Tables of what the benches measure on a commit and on this one. */
async function compareWith(commit: string): Promise<void> {
  progress(`checking out ${against}`);
  await inCommit(commit, async (folder) => {
    for (const { name, file } of benches) {
      const files = { before: join(folder, relative(ROOT, file)), after: file };
      let runs = 0;
      const sides = await measureBoth(files, (one) => {
        const place = `${name}, run ${++runs} of ${2 * ROUNDS}`;
        if (!process.stderr.isTTY) process.stderr.write(`${clock(began)} ${place}\n`);
        return measure(one, (text) => progress(`${clock(began)} ${place}: ${text}`));
      });
      progress("");
      if (sides === undefined) process.stdout.write(`\n${name}: there is no such bench in ${against}\n`);
      else {
        const [head = [], ...rows] = toSides(sides);
        process.stdout.write(`\n${name}, then: ${against}\n${table(head, rows, { indent: "  " })}`);
      }
    }
  });
}

const results: Record<string, Result> = {};
let failures = 0;
for (const [index, { name, about, file }] of benches.entries()) {
  const place = `${index + 1} of ${benches.length}`;
  if (!process.stderr.isTTY) process.stderr.write(`${clock(began)} ${name}, ${place}\n`);
  for (let round = 0; round < LOOP_ROUNDS; round++) loops.push(timeLoop());
  const started = performance.now();
  try {
    const figures = await measure(file, (text) => progress(`${clock(began)} ${name}, ${place}: ${text}`));
    failures += figures.filter(({ target }) => target?.must && !target.met).length;
    results[name] = { about, seconds: Math.round((performance.now() - started) / 1000), figures };
    progress("");
    const [head = [], ...rows] = toRows(figures);
    process.stdout.write(`\n${name}: ${about}\n${table(head, rows, { indent: "  " })}`);
  } catch (error) {
    failures++;
    progress("");
    process.stderr.write(`\n${name} failed: ${error instanceof Error ? error.stack : error}\n`);
  }
}

const run: Run = {
  at: new Date().toISOString(),
  machine: {
    Node: process.version,
    on: `${cpus().length} cores, ${process.arch}`,
    "load average": Number((loadavg()[0] ?? 0).toFixed(1)),
    "noise of a plain loop": `±${Math.round(spread(loops) * 100)} %, worst ${(Math.max(...loops) / median(loops)).toFixed(1)}×`,
    took: clock(began),
  },
  results,
};
const { met, missed } = targetsOf(run);
process.stdout.write(
  `\nTargets: ${met} met, ${missed.length} not met\n${missed.map((one) => `  ${one}\n`).join("")}`,
);
process.stdout.write(
  `${Object.entries(run.machine)
    .map(([key, value]) => `${key} ${value}`)
    .join(", ")}\n`,
);
writeFileSync(join(HERE, "results.json"), `${JSON.stringify(run, null, 2)}\n`);
if (forPage) writePage(run);
process.exitCode = failures > 0 ? 1 : 0;
