/** Tool calls beside what people would use instead: the same guest everywhere, as WebAssembly and as JavaScript. */
import { fixture } from "../support/tools/components.ts";
import {
  type Contestant,
  openExtism,
  openIsolatedVm,
  openPools,
  openProcesses,
  openQuickJs,
  openWhole,
} from "./rivals/contestants.ts";
import {
  atLeast,
  type Bench,
  compare,
  type Figure,
  interleave,
  type Progress,
  perSecond,
  type Samples,
} from "./support/bench.ts";
import { endProgram, inFolder, startProgram } from "./support/programs.ts";
import { openRivals, type Rivals } from "./support/rivals.ts";

const ROUNDS = 3;
const MEASURE_MS = 150;
/** Until the engine has optimized what the contestants run. */
const WARM_UP = { atOnce: 8, millis: 500 };
const AT_ONCE = [1, 8, 64];
/** Few that wait say nothing, and two cores compute no faster for 64. */
const NUMBERS: Readonly<Record<string, readonly number[]>> = { "HTTP 100 ms": [64], computing: [8] };
// Some milliseconds in QuickJS; the WebAssembly guest has a number of its own.
const JS_ROUNDS = 40_000;

/** What is hoped of ours beside one of the others. */
const HOPES = [
  { what: "wasm, echo", atOnce: AT_ONCE, ours: "whole", other: "clean", least: 0.6 },
  { what: "wasm, HTTP 0 ms", atOnce: [1, 8], ours: "whole", other: "extism kept", least: 0.9 },
  { what: "js, HTTP 0 ms", atOnce: AT_ONCE, ours: "clean", other: "quickjs", least: 1 },
  { what: "js, HTTP 0 ms", atOnce: AT_ONCE, ours: "clean", other: "isolated-vm", least: 1 },
];

type Contestants = Readonly<Record<string, Contestant>>;

function kindsOf(upstream: string): Readonly<Record<string, string>> {
  return {
    echo: JSON.stringify({ text: "x".repeat(100) }),
    "HTTP 0 ms": JSON.stringify({ url: `${upstream}/0` }),
    "HTTP 100 ms": JSON.stringify({ url: `${upstream}/100` }),
    computing: JSON.stringify({ cpu: JS_ROUNDS }),
  };
}

async function measure(
  what: string,
  contestants: Contestants,
  upstream: string,
  progress: Progress,
): Promise<Figure[]> {
  const grid: Figure[] = [];
  const hopes: Figure[] = [];
  for (const [kind, params] of Object.entries(kindsOf(upstream))) {
    for (const [column, { call, most = WARM_UP.atOnce }] of Object.entries(contestants)) {
      progress(`${what}, ${kind}, warming up ${column}`);
      await perSecond(() => call(params), { ...WARM_UP, atOnce: Math.min(most, WARM_UP.atOnce) });
    }
    for (const atOnce of NUMBERS[kind] ?? AT_ONCE) {
      const name = `${what}, ${kind}, ${atOnce} at once`;
      const rates = Object.entries(contestants)
        .filter(([, { most = atOnce }]) => most >= atOnce)
        .map(
          ([column, { call }]) =>
            [column, () => perSecond(() => call(params), { atOnce, millis: MEASURE_MS })] as const,
        );
      const samples = await interleave(Object.fromEntries(rates), ROUNDS, (text) =>
        progress(`${name}, ${text}`),
      );
      grid.push(
        ...compare(samples, { unit: "calls/s" }).map((figure) => ({ ...figure, name, column: figure.name })),
      );
      hopes.push(...judge(`${what}, ${kind}`, atOnce, samples));
    }
  }
  return [...grid, ...hopes];
}

function judge(what: string, atOnce: number, samples: Samples): Figure[] {
  return HOPES.filter((hope) => hope.what === what && hope.atOnce.includes(atOnce)).flatMap(
    ({ ours, other, least }) => {
      const { [ours]: own, [other]: others } = samples;
      if (own === undefined || others === undefined) return [];
      const name = `${atOnce} at once, ${ours} beside ${other}`;
      const figures = compare(
        { [other]: others, [name]: own },
        { unit: "calls/s", what, goals: { [name]: atLeast(least) } },
      );
      return figures.slice(1);
    },
  );
}

/** A contestant that gives a wrong answer is not one. */
async function check(contestants: Contestants, upstream: string): Promise<void> {
  const { echo = "", "HTTP 0 ms": http = "" } = kindsOf(upstream);
  for (const [name, { call }] of Object.entries(contestants)) {
    if (JSON.parse(await call(echo)).text !== JSON.parse(echo).text) throw new Error(`${name} does not echo`);
    if (JSON.parse(await call(http)).found !== true) throw new Error(`${name} did not reach the server`);
  }
}

async function openWasm(home: string, upstream: string, rivals: Rivals | undefined): Promise<Contestants> {
  const guest = await fixture("measured.wat");
  const whole = await openWhole(home, guest, upstream);
  if (rivals === undefined) return { ...openPools(guest), whole };
  const [kept, fresh] = [await openExtism(rivals, true), await openExtism(rivals, false)];
  return { ...openPools(guest), whole, "extism kept": kept, "extism fresh": fresh };
}

async function openJs(rivals: Rivals | undefined): Promise<Contestants> {
  const guest = await fixture("measured.js");
  const process = openProcesses();
  if (rivals === undefined) return { ...openPools(guest), process };
  const [quickjs, isolated] = [await openQuickJs(rivals), await openIsolatedVm(rivals)];
  return { ...openPools(guest), quickjs, "isolated-vm": isolated, process };
}

export const bench: Bench = {
  name: "tool-rivals",
  about: "calls a second of the same guest; the first column in figures, the others as a share of it",
  run: (progress) =>
    inFolder(async (home) => {
      const rivals = await openRivals(progress);
      const upstream = await startProgram(new URL("./rivals/upstream.ts", import.meta.url));
      const figures: Figure[] = [];
      try {
        for (const what of ["wasm", "js"]) {
          progress("building the guests");
          const contestants = await (what === "wasm" ? openWasm(home, upstream.url, rivals) : openJs(rivals));
          await check(contestants, upstream.url);
          figures.push(...(await measure(what, contestants, upstream.url, progress)));
          await Promise.all(Object.values(contestants).map(({ close }) => close()));
        }
        return figures;
      } finally {
        await endProgram(upstream);
      }
    }),
};
