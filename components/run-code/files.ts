/** The workspace as the code sees it, and what it made there: files, and charts that become files. */
import { folder } from "./folder.ts";

interface Chart {
  readonly svg: string;
  readonly title: string;
  path?: string;
}

const MAX_CHARTS = 20;
const MAX_SHOWN = 100;
const OUTPUT = "/output";

const MIMES: Readonly<Record<string, string>> = {
  csv: "text/csv",
  html: "text/html",
  json: "application/json",
  md: "text/markdown",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  tsv: "text/tab-separated-values",
  txt: "text/plain",
};

export function createFiles() {
  const written = new Map<string, { readonly path: string; readonly bytes: number; readonly mime: string }>();
  const charts: Chart[] = [];

  const write = (path: unknown, content: unknown): string => {
    const whole = absolute(path);
    const data = bytesOf(content);
    folder.write(whole, data);
    written.delete(whole);
    written.set(whole, { path: whole, bytes: data.byteLength, mime: mimeOf(whole) });
    const drawn = charts.find(({ svg, path: its }) => svg === content && its === undefined);
    if (drawn) drawn.path = whole;
    return whole;
  };

  return {
    api: {
      read: (path: unknown) => new TextDecoder().decode(folder.read(absolute(path))),
      readBytes: (path: unknown) => folder.read(absolute(path)),
      write,
      list: (path: unknown = "/") => folder.list(absolute(path)),
      find: (path: unknown) => folder.find(absolute(path)),
      remove(path: unknown): void {
        folder.remove(absolute(path));
        written.delete(absolute(path));
      },
    },
    keepChart(chart: Chart): void {
      if (charts.length >= MAX_CHARTS) throw new RangeError(`a run draws at most ${MAX_CHARTS} charts`);
      charts.push({ ...chart });
    },
    /** Writes the charts that the code has not written itself; `tell` hears why one could not be. */
    finish(tell: (problem: string) => void) {
      for (const chart of charts) {
        try {
          chart.path ??= write(freePath(chart, written), chart.svg);
        } catch (error) {
          tell(`The chart "${chart.title}" could not be kept: ${(error as Error).message}`);
        }
      }
      return {
        files: [...written.values()].slice(0, MAX_SHOWN),
        charts: charts.flatMap(({ path, title }) => (path === undefined ? [] : [{ path, title }])),
      };
    },
    /** A chart that was returned is named: it is a file by now. */
    named(text: string): string {
      const found = charts.find(({ svg }) => svg === text);
      return found?.path === undefined ? text : `the chart ${found.path}`;
    },
  };
}

function freePath({ title }: Chart, taken: ReadonlyMap<string, unknown>): string {
  const words = title
    .toLowerCase()

    .match(/[a-z0-9]+/g) ?? ["chart"];
  const name = words.join("-").slice(0, 60);
  for (let number = 1; ; number++) {
    const path = `${OUTPUT}/${name}${number === 1 ? "" : `-${number}`}.svg`;
    if (!taken.has(path)) return path;
  }
}

function absolute(path: unknown): string {
  const text = String(path);
  return text.startsWith("/") ? text : `/${text.replace(/^\.\//, "")}`;
}

function bytesOf(content: unknown): Uint8Array {
  if (content instanceof Uint8Array) return content;
  if (content instanceof ArrayBuffer) return new Uint8Array(content);
  return new TextEncoder().encode(
    typeof content === "string" ? content : JSON.stringify(content, undefined, 2),
  );
}

function mimeOf(path: string): string {
  const [, ending = ""] = /\.([a-z0-9]+)$/i.exec(path) ?? [];
  return MIMES[ending.toLowerCase()] ?? "application/octet-stream";
}
