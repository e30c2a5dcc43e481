/** What every bench answers: figures beside a baseline of the same run, so that a slow machine does not matter. */
export interface Figure {
  readonly name: string;
  /** Figures of one name that have columns are one row of a grid; the first of a row is its baseline. */
  readonly column?: string;
  /** The middle of the repetitions, with the unit in `unit`. */
  readonly median: number;
  /** Half the distance between the quartiles, as a share of the median: the machine's noise. */
  readonly spread: number;
  readonly unit: string;
  /** Against the bench's baseline figure; 1 for the baseline itself. */
  readonly ratio: number;
  /** What was hoped for, in words, and whether it was met. */
  readonly target?: { readonly words: string; readonly met: boolean; readonly must?: boolean };
}

export type Progress = (text: string) => void;

export interface Bench {
  readonly name: string;
  readonly about: string;
  /** Runs only where it is named. */
  readonly isLong?: boolean;
  run(progress: Progress): Promise<readonly Figure[]>;
}

export type Samples = Readonly<Record<string, readonly number[]>>;

/** What is hoped of one figure. */
export interface Goal {
  readonly words: string;
  /** Where it is not met the run fails. */
  readonly must?: boolean;
  met(ratio: number, median: number): boolean;
}

export const atMost = (factor: number, of = ""): Goal => ({
  words: `≤ ${factor}×${of && ` ${of}`}`,
  met: (ratio) => ratio <= factor,
});

export const atLeast = (factor: number, of = ""): Goal => ({
  words: `≥ ${factor}×${of && ` ${of}`}`,
  met: (ratio) => ratio >= factor,
});

export const within = (limit: number, unit: string): Goal => ({
  words: `≤ ${limit.toLocaleString("en")} ${unit}`,
  met: (_ratio, middle) => middle <= limit,
});

export const perSecondAtLeast = (rate: number): Goal => ({
  words: `≥ ${rate.toLocaleString("en")} a second`,
  met: (_ratio, middle) => middle >= rate,
});

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

export function spread(samples: readonly number[]): number {
  const middle = median(samples);
  return middle === 0 ? 0 : (quantile(samples, 0.75) - quantile(samples, 0.25)) / 2 / middle;
}

export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** `npm run bench -- --fast`: enough to see that something is twice as slow, not enough for the page. */
export const isFast = process.argv.includes("--fast");
const MAX_ROUNDS = isFast ? 3 : Number.POSITIVE_INFINITY;

/** Runs the contestants in turn, each round beginning with another, so that noise falls on all of them alike. */
export async function interleave(
  contestants: Readonly<Record<string, () => Promise<number>>>,
  rounds: number,
  progress: Progress,
): Promise<Samples> {
  const entries = Object.entries(contestants);
  const samples: Record<string, number[]> = Object.fromEntries(entries.map(([name]) => [name, []]));
  for (let round = 0; round < Math.min(rounds, MAX_ROUNDS); round++) {
    const first = round % entries.length;
    for (const [name, measure] of [...entries.slice(first), ...entries.slice(0, first)]) {
      progress(`round ${round + 1} of ${rounds}: ${name}`);
      samples[name]?.push(await measure());
    }
  }
  return samples;
}

export interface Comparison {
  readonly unit: string;
  /** The name of the samples that the others stand beside; the first where it is not said. */
  readonly baseline?: string;
  readonly goals?: Readonly<Record<string, Goal>>;
  /** Said before each name. */
  readonly what?: string;
}

/** One figure for each name: also how a curve is told, each point beside the baseline, with a goal at its end. */
export function compare(samples: Samples, { unit, baseline, goals = {}, what }: Comparison): Figure[] {
  const base = median(samples[baseline ?? Object.keys(samples)[0] ?? ""] ?? []);
  return Object.entries(samples).map(([name, values]) => {
    const figure = single(what === undefined ? name : `${what}: ${name}`, median(values), unit);
    const ratio = figure.median / base;
    return { ...figure, spread: spread(values), ratio, ...judge(goals[name], ratio, figure.median) };
  });
}

/** A figure of one measurement, or one that nothing stands beside. */
export function single(name: string, value: number, unit: string, goal?: Goal): Figure {
  return { name, median: value, spread: 0, unit, ratio: 1, ...judge(goal, 1, value) };
}

function judge(goal: Goal | undefined, ratio: number, middle: number): Pick<Figure, "target"> {
  return goal === undefined
    ? {}
    : { target: { words: goal.words, met: goal.met(ratio, middle), ...(goal.must && { must: true }) } };
}

/** Work done a second by so many lanes, each beginning anew when it is through, for at least so long. */
export async function perSecond(
  work: () => Promise<unknown>,
  { atOnce, millis }: { readonly atOnce: number; readonly millis: number },
): Promise<number> {
  const began = performance.now();
  let done = 0;
  const lane = async () => {
    do {
      await work();
      done++;
    } while (performance.now() - began < millis);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return (done / (performance.now() - began)) * 1000;
}
