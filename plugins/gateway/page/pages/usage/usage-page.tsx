import { useState } from "preact/hooks";
import { attempt } from "../../state/app.ts";
import { useApp, useLive } from "../../state/use-app.ts";
import { ask, type Figure, type Figures } from "../../state/wire.ts";
import { Page } from "../../widgets/bar.tsx";
import { List } from "../../widgets/list.tsx";
import { Chart, type Series } from "./chart.tsx";

interface Usage {
  readonly step: "hour" | "day";
  readonly at: readonly string[];
  readonly turns: Figures;
  readonly calls: Figures;
}

type Summed = Omit<Figure, "p50_millis" | "p95_millis">;

const RANGES = { "24 hours": 1, "7 days": 7, "30 days": 30, "90 days": 90 } as const;
const DAY_MILLIS = 86_400_000;
const EVERY_MILLIS = 60_000;
const OTHERS = "all others";

const tokensOf = ({ input_tokens, output_tokens }: Summed) => input_tokens + output_tokens;

/** Turns and calls with their cost and duration. The operator sees those of all users, a user their own. */
export function UsagePage() {
  const isOperator = useApp().user?.role === "operator";
  const [days, setDays] = useState<number>(7);
  const [by, setBy] = useState("model");
  const [usage, setUsage] = useState<Usage>();
  const load = () => {
    const query = new URLSearchParams({
      from: new Date(Date.now() - days * DAY_MILLIS).toISOString(),
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      by,
    });
    return ask<Usage>("GET", `/api/usage?${query}`);
  };
  useLive(
    async (isFirst) => {
      const found = await (isFirst ? attempt(load) : load());
      if (found) setUsage(found);
    },
    EVERY_MILLIS,
    [days, by],
  );
  return (
    <Page title="Usage">
      <span class="row">
        <select
          aria-label="Time"
          value={days}
          onChange={({ currentTarget: { value } }) => setDays(Number(value))}
        >
          {Object.entries(RANGES).map(([words, value]) => (
            <option key={words} value={value}>
              {words}
            </option>
          ))}
        </select>
        <select aria-label="By" value={by} onChange={({ currentTarget: { value } }) => setBy(value)}>
          {["model", "tool", "channel", ...(isOperator ? ["user"] : [])].map((name) => (
            <option key={name} value={name}>
              by {name}
            </option>
          ))}
        </select>
      </span>
      {usage && <Shown usage={usage} by={by} />}
    </Page>
  );
}

function Shown({ usage, by }: { readonly usage: Usage; readonly by: string }) {
  const { turns, calls } = usage;
  if (turns.total.count === 0 && calls.total.count === 0)
    return (
      <p class="soft">
        Nothing was asked in this time. Choose a longer time, or start a chat: each answer is counted here,
        with its tokens, its cost and the tools it called.
      </p>
    );
  const labels = labelsOf(usage);
  const chart = (title: string, figures: Figures, value: (figure: Summed) => number, format = whole) => (
    <Chart title={title} labels={labels} series={seriesOf(usage.at, figures, value)} format={format} />
  );
  const latency = (title: string, { points }: Figures) => (
    <Chart
      title={title}
      labels={labels}
      stacked={false}
      format={seconds}
      series={[
        { name: "half took at most", values: placed(usage.at, points, ({ p50_millis }) => p50_millis ?? 0) },
        { name: "95% took at most", values: placed(usage.at, points, ({ p95_millis }) => p95_millis ?? 0) },
      ]}
    />
  );
  return (
    <>
      <dl class="tiles">
        <Tile name="Turns" value={whole(turns.total.count)} />
        <Tile name="Failed turns" value={whole(turns.total.failed)} />
        <Tile name="Tokens" value={whole(tokensOf(turns.total))} />
        <Tile name="Cost" value={dollars(turns.total.cost)} />
        <Tile name="Tool calls" value={whole(calls.total.count)} />
        <Tile name="Failed calls" value={whole(calls.total.failed)} />
      </dl>
      {turns.groups.length > 0 && <GroupTable title={`Turns by ${by}`} groups={turns.groups} hasTokens />}
      {calls.groups.length > 0 && <GroupTable title={`Tool calls by ${by}`} groups={calls.groups} />}
      {by !== "tool" && (
        <>
          {chart("Turns", turns, ({ count }) => count)}
          {chart("Tokens", turns, tokensOf)}
          {chart("Cost", turns, ({ cost }) => cost, dollars)}
          {chart("Failed turns", turns, ({ failed }) => failed)}
          {latency("Time to an answer", turns)}
        </>
      )}
      {chart("Tool calls", calls, ({ count }) => count)}
      {chart("Failed tool calls", calls, ({ failed }) => failed)}
      {latency("Time of a tool call", calls)}
      <p class="soft">
        Turns are counted while their threads are kept; tool calls from the newest 10,000 receipts.
      </p>
    </>
  );
}

function Tile({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** Returns the largest groups and the rest of the total. */
function seriesOf(
  at: readonly string[],
  { points, groups }: Figures,
  value: (figure: Summed) => number,
): Series[] {
  const whole = placed(at, points, value);
  const shown = groups
    .filter((group) => group.points.some((point) => value(point) > 0))
    .map((group) => ({ name: group.name || "unknown", values: placed(at, group.points, value) }));
  if (shown.length === 0) return [{ name: "", values: whole }];
  const rest = whole.map((sum, place) =>
    Math.max(0, sum - shown.reduce((known, { values }) => known + (values[place] ?? 0), 0)),
  );
  // Sums of fractions differ in the last digits.
  const isLeft = rest.some((left, place) => left > (whole[place] ?? 0) * 1e-9);
  return isLeft ? [...shown, { name: OTHERS, values: rest }] : shown;
}

function placed<Point extends { readonly at: string }>(
  at: readonly string[],
  points: readonly Point[],
  value: (point: Point) => number,
): number[] {
  const known = new Map(points.map((point) => [point.at, value(point)]));
  return at.map((time) => known.get(time) ?? 0);
}

function labelsOf({ at, step }: Usage): string[] {
  const format = new Intl.DateTimeFormat(
    undefined,
    step === "hour"
      ? { weekday: "short", hour: "numeric", minute: "2-digit" }
      : { day: "numeric", month: "short", year: "2-digit" },
  );
  return at.map((time) => format.format(new Date(time)));
}

interface GroupTableProps {
  readonly title: string;
  readonly groups: Figures["groups"];
  /** Tools have neither tokens nor a price. */
  readonly hasTokens?: boolean;
}

/** Each group with its sums, largest first. */
export function GroupTable({ title, groups, hasTokens = false }: GroupTableProps) {
  const counted = hasTokens ? ["Tokens in", "Tokens out", "Cost"] : [];
  const took = (millis: number | null) => (millis === null ? "" : seconds(millis));
  return (
    <section class="card">
      <h2>{title}</h2>
      <List columns={["Name", "Count", "Failed", ...counted, "Half took", "95% took"]} hasActions={false}>
        {groups.map((group) => (
          <tr key={group.name}>
            <td>{group.name || "unknown"}</td>
            <td>{whole(group.count)}</td>
            <td>{whole(group.failed)}</td>
            {hasTokens && <td>{whole(group.input_tokens)}</td>}
            {hasTokens && <td>{whole(group.output_tokens)}</td>}
            {hasTokens && <td>{dollars(group.cost)}</td>}
            <td>{took(group.p50_millis)}</td>
            <td>{took(group.p95_millis)}</td>
          </tr>
        ))}
      </List>
    </section>
  );
}

const count = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });

export const whole = (value: number): string => count.format(value);

/** A turn can cost less than a cent. */
export function dollars(value: number): string {
  const digits = value === 0 || value >= 1 ? 2 : 4;
  return `$${value.toLocaleString(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

export function seconds(millis: number): string {
  return millis < 1000
    ? `${whole(millis)} ms`
    : `${(millis / 1000).toLocaleString(undefined, { maximumFractionDigits: 1 })} s`;
}
