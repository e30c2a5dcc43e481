/** What clean instances cost: against a fresh one for each call, an unprotected one, and a process for each call. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { createPool, type Pool } from "../../host/pool.ts";
import type { Component } from "../../host/transpile.ts";
import { componentizeJsFixture, toComponent } from "../support/components.ts";
import { type Bench, type Figure, interleave, median, spread } from "./bench.ts";

const ROUNDS = 5;
const WORKERS = 2;
const AT_ONCE = 200;
const SPACED = 25;
const PAUSE_MILLIS = 20;
const ROUND_TRIPS = 50;
const PARAMS = JSON.stringify({ text: "x".repeat(100) });

const pause = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis));

function call(pool: Pool, component: Component, params = PARAMS) {
  return pool.call({
    component,
    params,
    timeoutMs: 60_000,
    secrets: [],
    http: async () => ({ ok: true, status: 200, body: new Uint8Array(10) }),
  });
}

async function answered(pool: Pool, component: Component, params = PARAMS): Promise<number> {
  const started = performance.now();
  const outcome = await call(pool, component, params);
  if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`);
  return performance.now() - started;
}

/** An instance is opened for every call. */
function fresh(component: Component): Component {
  const load = async () => ({ ...(await component.load()), restorable: false });
  return { ...component, key: `${component.key}-fresh`, load };
}

/** The glue links by itself, so that nothing is seen of the core instances and nothing put back. */
function unprotected(component: Component): Component {
  const load = async () => {
    const code = await component.load();
    const glue = `const link = (() => { ${code.glue} })(); return (modules, imports) => link(modules, imports);`;
    return { ...code, glue };
  };
  return { ...component, key: `${component.key}-unprotected`, load };
}

const ECHO = "process.stdin.on('data', (text) => process.stdout.write(JSON.stringify(JSON.parse(text))))";

async function answeredByProcess(): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, ["-e", ECHO], { stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.end(PARAMS);
  await once(child.stdout, "data");
  const millis = performance.now() - started;
  await once(child, "exit");
  return millis;
}

async function perSecond(work: () => Promise<unknown>, count: number, atOnce = count): Promise<number> {
  const started = performance.now();
  let left = count;
  const lane = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return count / ((performance.now() - started) / 1000);
}

async function spaced(work: () => Promise<number>): Promise<number> {
  const samples: number[] = [];
  for (let count = 0; count < SPACED; count++) {
    samples.push(await work());
    await pause(PAUSE_MILLIS);
  }
  return median(samples);
}

/** A process of its own: the compiler keeps what it compiled before. */
async function firstCall(): Promise<number> {
  const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    const { createPool } = await import(${url("../../host/pool.ts")});
    const { componentizeJsFixture, toComponent } = await import(${url("../support/components.ts")});
    const component = toComponent(await componentizeJsFixture("echo.js"));
    const pool = createPool({ size: ${WORKERS} });
    const http = async () => ({ ok: false, error: "" });
    const call = { component, params: "{}", timeoutMs: 60_000, secrets: [], http };
    const outcome = await pool.call(call);
    process.stdout.write(String(outcome.millis));
    await pool.close();`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
  return Number(stdout);
}

async function growth(pool: Pool, component: Component): Promise<number> {
  const rss = async (calls: number) => {
    await perSecond(() => answered(pool, component), calls, WORKERS);
    return process.memoryUsage.rss() / 1e6;
  };
  const before = await rss(500);
  return (await rss(9500)) - before;
}

export const bench: Bench = {
  name: "tool-call",
  about: `a componentize-js echo tool on ${WORKERS} workers; the baseline of each group comes first`,
  async run(progress) {
    const clean = toComponent(await componentizeJsFixture("echo.js"));
    const contestants = { clean, fresh: fresh(clean), unprotected: unprotected(clean) };
    const pool = createPool({ size: WORKERS });
    try {
      for (const component of Object.values(contestants))
        await perSecond(() => answered(pool, component), 200);
      const group = (measure: (component: Component) => Promise<number>) =>
        Object.fromEntries(
          Object.entries(contestants).map(([name, component]) => [name, () => measure(component)]),
        );
      const rates = await interleave(
        {
          ...group((component) => perSecond(() => answered(pool, component), AT_ONCE)),
          process: () => perSecond(answeredByProcess, 20, WORKERS),
        },
        ROUNDS,
        (text) => progress(`throughput, ${text}`),
      );
      const latencies = await interleave(
        {
          ...group((component) => spaced(() => answered(pool, component))),
          process: () => spaced(answeredByProcess),
        },
        ROUNDS,
        (text) => progress(`latency, ${text}`),
      );
      const trips = await interleave(
        {
          with: () => answered(pool, clean, JSON.stringify({ url: "https://a", times: ROUND_TRIPS })),
          without: () => answered(pool, clean, JSON.stringify({ times: 0 })),
        },
        ROUNDS * 5,
        (text) => progress(`round trips, ${text}`),
      );
      // A difference of two noisy figures: noise only ever adds, so the best of each is the least wrong.
      const best = (name: string) => Math.min(...(trips[name] ?? []));
      const trip = (best("with") - best("without")) / ROUND_TRIPS;
      const first: number[] = [];
      for (let round = 0; round < ROUNDS; round++) first.push(await firstCall());
      progress("10,000 calls");
      const grown = await growth(pool, clean);
      return [
        ...figures("throughput", "calls/s", rates, "fresh", {
          clean: { words: "clean at least 4× fresh", met: (ratio) => ratio >= 4 },
        }),
        ...figures("latency, 20 ms apart", "ms", latencies, "unprotected", {
          clean: { words: "clean at most 2× unprotected", met: (ratio) => ratio <= 2 },
        }),
        single("import round trip", trip, "ms", { words: "under 0.3 ms", met: trip < 0.3 }),
        {
          ...single("first call, warm cache", median(first), "ms", {
            words: "within 300 ms",
            met: median(first) < 300,
          }),
          spread: spread(first),
        },
        single("memory, call 500 to 10,000", grown, "MB", { words: "within 50 MB", met: grown < 50 }),
      ];
    } finally {
      await pool.close();
    }
  },
};

type Goal = { readonly words: string; readonly met: (ratio: number) => boolean };

function figures(
  what: string,
  unit: string,
  samples: Readonly<Record<string, readonly number[]>>,
  baseline: string,
  goals: Readonly<Record<string, Goal>>,
): Figure[] {
  const base = median(samples[baseline] ?? []);
  return Object.entries(samples).map(([name, values]) => {
    const ratio = median(values) / base;
    const goal = goals[name];
    const figure = { name: `${what}: ${name}`, median: median(values), spread: spread(values), unit, ratio };
    return goal === undefined ? figure : { ...figure, target: { words: goal.words, met: goal.met(ratio) } };
  });
}

function single(name: string, value: number, unit: string, target: NonNullable<Figure["target"]>): Figure {
  return { name, median: value, spread: 0, unit, ratio: 1, target };
}

if (import.meta.main) {
  for (const { name, median, unit, ratio, target } of await bench.run(() => {})) {
    const verdict = target === undefined ? "" : `${target.words}: ${target.met ? "met" : "NOT MET"}`;
    process.stdout.write(
      `${name.padEnd(40)} ${median.toFixed(2)} ${unit}  ${ratio.toFixed(2)}×  ${verdict}\n`,
    );
  }
}
