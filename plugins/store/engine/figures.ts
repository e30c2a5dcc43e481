/** Sums and latencies over time, of any table whose rows have a time: the same SQL for both engines. */
import type { Figures } from "../../../kernel/kit/turns.ts";
import type { Sql } from "../../../kernel/plugin.ts";
import type { FigureSource, FiguresQuery, FiguresSpan } from "../services.ts";

const MAX_GROUPS = 50;
/** So many groups get points over time. */
const MAX_SERIES = 5;
/** About so many, evenly over the time, decide about latency: more would keep others waiting. */
const MAX_SAMPLES = 10_000;

const NOTHING = { count: 0, failed: 0, inputTokens: 0, outputTokens: 0, usd: 0 };
/** Left out if nothing was counted. */
const OPTIONAL = ["estimatedUsd", "cachedTokens", "savedUsd"] as const;
type Sums = Readonly<typeof NOTHING> & { readonly [part in (typeof OPTIONAL)[number]]?: number };
const PARTS = Object.keys(NOTHING) as (keyof typeof NOTHING)[];

interface Sample {
  readonly at: string;
  readonly name: string;
  readonly millis: number;
}

export function createFigures(sql: Sql, source: FigureSource): (query: FiguresQuery) => Promise<Figures> {
  const { time, index } = source;
  const sums = `count(*) AS count, CAST(sum(CASE WHEN ${source.failed} THEN 1 ELSE 0 END) AS BIGINT) AS failed,
    CAST(sum(${source.inputTokens}) AS BIGINT) AS "inputTokens", CAST(sum(${source.outputTokens}) AS BIGINT) AS "outputTokens",
    sum(${source.usd}) AS usd, sum(${source.estimatedUsd ?? "0"}) AS "estimatedUsd",
    CAST(sum(${source.cachedTokens ?? "0"}) AS BIGINT) AS "cachedTokens", sum(${source.savedUsd ?? "0"}) AS "savedUsd"`;
  const from = `FROM ${source.table} ${index ? `INDEXED BY ${index}` : ""} WHERE ${time} >= ? AND ${time} < ?`;

  return async ({ spans, by, user }) => {
    const [first, last] = [spans[0], spans.at(-1)];
    if (first === undefined || last === undefined) return { total: NOTHING, points: [], groups: [] };
    const within = user === undefined ? from : `${from} AND "user" = ?`;
    const range = [first.since, last.until, ...(user === undefined ? [] : [user])];
    const name = by === undefined ? undefined : source.groups[by];
    const moment = `substr(${time}, 1, ${prefixOf(spans)})`;
    const place = placing(spans);

    const all = `SELECT ${moment} AS at, ${sums} ${within} GROUP BY 1`;
    const moments = await sql.all<Sums & { at: string }>(all, ...range);
    const total = add(moments);
    const largest = `SELECT ${name} AS name, ${sums} ${within} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${MAX_GROUPS}`;
    const rows = name === undefined ? [] : await sql.all<Sums & { name: string }>(largest, ...range);
    const names = rows.slice(0, MAX_SERIES).map((row) => row.name);
    const overTime = `SELECT ${moment} AS at, ${name} AS name, ${sums} ${within} AND ${name} IN (${names.map(() => "?").join()}) GROUP BY 1, 2`;
    const series =
      names.length === 0
        ? []
        : await sql.all<Sums & { at: string; name: string }>(overTime, ...range, ...names);
    const samples = await sql.all<Sample>(
      `SELECT ${moment} AS at, ${name ?? "''"} AS name, millis ${within} AND ${source.timed} AND ${source.number} % ? = 0`,
      ...range,
      Math.max(1, Math.ceil(total.count / MAX_SAMPLES)),
    );

    const summed = (found: readonly (Sums & { at: string })[]) =>
      [...Map.groupBy(found, ({ at }) => place(at))].sort(([one], [other]) => one - other);
    const latency = Map.groupBy(samples, ({ at }) => place(at));
    const ofName = Map.groupBy(samples, (sample) => sample.name);
    const seriesOf = Map.groupBy(series, (row) => row.name);
    return {
      total: { ...total, ...quantiles(samples) },
      points: summed(moments).map(([at, found]) => ({
        at: spans[at]?.since ?? "",
        ...add(found),
        ...quantiles(latency.get(at)),
      })),
      groups: rows.map((row) => ({
        name: row.name,
        ...add([row]),
        ...quantiles(ofName.get(row.name)),
        points: summed(seriesOf.get(row.name) ?? []).map(([at, found]) => ({
          at: spans[at]?.since ?? "",
          ...add(found),
        })),
      })),
    };
  };
}

/** How many characters of a time tell its hour, ten minutes or minute. Not every zone's day begins on the hour. */
function prefixOf(spans: readonly FiguresSpan[]): number {
  const minutes = spans.map(({ since }) => new Date(since).getUTCMinutes());
  if (minutes.every((minute) => minute === 0)) return "2026-11-16T08".length;
  return minutes.every((minute) => minute % 10 === 0) ? "2026-11-16T08:3".length : "2026-11-16T08:45".length;
}

/** The span that a beginning of a time is in. */
function placing(spans: readonly FiguresSpan[]): (at: string) => number {
  const known = new Map<string, number>();
  return (at) => {
    let found = known.get(at);
    if (found === undefined) {
      let [low, high] = [0, spans.length - 1];
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if ((spans[middle] as FiguresSpan).since.slice(0, at.length) <= at) low = middle;
        else high = middle - 1;
      }
      found = low;
      known.set(at, found);
    }
    return found;
  };
}

/** The smallest duration that so many percent do not exceed. Nothing is known where nothing came to an end. */
function quantiles(samples: readonly Sample[] | undefined): { readonly p50?: number; readonly p95?: number } {
  if (samples === undefined || samples.length === 0) return {};
  const sorted = Float64Array.from(samples, ({ millis }) => millis).sort();
  const at = (percent: number) => sorted[Math.ceil((sorted.length * percent) / 100) - 1] as number;
  return { p50: at(50), p95: at(95) };
}

function add(rows: readonly Sums[]): Sums {
  const sum = { ...NOTHING };
  for (const row of rows) for (const part of PARTS) sum[part] += row[part];
  const others = OPTIONAL.map(
    (part) => [part, rows.reduce((all, row) => all + (row[part] ?? 0), 0)] as const,
  );
  return { ...sum, ...Object.fromEntries(others.filter(([, all]) => all !== 0)) };
}
