/** Charts as SVG text: bars, lines, areas, points and pies, with title, axes and legend. */
import { extent, max, min } from "d3-array";
import { scaleBand, scaleLinear, scalePoint, scaleUtc } from "d3-scale";
import { arc, area, line, pie } from "d3-shape";
import { type AxisValue, type Data, MAX_BARS, type Options, readData, type Series } from "./chart-data.ts";

type Kind = "bar" | "line" | "area" | "scatter";

const COLOURS = [
  ...["#2563eb", "#f97316", "#16a34a", "#dc2626", "#7c3aed", "#0891b2"],
  ...["#ca8a04", "#db2777", "#4d7c0f", "#475569", "#9333ea", "#0f766e"],
];
const INK = "#1f2937";
const FAINT = "#d1d5db";
const MAX_LABEL = 60;
const MAX_SLICES = 12;

/** `kept` hears of each chart, which becomes a file when the code has run. */
export function createCharts(kept: (chart: { readonly svg: string; readonly title: string }) => void) {
  const keep = (svg: string, title = "Chart") => {
    kept({ svg, title: bounded(title) });
    return svg;
  };
  const plot =
    (kind: Kind) =>
    (rows: Iterable<unknown>, options: Options = {}) =>
      keep(drawPlot(kind, readData(rows, options), options), options.title);
  return {
    bar: plot("bar"),
    line: plot("line"),
    area: plot("area"),
    scatter: plot("scatter"),
    pie: (rows: Iterable<unknown>, options: Options = {}) =>
      keep(drawPie(readData(rows, options), options), options.title),
  };
}

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

function drawPlot(kind: Kind, { x, series }: Data, options: Options): string {
  const { title, xLabel = x, yLabel = series.length === 1 ? series[0]?.name : "" } = options;
  const hasLegend = series.length > 1;
  const frame: Frame = {
    ...sizeOf(options),
    left: 70,
    right: 20,
    top: (title ? 50 : 20) + (hasLegend ? 22 : 0),
    bottom: 70,
  };
  const values = series.flatMap(({ points }) => points.map(({ y }) => y));
  const bottom = min(values) ?? 0;
  const top = max(values) ?? 0;
  // What is drawn from the axis up would lie about its size without the zero.
  const isFilled = kind === "bar" || kind === "area";
  const scale = scaleLinear()
    .domain(
      isFilled
        ? [Math.min(0, bottom), Math.max(0, top)]
        : bottom === top
          ? [bottom - 1, top + 1]
          : [bottom, top],
    )
    .nice()
    .range([frame.height - frame.bottom, frame.top]);
  const along = kind === "bar" ? bands(series, frame) : places(series, frame);
  const marks = series.map((one, at) => drawSeries(kind, one, at, series.length, along, scale)).join("");
  return wrap(frame, title, [
    ...scale.ticks(6).map((tick) => {
      const y = round(scale(tick));
      return `${stroke(frame.left, y, frame.width - frame.right, y, FAINT)}${text(frame.left - 8, y + 4, scale.tickFormat(6)(tick), "end")}`;
    }),
    ...along.ticks.map(({ at, label }) =>
      tickLabel(at, frame.height - frame.bottom + 18, label, along.isCrowded),
    ),
    marks,
    stroke(
      frame.left,
      round(scale(Math.max(0, scale.domain()[0] ?? 0))),
      frame.width - frame.right,
      round(scale(Math.max(0, scale.domain()[0] ?? 0))),
      INK,
    ),
    stroke(frame.left, frame.top, frame.left, frame.height - frame.bottom, INK),
    text((frame.left + frame.width - frame.right) / 2, frame.height - 8, xLabel, "middle"),
    `<g transform="translate(16 ${(frame.top + frame.height - frame.bottom) / 2}) rotate(-90)">${text(0, 0, yLabel ?? "", "middle")}</g>`,
    ...(hasLegend
      ? [
          legend(
            series.map(({ name }) => name),
            frame.left,
            frame.top - 16,
            frame.width,
          ),
        ]
      : []),
  ]);
}

interface Along {
  position(place: AxisValue): number;
  /** 0 where a place has no width. */
  readonly step: number;
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
  readonly isCrowded: boolean;
}

const nameOf = (place: AxisValue): string =>
  place instanceof Date ? place.toISOString().replace(/T00:00:00\.000Z$/, "") : String(place);

function placesIn(series: readonly Series[]): readonly AxisValue[] {
  return series.flatMap(({ points }) => points.map(({ x }) => x));
}

function bands(series: readonly Series[], { left, right, width }: Frame): Along {
  const names = [...new Set(placesIn(series).map(nameOf))];
  if (names.length > MAX_BARS)
    throw new RangeError(
      `a bar chart takes at most ${MAX_BARS} bars, and there are ${names.length}: group them first`,
    );
  const scale = scaleBand(names, [left, width - right]).padding(0.2);
  const step = scale.bandwidth();
  const shown = every(names, 40);
  return {
    position: (place) => scale(nameOf(place)) ?? 0,
    step,
    ticks: shown.map((label) => ({ at: (scale(label) ?? 0) + step / 2, label })),
    isCrowded: isCrowded(shown, width),
  };
}

function places(series: readonly Series[], frame: Frame): Along {
  const all = placesIn(series);
  const range = [frame.left + 8, frame.width - frame.right - 8];
  if (all.every((place) => place instanceof Date)) {
    const scale = scaleUtc(extent(all) as [Date, Date], range);
    const format = scale.tickFormat(8);
    const ticks = scale.ticks(8).map((tick) => ({ at: scale(tick), label: format(tick) }));
    return { position: (place) => scale(place as Date), step: 0, ticks, isCrowded: false };
  }
  if (all.every((place) => typeof place === "number")) {
    const scale = scaleLinear(extent(all) as [number, number], range).nice();
    const format = scale.tickFormat(8);
    const ticks = scale.ticks(8).map((tick) => ({ at: scale(tick), label: format(tick) }));
    return { position: (place) => scale(place as number), step: 0, ticks, isCrowded: false };
  }
  const names = [...new Set(all.map(nameOf))];
  const scale = scalePoint(names, range);
  const shown = every(names, 30);
  return {
    position: (place) => scale(nameOf(place)) ?? 0,
    step: 0,
    ticks: shown.map((label) => ({ at: scale(label) ?? 0, label })),
    isCrowded: isCrowded(shown, frame.width),
  };
}

function drawSeries(
  kind: Kind,
  { name, points }: Series,
  at: number,
  count: number,
  { position, step }: Along,
  scale: (value: number) => number,
): string {
  const colour = COLOURS[at % COLOURS.length];
  const zero = scale(0);
  const said = ({ x, y }: Series["points"][number]) =>
    `<title>${escapeXml(`${nameOf(x)}: ${y}${count > 1 ? ` (${name})` : ""}`)}</title>`;
  if (kind === "bar") {
    const width = step / count;
    return points
      .map((point) => {
        const [from, to] = [zero, scale(point.y)].sort((a, b) => a - b) as [number, number];
        const x = position(point.x) + at * width;
        return `<rect x="${round(x)}" y="${round(from)}" width="${round(width)}" height="${round(to - from)}" fill="${colour}">${said(point)}</rect>`;
      })
      .join("");
  }
  if (kind === "scatter")
    return points
      .map(
        (point) =>
          `<circle cx="${round(position(point.x))}" cy="${round(scale(point.y))}" r="3.5" fill="${colour}" fill-opacity="0.7">${said(point)}</circle>`,
      )
      .join("");
  type Point = Series["points"][number];
  const path = line<Point>(
    ({ x }) => round(position(x)),
    ({ y }) => round(scale(y)),
  )(points);
  const drawn = `<path d="${path ?? ""}" fill="none" stroke="${colour}" stroke-width="2"/>`;
  if (kind === "line") return drawn;
  const filled = area<Point>(
    ({ x }) => round(position(x)),
    round(zero),
    ({ y }) => round(scale(y)),
  )(points);
  return `<path d="${filled ?? ""}" fill="${colour}" fill-opacity="0.25"/>${drawn}`;
}

function drawPie({ series }: Data, options: Options): string {
  const { width, height } = sizeOf(options);
  const frame: Frame = { width, height, left: 0, right: 0, top: options.title ? 50 : 20, bottom: 20 };
  const slices = slicesOf(series[0]?.points ?? []);
  const total = slices.reduce((sum, { y }) => sum + y, 0);
  if (total <= 0) throw new RangeError("a pie needs sizes above zero");
  const radius = Math.min(width * 0.3, (height - frame.top - frame.bottom) / 2);
  const shape = arc<{ startAngle: number; endAngle: number }>().innerRadius(0).outerRadius(radius);
  const parts = pie<(typeof slices)[number]>()
    .sort(null)
    .value(({ y }) => y)([...slices]);
  const drawn = parts.map((part, at) => {
    const label = `${nameOf(part.data.x)}: ${part.data.y}`;
    return `<path d="${(shape(part) ?? "").replace(/\d+\.\d{3,}/g, (number) => `${round(Number(number))}`)}" fill="${COLOURS[at % COLOURS.length]}" stroke="#fff"><title>${escapeXml(label)}</title></path>`;
  });
  const percent = (size: number) => `${Math.round((size / total) * 1000) / 10} %`;
  const names = slices.map(({ x, y }) => `${shorten(nameOf(x), 28)} (${percent(y)})`);
  const key = names.map((name, at) => legend([name], width * 0.68, frame.top + 20 + at * 22, width, at));
  return wrap(frame, options.title, [
    `<g transform="translate(${round(width * 0.34)} ${round(frame.top + radius)})">${drawn.join("")}</g>`,
    ...key,
  ]);
}

/** The largest ones, and the rest together. */
function slicesOf(points: Series["points"]): Series["points"] {
  if (points.some(({ y }) => y < 0)) throw new RangeError("a pie cannot show a size below zero");
  if (points.length <= MAX_SLICES) return points;
  const sorted = points.toSorted((a, b) => b.y - a.y);
  const rest = sorted.slice(MAX_SLICES - 1).reduce((sum, { y }) => sum + y, 0);
  return [...sorted.slice(0, MAX_SLICES - 1), { x: "other", y: rest }];
}

function wrap({ width, height }: Frame, title: string | undefined, parts: readonly string[]): string {
  const heading = title
    ? `<title>${escapeXml(bounded(title))}</title><text x="${width / 2}" y="28" text-anchor="middle" font-size="17" font-weight="600">${escapeXml(shorten(title, Math.floor(width / 9)))}</text>`
    : "";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="12" fill="${INK}"><rect width="${width}" height="${height}" fill="#fff"/>${heading}${parts.join("")}</svg>`;
}

function legend(names: readonly string[], left: number, y: number, width: number, first = 0): string {
  const room = (width - left) / names.length;
  return names
    .map((name, at) => {
      const x = round(left + at * room);
      return `<rect x="${x}" y="${y - 10}" width="11" height="11" fill="${COLOURS[(first + at) % COLOURS.length]}"/>${text(x + 16, y, shorten(name, Math.max(6, Math.floor(room / 7) - 3)), "start")}`;
    })
    .join("");
}

function tickLabel(x: number, y: number, label: string, isTurned: boolean): string {
  if (!isTurned) return text(x, y, shorten(label, 24), "middle");
  return `<g transform="translate(${round(x)} ${y - 6}) rotate(-35)">${text(0, 0, shorten(label, 12), "end")}</g>`;
}

function text(x: number, y: number, words: string, anchor: "start" | "middle" | "end"): string {
  return words === ""
    ? ""
    : `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escapeXml(bounded(words))}</text>`;
}

const stroke = (x1: number, y1: number, x2: number, y2: number, colour: string): string =>
  `<line x1="${round(x1)}" y1="${y1}" x2="${round(x2)}" y2="${y2}" stroke="${colour}"/>`;

function sizeOf({ width = 720, height = 420 }: Options) {
  const within = (size: number) => Math.round(Math.min(2000, Math.max(200, Number(size) || 0)));
  return { width: within(width), height: within(height) };
}

const isCrowded = (labels: readonly string[], width: number): boolean =>
  labels.reduce((sum, label) => sum + Math.min(label.length, 24) * 7 + 8, 0) > width - 90;

function every<Item>(items: readonly Item[], most: number): readonly Item[] {
  const step = Math.ceil(items.length / most);
  return items.filter((_, at) => at % step === 0);
}

const round = (value: number): number => Math.round(value * 100) / 100;
const bounded = (words: string): string => shorten(words, MAX_LABEL * 2);

function shorten(words: unknown, most: number): string {
  const letters = [...String(words)];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : letters.join("");
}

/** XML has neither control characters nor halves of a pair. */
function escapeXml(words: string): string {
  return [...words.toWellFormed()]
    .map((letter) => (letter < " " || letter === "\ufffe" || letter === "\uffff" ? " " : letter))
    .join("")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
