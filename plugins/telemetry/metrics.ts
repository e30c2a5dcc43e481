/** Numbers for Prometheus, in a registry of this service's own. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Labels, Metrics } from "../../kernel/kit.ts";

/** Series of one metric. What comes beyond counts as "other": a monitor must not be filled by names that strangers choose. */
const MOST_SERIES = 300;
const OTHER = "other";
/** What waits to be counted. A turn only notes it down: counting many in one go is far cheaper than one now and then. */
const MOST_NOTED = 500;

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
    if (noted.length >= MOST_NOTED) count();
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
          else for (const { labels, value } of (found ?? []).slice(0, MOST_SERIES)) this.set(labels, value);
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
    if (known.size >= MOST_SERIES && !known.has(key)) return other;
    known.add(key);
    return labels;
  };
}
