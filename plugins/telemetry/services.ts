/** Metrics and traces for operators, as other plugins use them. They cost nothing while nobody collects them. */

export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(labels: Labels, by?: number): void;
}

export interface Histogram {
  observe(labels: Labels, value: number): void;
}

export interface Reading {
  readonly labels: Labels;
  readonly value: number;
}

/** Names follow Prometheus: a unit at the end, `_total` for what only grows. Label values beyond a bound count as "other". */
export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Counter;
  histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): Histogram;
  /** `read` is called when the metrics are rendered. */
  gauge(
    name: string,
    help: string,
    read: () => number | undefined | readonly Reading[] | Promise<number | undefined | readonly Reading[]>,
    labels?: readonly string[],
  ): void;
  readonly contentType: string;
  render(): Promise<string>;
}

export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface SpanOptions {
  readonly attributes?: Attributes;
  /** `client`: it waits for another server. */
  readonly kind?: "internal" | "client";
}

/** A piece of work with a beginning and an end. */
export interface Span {
  /** The header of that name for the next server; undefined while nothing is traced. */
  readonly traceparent: string | undefined;
  set(attributes: Attributes): void;
  event(name: string, attributes?: Attributes): void;
  child(name: string, options?: SpanOptions): Span;
  /** `error`: the code of what went wrong. */
  end(error?: string): void;
}

export interface Tracer {
  /** True where the words of people and models may be recorded. */
  readonly showsContent: boolean;
  /** `parent` and `links` are values of the header `traceparent`; what is not one is ignored. */
  start(
    name: string,
    options?: SpanOptions & { readonly parent?: string | undefined; readonly links?: readonly string[] },
  ): Span;
  /** True where a tool's requests to this host carry the `traceparent` header. */
  tellsHost(host: string): boolean;
}

/** The part of a trace that a tool call gets. */
export interface CallTrace {
  readonly span: Span;
  tellsHost: Tracer["tellsHost"];
}

export interface Telemetry {
  readonly metrics: Metrics;
  readonly tracer: Tracer;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    telemetry: Telemetry;
  }
}
