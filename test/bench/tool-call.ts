/** What clean instances cost: against a fresh one for each call, an unprotected one, and a process for each call. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { openCallState } from "../../host/calls/state.ts";
import { createPool, type Pool, type PoolCall } from "../../host/sandbox/pool.ts";
import type { Component } from "../../host/sandbox/processes.ts";
import { componentizeJsFixture, fixture, toComponent } from "../support/tools/components.ts";
import {
  atLeast,
  atMost,
  type Bench,
  compare,
  type Figure,
  type Goal,
  interleave,
  median,
  type Progress,
  perSecond,
  single,
  within,
} from "./support/bench.ts";
import { measureCleaning } from "./support/cleaning.ts";
import { fresh, unprotected } from "./support/variants.ts";

const ROUNDS = 4;
const WORKERS = 2;
const AT_ONCE = 64;
const MEASURE_MS = 300;
const WAIT_MS = 100;
const LATER_BURSTS = 8;
const MANY = 500;
const SPARE_MS = 2500;
const SPACED = 15;
const PAUSE_MS = 20;
const ROUND_TRIPS = 50;
const PARAMS = JSON.stringify({ text: "x".repeat(100) });

const pause = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis));

const ANSWER = { ok: true, status: 200, headers: [], body: new Uint8Array(10) } as const;

async function answered(
  pool: Pool,
  component: Component,
  params = PARAMS,
  http: PoolCall["http"] = async () => ANSWER,
): Promise<number> {
  const started = performance.now();
  const outcome = await pool.call({ component, params, timeoutMs: 60_000, secrets: [], http });
  if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`);
  return performance.now() - started;
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

async function spaced(work: () => Promise<number>): Promise<number> {
  const samples: number[] = [];
  for (let count = 0; count < SPACED; count++) {
    samples.push(await work());
    await pause(PAUSE_MS);
  }
  return median(samples);
}

const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);

/** In a service of its own, whose spare process has had the time to start. */
async function firstCall(): Promise<number> {
  const script = `
    const { createPool } = await import(${url("../../host/sandbox/pool.ts")});
    const { componentizeJsFixture, toComponent } = await import(${url("../support/tools/components.ts")});
    const component = toComponent(await componentizeJsFixture("echo.js"));
    const pool = createPool({ size: ${WORKERS}, keepsSpare: true });
    await new Promise((resolve) => setTimeout(resolve, ${SPARE_MS}));
    const http = async () => ({ ok: false, error: "" });
    const call = { component, params: "{}", timeoutMs: 60_000, secrets: [], http };
    const outcome = await pool.call(call);
    process.stdout.write(String(outcome.millis));
    await pool.close();`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
  return Number(stdout);
}

interface Memory {
  readonly service: number;
  readonly tool: number;
}

/** What a service and the process of its one tool hold, in megabytes, after 500 calls and after 10,000. */
async function memory(): Promise<{ readonly before: Memory; readonly after: Memory }> {
  const script = `
    const { createPool } = await import(${url("../../host/sandbox/pool.ts")});
    const { componentizeJsFixture, toComponent } = await import(${url("../support/tools/components.ts")});
    const { childrenBytes } = await import(${url("../support/processes/children.ts")});
    const component = toComponent(await componentizeJsFixture("echo.js"));
    const pool = createPool({ size: ${WORKERS} });
    const http = async () => ({ ok: false, error: "" });
    const after = async (calls) => {
      const lane = async () => {
        while (calls-- > 0) await pool.call({ component, params: "{}", timeoutMs: 60_000, secrets: [], http });
      };
      await Promise.all(Array.from({ length: ${WORKERS} }, lane));
      const [tool] = childrenBytes().values();
      return { service: process.memoryUsage.rss() / 1e6, tool: tool / 1e6 };
    };
    const before = await after(500);
    process.stdout.write(JSON.stringify({ before, after: await after(9500) }));
    await pool.close();`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
  return JSON.parse(stdout);
}

/** Calls that wait for a server, beside one alone: `atOnce` of a tool that has only begun, and again after as many such bursts. */
async function bursts(
  component: Component,
  { what, atOnce, first, later }: { what: string; atOnce: number; first: number; later: number },
  progress: Progress,
): Promise<Figure[]> {
  const pool = createPool({ size: WORKERS, keepsSpare: true });
  let most = 0;
  let waiting = 0;
  const params = JSON.stringify({ url: "https://a" });
  const burst = async (count: number) => {
    progress(`${what}: ${count} calls that wait ${WAIT_MS} ms`);
    most = 0;
    const http = async () => {
      most = Math.max(most, ++waiting);
      await pause(WAIT_MS);
      waiting--;
      return ANSWER;
    };
    const started = performance.now();
    await Promise.all(Array.from({ length: count }, () => answered(pool, component, params, http)));
    return performance.now() - started;
  };
  try {
    await burst(1);
    const samples: Record<string, readonly number[]> = {};
    const goals: Record<string, Goal> = {};
    const measure = async (state: string, rounds: number, goal: number) => {
      const taken: number[] = [];
      for (let round = 0; round < rounds; round++) taken.push(await burst(atOnce));
      const name = `${atOnce} calls, ${state}, ${most} together`;
      samples[name] = taken.slice(-ROUNDS);
      goals[name] = atMost(goal);
    };
    const one: number[] = [];
    for (let round = 0; round < ROUNDS; round++) one.push(await burst(1));
    samples["one call"] = one;
    await measure("the tool's first", 1, first);
    await measure(`after ${LATER_BURSTS} such bursts`, LATER_BURSTS, later);
    return compare(samples, {
      unit: "ms",
      what: `${what}, waiting ${WAIT_MS} ms`,
      baseline: "one call",
      goals,
    });
  } finally {
    await pool.close();
  }
}

/** A question about the tool's state beside a request that is answered at once, by the same guest. */
async function measureState(pool: Pool, progress: Progress): Promise<Figure[]> {
  const component = toComponent(await fixture("state.js"));
  const entries = new Map([["key", new Uint8Array(10)]]);
  const call = async (steps: readonly (readonly unknown[])[]) => {
    const { answer: state } = openCallState(1, async () => entries);
    const started = performance.now();
    const params = JSON.stringify({ steps });
    const circumstances = {
      component,
      params,
      timeoutMs: 60_000,
      secrets: [],
      http: async () => ANSWER,
      state,
    };
    const outcome = await pool.call(circumstances);
    if (!outcome.ok) throw new Error(outcome.message);
    return performance.now() - started;
  };
  const times = (step: readonly string[]) => () => call(Array.from({ length: ROUND_TRIPS }, () => step));
  const samples = await interleave(
    {
      "http-request": times(["wait", "https://a"]),
      "state.get": times(["get", "key"]),
      neither: () => call([]),
    },
    ROUNDS * 5,
    (text) => progress(`state, ${text}`),
  );
  // As with the round trip: noise only ever adds.
  const best = (name: string) => Math.min(...(samples[name] ?? []));
  const each = (name: string) => [(best(name) - best("neither")) / ROUND_TRIPS];
  return compare(
    { "http-request": each("http-request"), "state.get": each("state.get") },
    { what: "QuickJS, an import", unit: "ms", baseline: "http-request", goals: { "state.get": atMost(1.5) } },
  );
}

export const bench: Bench = {
  name: "tool-call",
  about: `a componentize-js echo tool (12 MB) on ${WORKERS} workers: what a clean instance for each call costs`,
  async run(progress) {
    const bytes = await componentizeJsFixture("echo.js");
    const clean = toComponent(bytes);
    const contestants = { clean, fresh: fresh(clean), unprotected: unprotected(clean) };
    const pool = createPool({ size: WORKERS });
    try {
      for (const component of Object.values(contestants))
        await perSecond(() => answered(pool, component), { atOnce: AT_ONCE, millis: MEASURE_MS });
      const group = (measure: (component: Component) => Promise<number>) =>
        Object.fromEntries(
          Object.entries(contestants).map(([name, component]) => [name, () => measure(component)]),
        );
      const rates = await interleave(
        {
          ...group((component) =>
            perSecond(() => answered(pool, component), { atOnce: AT_ONCE, millis: MEASURE_MS }),
          ),
          process: () => perSecond(answeredByProcess, { atOnce: WORKERS, millis: MEASURE_MS }),
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
      const remembering = await measureState(pool, progress);
      const first: number[] = [];
      for (let round = 0; round < ROUNDS; round++) first.push(await firstCall());
      progress("10,000 calls");
      const { before, after } = await memory();
      const { process = [], clean: cleanRates = [] } = rates;
      return [
        ...compare(rates, {
          what: "throughput",
          unit: "calls/s",
          baseline: "fresh",
          goals: { clean: atLeast(4) },
        }),
        ...compare(
          { process, "clean beside it": cleanRates },
          {
            what: "throughput",
            unit: "calls/s",
            goals: { "clean beside it": atLeast(20) },
          },
        ),
        ...compare(latencies, {
          what: "latency, 20 ms apart",
          unit: "ms",
          baseline: "unprotected",
          goals: { clean: atMost(2) },
        }),
        ...(await measureCleaning(pool, progress)),
        ...(await bursts(clean, { what: "SpiderMonkey", atOnce: AT_ONCE, first: 3, later: 1.5 }, progress)),
        ...(await bursts(
          toComponent(await fixture("echo.js")),
          { what: "QuickJS", atOnce: MANY, first: 4, later: 2 },
          progress,
        )),
        single("import round trip", trip, "ms", within(0.25, "ms")),
        ...remembering,
        ...compare(
          { "first call, warm cache": first },
          { unit: "ms", goals: { "first call, warm cache": within(150, "ms") } },
        ),
        single("memory of the service after 10,000 calls", after.service, "MB"),
        single("memory of the tool's process after 10,000 calls", after.tool, "MB"),
        single(
          "memory of the service, call 500 to 10,000",
          after.service - before.service,
          "MB",
          within(20, "MB"),
        ),
        single("memory of the tool's process, call 500 to 10,000", after.tool - before.tool, "MB"),
      ];
    } finally {
      await pool.close();
    }
  },
};
