import ChartColumn from "lucide/dist/esm/icons/chart-column.mjs";
import { useState } from "preact/hooks";
import { useApp, useLive } from "../../state/use-app.ts";
import { ask, type Figure, type Figures, type Routes, type UsedStorage } from "../../state/wire.ts";
import { bytes, dollars, duration, formatDate, percent, whole } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { Page } from "../../widgets/bar.tsx";
import { Card } from "../../widgets/card.tsx";
import { Select } from "../../widgets/controls.tsx";
import { List } from "../../widgets/list.tsx";
import { Loaded } from "../../widgets/loaded.tsx";
import { EmptyState } from "../../widgets/states.tsx";
import { Chart, type Series } from "./chart.tsx";

const words = text.usage;

type Usage = Routes["GET /api/usage"]["answer"];

type Summed = Omit<Figure, "p50_millis" | "p95_millis">;

const EVERY_MS = 60_000;

const tokensOf = ({ input_tokens, output_tokens }: Summed) => input_tokens + output_tokens;

/** Turns and calls with their cost and duration. The operator sees those of all users, a user their own. */
export function UsagePage() {
  const isOperator = useApp().user?.role === "operator";
  const [days, setDays] = useState(7);
  const [by, setBy] = useState("model");
  const load = () => {
    const query = new URLSearchParams({
      from: startOf(days).toISOString(),
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      by,
    });
    return ask<Usage>("GET", `/api/usage?${query}`);
  };
  const [, , , shown] = useLive(load, EVERY_MS, [days, by]);
  const groups = ["model", "tool", "channel", ...(isOperator ? ["user"] : [])];
  return (
    <Page
      title={text.pages.usage}
      actions={
        <>
          <Select
            label={words.time}
            options={words.ranges}
            value={days}
            onValue={(value) => setDays(Number(value))}
          />
          <Select
            label={words.by}
            options={Object.fromEntries(groups.map((name) => [name, words.byGroup[name] ?? name]))}
            value={by}
            onValue={setBy}
          />
        </>
      }
    >
      <Loaded of={shown} lines={10}>
        {(usage) => (
          <>
            <Shown usage={usage} by={by} />
            <Storage used={usage.storage} />
            {usage.answered && <Answered questions={usage.answered} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Counts the hour or day that has begun: the service counts whole ones, and 7 days would be eight bars. */
function startOf(days: number): Date {
  const start = new Date();
  if (days === 1) start.setHours(start.getHours() - 23, 0, 0, 0);
  else {
    start.setDate(start.getDate() - days + 1);
    start.setHours(0, 0, 0, 0);
  }
  return start;
}

function Storage({ used: { bytes: used, max_bytes, kinds } }: { readonly used: UsedStorage }) {
  const kept = Object.entries(kinds).filter(([, count]) => count > 0);
  return (
    <p class="soft">
      {words.storage(bytes(used), bytes(max_bytes))}
      {kept.length > 0 && `: ${kept.map(([kind, count]) => `${kind} ${bytes(count)}`).join(", ")}`}.
    </p>
  );
}

/** How the reader answered questions. Nobody else sees it. */
function Answered({ questions }: { readonly questions: NonNullable<Usage["answered"]> }) {
  const { count, yes, p50_millis, is_hasty } = questions;
  if (count === 0) return null;
  return (
    <p class="soft">
      {words.answered(count, percent(yes / count), duration(p50_millis ?? 0))}
      {is_hasty && ` ${words.hasty}`}
    </p>
  );
}

function Shown({ usage, by }: { readonly usage: Usage; readonly by: string }) {
  const { turns, calls } = usage;
  if (turns.total.count === 0 && calls.total.count === 0)
    return (
      <EmptyState title={words.none} icon={ChartColumn}>
        {words.noneNote}
      </EmptyState>
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
      format={duration}
      series={[
        { name: words.halfTook, values: placed(usage.at, points, ({ p50_millis }) => p50_millis ?? 0) },
        { name: words.mostTook, values: placed(usage.at, points, ({ p95_millis }) => p95_millis ?? 0) },
      ]}
    />
  );
  return (
    <>
      <dl class="tiles">
        <Tile name={words.turns} value={whole(turns.total.count)} />
        <Tile name={words.failedTurns} value={whole(turns.total.failed)} />
        <Tile name={words.tokens} value={whole(tokensOf(turns.total))} />
        <Tile name={words.cost} value={costOf(turns.total)} />
        {turns.total.saved_cost !== undefined && <Tile name={words.saved} value={savedOf(turns.total)} />}
        <Tile name={words.calls} value={whole(calls.total.count)} />
        <Tile name={words.failedCalls} value={whole(calls.total.failed)} />
      </dl>
      {turns.groups.length > 0 && (
        <GroupTable title={words.turnsBy[by] ?? words.turns} groups={turns.groups} hasTokens />
      )}
      {calls.groups.length > 0 && (
        <GroupTable title={words.callsBy[by] ?? words.calls} groups={calls.groups} />
      )}
      {by !== "tool" && (
        <>
          {chart(words.turns, turns, ({ count }) => count)}
          {chart(words.tokens, turns, tokensOf)}
          {chart(words.cost, turns, ({ cost }) => cost, dollars)}
          {chart(words.failedTurns, turns, ({ failed }) => failed)}
          {latency(words.timeToAnswer, turns)}
        </>
      )}
      {chart(words.calls, calls, ({ count }) => count)}
      {chart(words.failedToolCalls, calls, ({ failed }) => failed)}
      {latency(words.timeOfCall, calls)}
      <p class="soft">{words.counted}</p>
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
    .map((group) => ({ name: group.name || text.basics.unknown, values: placed(at, group.points, value) }));
  if (shown.length === 0) return [{ name: "", values: whole }];
  const rest = whole.map((sum, place) =>
    Math.max(0, sum - shown.reduce((known, { values }) => known + (values[place] ?? 0), 0)),
  );
  // Sums of fractions differ in the last digits.
  const isLeft = rest.some((left, place) => left > (whole[place] ?? 0) * 1e-9);
  return isLeft ? [...shown, { name: words.others, values: rest }] : shown;
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
  return at.map((time) =>
    formatDate(
      time,
      step === "hour"
        ? { weekday: "short", hour: "numeric", minute: "2-digit" }
        : { day: "numeric", month: "short", year: "2-digit" },
    ),
  );
}

interface GroupTableProps {
  readonly title: string;
  readonly groups: Figures["groups"];
  /** Tools have neither tokens nor a price. */
  readonly hasTokens?: boolean;
}

/** The price of some models is not known, which caps count by an estimate. */
function costOf({ cost, estimated_cost }: Pick<Figures["total"], "cost" | "estimated_cost">): string {
  return estimated_cost === undefined
    ? dollars(cost)
    : words.estimated(dollars(cost), dollars(estimated_cost));
}

function savedOf({ saved_cost = 0, cached_tokens = 0, input_tokens }: Figures["total"]): string {
  return words.savedOf(dollars(saved_cost), percent(cached_tokens / Math.max(1, input_tokens)));
}

/** Each group with its sums, largest first. */
function GroupTable({ title, groups, hasTokens = false }: GroupTableProps) {
  const { name, count, failed, tokensIn, tokensOut, cost, half, most } = words.columns;
  const counted = hasTokens ? [tokensIn, tokensOut, cost] : [];
  const took = (millis: number | null) => (millis === null ? "" : duration(millis));
  return (
    <Card title={title}>
      <List columns={[name, count, failed, ...counted, half, most]} items={groups} hasActions={false}>
        {(group) => (
          <tr key={group.name}>
            <td>{group.name || text.basics.unknown}</td>
            <td>{whole(group.count)}</td>
            <td>{whole(group.failed)}</td>
            {hasTokens && <td>{whole(group.input_tokens)}</td>}
            {hasTokens && <td>{whole(group.output_tokens)}</td>}
            {hasTokens && <td>{costOf(group)}</td>}
            <td>{took(group.p50_millis)}</td>
            <td>{took(group.p95_millis)}</td>
          </tr>
        )}
      </List>
    </Card>
  );
}
