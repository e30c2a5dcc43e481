/** Metrics for Prometheus, in a registry of this service's own. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Labels, Metrics } from "./services.ts";

/** Further series of a metric count as "other": names that strangers choose must not fill a monitor. */
const MAX_SERIES = 300;
const OTHER = "other";
/** A turn only notes what to count: counting many at once is far cheaper than one now and then. */
const MAX_NOTED = 500;

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  let noted: (() => void)[] = [];
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
      const counter = new Counter({ name, help, labelNames, registers });
      const bound = boundSeries(labelNames);
      return { add: (labels, by = 1) => note(() => counter.inc(bound(labels), by)) };
    },
    histogram(name, help, labelNames, buckets) {
      const histogram = new Histogram({ name, help, labelNames, buckets: [...buckets], registers });
      const bound = boundSeries(labelNames);
      return { observe: (labels, value) => note(() => histogram.observe(bound(labels), value)) };
    },
    gauge(name, help, read, labelNames = []) {
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        async collect() {
          const found = await read();
          this.reset();
          if (typeof found === "number") this.set(found);
          else for (const { labels, value } of (found ?? []).slice(0, MAX_SERIES)) this.set(labels, value);
        },
      });
    },
    contentType: registry.contentType,
    render() {
      count();
      return registry.metrics();
    },
  };
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
