/** Numbers for Prometheus, in a registry of this gateway's own. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export interface Metrics {
  observeRequest(method: string, route: string, status: number, seconds: number): void;
  /** A number that is asked for when the metrics are. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  readonly contentType: string;
  render(): Promise<string>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const labelNames = ["method", "route", "status"];
  const requests = new Counter({
    name: "postern_http_requests_total",
    help: "Answered HTTP requests",
    labelNames,
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "postern_http_request_seconds",
    help: "Time from a request to the end of its answer",
    labelNames: ["method", "route"],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers: [registry],
  });
  return {
    observeRequest(method, route, status, took) {
      requests.inc({ method, route, status });
      seconds.observe({ method, route }, took);
    },
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers: [registry],
        async collect() {
          this.set(await read());
        },
      });
    },
    contentType: registry.contentType,
    render: () => registry.metrics(),
  };
}
