import { useId } from "preact/hooks";
import { text } from "../../text/text.ts";
import { List } from "../../widgets/list.tsx";

const words = text.usage;

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

interface ChartProps {
  readonly title: string;
  readonly labels: readonly string[];
  readonly series: readonly Series[];
  /** True for stacked bars; false if their sum has no meaning. */
  readonly stacked?: boolean;
  format(value: number): string;
}

const WIDTH = 640;
const HEIGHT = 150;
const TOP = 24;
const BOTTOM = 26;

/** Bars over time. Each series has its own pattern, and a table below has the same numbers. */
export function Chart({ title, labels, series, stacked = true, format }: ChartProps) {
  const id = useId();
  const heights = labels.map((_, at) => {
    const values = series.map(({ values }) => values[at] ?? 0);
    return stacked ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values);
  });
  const most = Math.max(...heights, 0);
  const unit = most === 0 ? 0 : HEIGHT / most;
  const step = WIDTH / Math.max(labels.length, 1);
  const gap = step > 6 ? 2 : 0.5;
  const rows = labels.map((label, at) => ({ label, at })).filter(({ at }) => (heights[at] ?? 0) > 0);
  return (
    <figure class="card chart">
      <figcaption>
        <h2>{title}</h2>
      </figcaption>
      {most === 0 ? (
        <p class="soft">{words.noneInTime}</p>
      ) : (
        <>
          <svg
            viewBox={`0 0 ${WIDTH} ${TOP + HEIGHT + BOTTOM}`}
            role="img"
            aria-label={words.chartLabel(title, format(most))}
          >
            <Patterns id={id} count={series.length} />
            <line class="axis" x1="0" x2={WIDTH} y1={TOP} y2={TOP} stroke-dasharray="3 3" />
            <line class="axis" x1="0" x2={WIDTH} y1={TOP + HEIGHT} y2={TOP + HEIGHT} />
            <text x="0" y={TOP - 5}>
              {format(most)}
            </text>
            {labels.map((label, at) => (
              <Bars
                key={label}
                {...{ id, at, series, unit, stacked, step, gap }}
                words={(name, value) => `${label}${name ? `, ${name}` : ""}: ${format(value)}`}
              />
            ))}
            <text x="0" y={TOP + HEIGHT + 20}>
              {labels[0]}
            </text>
            <text x={WIDTH} y={TOP + HEIGHT + 20} text-anchor="end">
              {labels.at(-1)}
            </text>
          </svg>
          {series.length > 1 && (
            <ul class="legend">
              {series.map(({ name }, at) => (
                <li key={name}>
                  <svg viewBox="0 0 12 12" aria-hidden="true">
                    <rect width="12" height="12" fill={`url(#${id}-${at})`} />
                  </svg>
                  {name}
                </li>
              ))}
            </ul>
          )}
          <details>
            <summary>{words.asTable(title)}</summary>
            <List
              columns={[words.when, ...series.map(({ name }) => name || title)]}
              items={rows}
              hasActions={false}
            >
              {({ label, at }) => (
                <tr key={label}>
                  <td>{label}</td>
                  {series.map(({ name, values }) => (
                    <td key={name}>{format(values[at] ?? 0)}</td>
                  ))}
                </tr>
              )}
            </List>
          </details>
        </>
      )}
    </figure>
  );
}

interface BarsProps extends Required<Pick<ChartProps, "series" | "stacked">> {
  readonly id: string;
  readonly at: number;
  readonly unit: number;
  readonly step: number;
  readonly gap: number;
  words(name: string, value: number): string;
}

function Bars({ id, at, series, unit, stacked, step, gap, words }: BarsProps) {
  let base = TOP + HEIGHT;
  const width = stacked ? step - gap : (step - gap) / series.length;
  return (
    <>
      {series.map(({ name, values }, nth) => {
        const value = values[at] ?? 0;
        if (value === 0) return null;
        const height = Math.max(1, value * unit);
        if (stacked) base -= height;
        const y = stacked ? base : TOP + HEIGHT - height;
        const x = at * step + gap / 2 + (stacked ? 0 : nth * width);
        return (
          <rect key={name} class="amount" {...{ x, y, width, height }} fill={`url(#${id}-${nth})`}>
            <title>{words(name, value)}</title>
          </rect>
        );
      })}
    </>
  );
}

/** Patterns that can be told apart without colour. */
const DRAWN = [
  <rect key="full" width="6" height="6" fill="currentColor" />,
  <path key="up" d="M0 6L6 0M-1 1L1 -1M5 7L7 5" stroke="currentColor" stroke-width="1.6" />,
  <circle key="dots" cx="3" cy="3" r="1.6" fill="currentColor" />,
  <path key="across" d="M0 1.5H6M0 4.5H6" stroke="currentColor" stroke-width="1.2" />,
  <path key="checks" d="M0 0H3V3H0ZM3 3H6V6H3Z" fill="currentColor" />,
  <path key="upright" d="M1.5 0V6M4.5 0V6" stroke="currentColor" stroke-width="0.7" />,
];

function Patterns({ id, count }: { readonly id: string; readonly count: number }) {
  return (
    <defs>
      {DRAWN.slice(0, count).map((drawing, at) => (
        <pattern key={drawing.key} id={`${id}-${at}`} width="6" height="6" patternUnits="userSpaceOnUse">
          <rect width="6" height="6" fill="currentColor" opacity="0.18" />
          {drawing}
        </pattern>
      ))}
    </defs>
  );
}
