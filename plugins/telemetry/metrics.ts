/** Metrics for Prometheus, in a registry of this service's own. */
import { createRequire } from "node:module";
import type * as Prometheus from "prom-client";
import type { Labels, Metrics } from "./services.ts";

/** Further series of a metric count as "other": names that strangers choose must not fill a monitor. */
const MAX_SERIES = 300;
const OTHER = "other";
/** A turn only notes what to count: counting many at once is far cheaper than one now and then. */
const MAX_NOTED = 500;

interface Opened {
  readonly prometheus: typeof Prometheus;
  readonly registry: Prometheus.Registry;
  readonly registers: Prometheus.Registry[];
}

export function createMetrics(): Metrics {
  let opened: Opened | undefined;
  const defined = new Map<string, () => unknown>();
  let noted: (() => void)[] = [];
  /** Makes a metric when it is first counted or rendered. Where nobody looks at metrics, their eighty files are not loaded. */
  function define<Metric>(name: string, make: (from: Opened) => Metric): () => Metric {
    if (defined.has(name)) throw new Error(`the metric ${name} exists already`);
    let made: Metric | undefined;
    const metric = () => {
      opened ??= open();
      made ??= make(opened);
      return made;
    };
    defined.set(name, metric);
    return metric;
  }
  function count(): void {
    const counting = noted;
    noted = [];
    for (const each of counting) each();
  }
  function note(counting: () => void): void {
    noted.push(counting);
    if (noted.length >= MAX_NOTED) count();
  }
  return {
    counter(name, help, labelNames = []) {
      const counter = define(
        name,
        ({ prometheus, registers }) => new prometheus.Counter({ name, help, labelNames, registers }),
      );
      const bound = boundSeries(labelNames);
      return { add: (labels, by = 1) => note(() => counter().inc(bound(labels), by)) };
    },
    histogram(name, help, labelNames, buckets) {
      const histogram = define(
        name,
        ({ prometheus, registers }) =>
          new prometheus.Histogram({ name, help, labelNames, buckets: [...buckets], registers }),
      );
      const bound = boundSeries(labelNames);
      return { observe: (labels, value) => note(() => histogram().observe(bound(labels), value)) };
    },
    gauge(name, help, read, labelNames = []) {
      const collect = async function (this: Prometheus.Gauge<string>) {
        const found = await read();
        this.reset();
        if (typeof found === "number") this.set(found);
        else for (const { labels, value } of (found ?? []).slice(0, MAX_SERIES)) this.set(labels, value);
      };
      define(
        name,
        ({ prometheus, registers }) => new prometheus.Gauge({ name, help, labelNames, registers, collect }),
      );
    },
    contentType: "text/plain; version=0.0.4; charset=utf-8",
    render() {
      opened ??= open();
      for (const metric of defined.values()) metric();
      count();
      return opened.registry.metrics();
    },
  };
}

function open(): Opened {
  const prometheus = createRequire(import.meta.url)("prom-client") as typeof Prometheus;
  const registry = new prometheus.Registry();
  prometheus.collectDefaultMetrics({ register: registry });
  return { prometheus, registry, registers: [registry] };
}

function boundSeries(names: readonly string[]): (labels: Labels) => Record<string, string> {
  const known = new Set<string>();
  const other = Object.fromEntries(names.map((name) => [name, OTHER]));
  return (labels) => {
    const key = JSON.stringify(names.map((name) => labels[name]));
    if (known.size >= MAX_SERIES && !known.has(key)) return other;
    known.add(key);
    return labels;
  };
}
