/** Statistics for the code that the model writes. Values that are no numbers are left out, as in a spreadsheet. */
import { group, rollup } from "d3-array";
import {
  linearRegression,
  max,
  mean,
  median,
  min,
  mode,
  quantile,
  sampleCorrelation,
  sampleStandardDeviation,
  sampleVariance,
  sum,
} from "simple-statistics";

type Key<Row> = string | ((row: Row) => unknown);

const numbers = (values: Iterable<unknown>): number[] =>
  [...values].filter((value): value is number => typeof value === "number" && Number.isFinite(value));

const over = (measure: (values: number[]) => number) => (values: Iterable<unknown>) => {
  const found = numbers(values);
  return found.length === 0 ? null : measure(found);
};

/** Takes the places of two columns where both have a number. */
function paired(one: readonly unknown[], other: readonly unknown[]): [number, number][] {
  return one.flatMap((a, at) => {
    const b = other[at];
    return numbers([a, b]).length === 2 ? [[a as number, b as number] as [number, number]] : [];
  });
}

const keyOf = <Row>(key: Key<Row>) =>
  typeof key === "function" ? key : (row: Row) => (row as Record<string, unknown>)[key];

export const stats = {
  sum: (values: Iterable<unknown>) => sum(numbers(values)),
  mean: over(mean),
  average: over(mean),
  median: over(median),
  mode: over(mode),
  min: over(min),
  max: over(max),
  variance: over((values) => (values.length < 2 ? 0 : sampleVariance(values))),
  standardDeviation: over((values) => (values.length < 2 ? 0 : sampleStandardDeviation(values))),
  quantile: (values: Iterable<unknown>, p: number) => over((found) => quantile(found, p))(values),
  correlation(one: readonly unknown[], other: readonly unknown[]) {
    const pairs = paired(one, other);
    if (pairs.length < 2) return null;
    return sampleCorrelation(
      pairs.map(([a]) => a),
      pairs.map(([, b]) => b),
    );
  },
  /** The line through pairs of x and y: `m` is its slope, `b` where it crosses the axis. */
  regression: (pairs: readonly (readonly [unknown, unknown])[]) =>
    linearRegression(
      paired(
        pairs.map(([x]) => x),
        pairs.map(([, y]) => y),
      ),
    ),
  counts: (values: Iterable<unknown>) =>
    new Map(
      [
        ...rollup(
          values,
          (same) => same.length,
          (value) => value,
        ),
      ].sort(([, a], [, b]) => b - a),
    ),
  group: <Row>(rows: Iterable<Row>, key: Key<Row>) => group(rows, keyOf(key)),
  rollup: <Row>(rows: Iterable<Row>, reduce: (rows: Row[]) => unknown, key: Key<Row>) =>
    rollup(rows, reduce, keyOf(key)),
};
