/** What is measured and traced, for those who run this. Where nobody listens, nothing is spent. */

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
  /** Asked for when the metrics are. */
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
  /** For the next server, as the header of that name; undefined where nothing is traced. */
  readonly traceparent: string | undefined;
  set(attributes: Attributes): void;
  event(name: string, attributes?: Attributes): void;
  child(name: string, options?: SpanOptions): Span;
  /** `error`: the code of what went wrong. */
  end(error?: string): void;
}

export interface Tracer {
  /** Whether what people and models say may be recorded. */
  readonly showsContent: boolean;
  /** `parent` and `links` are values of the header `traceparent`; what is not one is ignored. */
  start(
    name: string,
    options?: SpanOptions & { readonly parent?: string | undefined; readonly links?: readonly string[] },
  ): Span;
  /** Whether a tool's requests to this host tell it which trace they belong to. */
  tellsHost(host: string): boolean;
}

/** What a tool call is given of the trace that it belongs to. */
export interface CallTrace {
  readonly span: Span;
  tellsHost: Tracer["tellsHost"];
}

export interface Telemetry {
  readonly metrics: Metrics;
  readonly tracer: Tracer;
}

const SILENT_SPAN: Span = {
  traceparent: undefined,
  set() {},
  event() {},
  child: () => SILENT_SPAN,
  end() {},
};

export const SILENT_TRACER: Tracer = {
  showsContent: false,
  start: () => SILENT_SPAN,
  tellsHost: () => false,
};

/** For what runs without the plugin, such as a command. */
export const SILENT: Telemetry = {
  tracer: SILENT_TRACER,
  metrics: {
    counter: () => ({ add() {} }),
    histogram: () => ({ observe() {} }),
    gauge() {},
    contentType: "text/plain; charset=utf-8",
    render: async () => "",
  },
};
