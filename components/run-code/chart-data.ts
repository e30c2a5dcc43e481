/** Rows of any usual shape as the points of a chart. */

export interface Options {
  readonly title?: string;
  /** The column along the axis; the first one where it is not given. */
  readonly x?: string;
  /** The columns to draw; those that have numbers where none is given. */
  readonly y?: string | readonly string[];
  /** For a pie: the column of names and that of sizes. */
  readonly label?: string;
  readonly value?: string;
  readonly xLabel?: string;
  readonly yLabel?: string;
  readonly width?: number;
  readonly height?: number;
}

export type AxisValue = string | number | Date;

export interface Series {
  readonly name: string;
  readonly points: readonly { readonly x: AxisValue; readonly y: number }[];
}

export interface Data {
  readonly x: string;
  readonly series: readonly Series[];
}

/** More points than a picture of this size can show. */
const MAX_POINTS = 2000;
const MAX_ROWS = 200_000;
const MAX_SERIES = 12;
export const MAX_BARS = 200;

type Row = Record<string, unknown>;

/** `rows`: objects, pairs, numbers, or a Map. */
export function readData(rows: Iterable<unknown>, { x, y, label, value }: Options): Data {
  const all = [...rows].slice(0, MAX_ROWS + 1);
  if (all.length === 0) throw new RangeError("a chart needs at least one row");
  if (all.length > MAX_ROWS) throw new RangeError(`a chart takes at most ${MAX_ROWS} rows: group them first`);
  const read = all.map(asRow);
  const columns = [...new Set(read.slice(0, 100).flatMap((row) => Object.keys(row)))];
  const along = x ?? label ?? columns[0] ?? "x";
  const named = y ?? value ?? columns.filter((name) => name !== along && isNumeric(read, name));
  const drawn = typeof named === "string" ? [named] : named;
  if (drawn.length === 0)
    throw new TypeError(`no column has numbers to draw; there are: ${columns.join(", ")}`);
  if (drawn.length > MAX_SERIES) throw new RangeError(`a chart takes at most ${MAX_SERIES} columns at once`);
  for (const name of [along, ...drawn])
    if (!columns.includes(name))
      throw new TypeError(`there is no column "${name}"; there are: ${columns.join(", ")}`);
  const hasDates = read.every((row) => isDate(row[along]));
  const series = drawn.map((name) => ({
    name,
    points: thin(
      read.flatMap((row) => {
        const size = toNumber(row[name]);
        return size === undefined ? [] : [{ x: placeOf(row[along], hasDates), y: size }];
      }),
    ),
  }));
  if (series.every(({ points }) => points.length === 0))
    throw new TypeError(`the column ${drawn.join(", ")} has no numbers`);
  return { x: along, series };
}

function asRow(row: unknown, at: number): Row {
  if (Array.isArray(row)) return { x: row[0], y: row[1] };
  if (typeof row === "object" && row !== null && !(row instanceof Date)) return row as Row;
  return { x: at + 1, y: row };
}

const isNumeric = (rows: readonly Row[], name: string): boolean =>
  rows.slice(0, 100).some((row) => typeof row[name] === "number");

function toNumber(value: unknown): number | undefined {
  const number = typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

const DATE = /^\d{4}-\d{2}(?:-\d{2}(?:T[\d:.]+Z?)?)?$/;

function isDate(value: unknown): boolean {
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  return typeof value === "string" && DATE.test(value) && !Number.isNaN(Date.parse(value));
}

function placeOf(value: unknown, isDated: boolean): AxisValue {
  if (isDated) return value instanceof Date ? value : new Date(String(value));
  return typeof value === "number" ? value : String(value ?? "");
}

/** Evenly, the last one included. */
function thin<Point>(points: readonly Point[]): readonly Point[] {
  if (points.length <= MAX_POINTS) return points;
  const step = (points.length - 1) / (MAX_POINTS - 1);
  return Array.from({ length: MAX_POINTS }, (_, at) => points[Math.round(at * step)] as Point);
}
