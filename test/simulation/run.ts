/** Plays seed after seed, and shows what breaks a rule. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openEngine } from "./engines.ts";
import { parts, planOf } from "./plan.ts";
import { shrink, stepsOf } from "./shrink.ts";
import { type Outcome, type Plan, play } from "./world.ts";

export interface Options {
  readonly seed: number;
  readonly seeds: number | undefined;
  readonly minutes: number | undefined;
  readonly engine: string;
  /** The name of an old bug that was put back. */
  readonly planted: string | undefined;
  /** Plays the plans that were kept instead of seeds. */
  readonly kept: boolean;
  readonly shrinks: boolean;
}

const KEPT = join(import.meta.dirname, "kept");

/** Returns the exit code. */
export async function simulate(options: Options): Promise<number> {
  const engine = await openEngine(options.engine);
  const run = (plan: Plan, isTraced = false): Promise<Outcome> => play(plan, engine.open, parts, isTraced);
  try {
    // What is loaded on first use is there from now on, so that no seed depends on those before it.
    for (const isFleet of engine.fleets)
      await run({ ...planOf(0), isFleet, nodes: isFleet ? 2 : 1, rate: 0 });
    return await (options.kept ? playKept(run) : playSeeds(options, engine.fleets, run));
  } finally {
    await engine.close();
  }
}

type Run = (plan: Plan, isTraced?: boolean) => Promise<Outcome>;

async function playSeeds(
  { seed: first, seeds, minutes, planted, shrinks }: Options,
  fleets: readonly boolean[],
  run: Run,
): Promise<number> {
  const since = performance.now();
  const isOne = seeds === undefined && minutes === undefined;
  const isOver = (seed: number): boolean =>
    (seeds !== undefined && seed - first >= seeds) ||
    (minutes !== undefined && performance.now() - since > minutes * 60_000) ||
    (isOne && seed > first);
  const totals: Record<string, number> = {};
  const traces = createHash("sha256");
  let seed = first;
  for (; !isOver(seed); seed++) {
    const drawn = planOf(seed);
    const isFleet = fleets.includes(drawn.isFleet) ? drawn.isFleet : !drawn.isFleet;
    const plan = { ...drawn, isFleet, nodes: isFleet ? Math.max(2, drawn.nodes) : 1 };
    const outcome = await run(plan, isOne);
    traces.update(outcome.hash);
    for (const [name, count] of Object.entries({ ...outcome.counts, steps: outcome.steps }))
      totals[name] = (totals[name] ?? 0) + count;
    if (isOne) console.log(stepsOf(outcome.trace).join("\n"));
    if (isOne || outcome.violations.length > 0) console.log(`seed ${seed}: ${describe(outcome)}`);
    if (outcome.violations.length === 0) continue;
    if (shrinks) await explain(plan, outcome, run, planted);
    console.log(`${seed - first + 1} seeds were played until this one.`);
    return 1;
  }
  const list = Object.entries(totals).map(([name, count]) => `${count} ${name}`);
  const trace = traces.digest("hex").slice(0, 16);
  console.log(`${seed - first} seeds from ${first} on kept every rule: ${list.join(", ")}, trace ${trace}.`);
  return 0;
}

function describe({ hash, steps, seconds, violations }: Outcome): string {
  const broken = violations.map(({ rule, what }) => `\n  "${rule}" is broken: ${what}`).join("");
  return `${steps} steps in ${seconds.toFixed(0)} s of its own, trace ${hash}${broken}`;
}

async function explain(plan: Plan, outcome: Outcome, run: Run, planted: string | undefined): Promise<void> {
  const short = await shrink(plan, outcome, run);
  const shown = await run(short, true);
  const { nodes, deeds, fates, choices } = short;
  console.log(
    `The shortest way to it: ${nodes} nodes, ${deeds.length} deeds, ${fates?.length} troubles, ${choices ?? "all"} choices.`,
  );
  console.log(stepsOf(shown.trace).join("\n"));
  if (planted !== undefined) return console.log(`The plan: ${JSON.stringify(short)}`);
  const file = join(KEPT, `seed-${plan.seed}.json`);
  writeFileSync(file, `${JSON.stringify(short, undefined, 2)}\n`);
  console.log(`It is kept as a test in ${file}.`);
}

async function playKept(run: Run): Promise<number> {
  let broken = 0;
  const files = readdirSync(KEPT);
  for (const file of files) {
    const plan = JSON.parse(readFileSync(join(KEPT, file), "utf8")) as Plan;
    const [once, again] = [await run(plan), await run(plan)];
    if (once.hash !== again.hash) console.log(`${file}: two runs differ, ${once.hash} and ${again.hash}`);
    if (once.violations.length > 0) console.log(`${file}: ${describe(once)}`);
    if (once.hash !== again.hash || once.violations.length > 0) broken++;
  }
  console.log(`${files.length} kept plans, ${broken} broken.`);
  return broken === 0 ? 0 : 1;
}
