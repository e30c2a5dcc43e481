/** What every bench answers: figures beside a baseline of the same run, so that a slow machine does not matter. */
export interface Figure {
  readonly name: string;
  /** The middle of the repetitions, with the unit in `unit`. */
  readonly median: number;
  /** Half the distance between the quartiles, as a share of the median: the machine's noise. */
  readonly spread: number;
  readonly unit: string;
  /** Against the bench's baseline figure; 1 for the baseline itself. */
  readonly ratio: number;
  /** What was hoped for, in words, and whether it was met. */
  readonly target?: { readonly words: string; readonly met: boolean };
}

export interface Bench {
  readonly name: string;
  readonly about: string;
  run(progress: (text: string) => void): Promise<readonly Figure[]>;
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

export function spread(samples: readonly number[]): number {
  return (quantile(samples, 0.75) - quantile(samples, 0.25)) / 2 / median(samples);
}

function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Runs the contestants in turn, round after round, so that noise falls on all of them alike. */
export async function interleave(
  contestants: Readonly<Record<string, () => Promise<number>>>,
  rounds: number,
  progress: (text: string) => void,
): Promise<Readonly<Record<string, readonly number[]>>> {
  const samples: Record<string, number[]> = {};
  for (let round = 1; round <= rounds; round++) {
    for (const [name, measure] of Object.entries(contestants)) {
      progress(`round ${round} of ${rounds}: ${name}`);
      samples[name] ??= [];
      samples[name].push(await measure());
    }
  }
  return samples;
}
