/** The thread that writes spans as OTLP and sends them, with OpenTelemetry's own exporters. */
import { parentPort, workerData } from "node:worker_threads";
import { type Attributes, type HrTime, type SpanContext, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { BatchResult, Destination } from "./sender.ts";
import type { SpanContext as Linked, SpanRecord } from "./spans.ts";

const { url, protocol, headers, timeoutMillis, resource: about } = workerData as Destination;
const resource = resourceFromAttributes(about);
const instrumentationScope = { name: "postern" };
const { OTLPTraceExporter } =
  protocol === "http/json"
    ? await import("@opentelemetry/exporter-trace-otlp-http")
    : await import("@opentelemetry/exporter-trace-otlp-proto");
const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis });

// One after the other, so that the results come in the order of the batches.
let last = Promise.resolve();
parentPort?.on("message", (batch: string) => {
  last = last.then(() => deliver(JSON.parse(batch) as SpanRecord[]));
});

function deliver(batch: readonly SpanRecord[]): Promise<void> {
  return new Promise((resolve) => {
    exporter.export(batch.map(readable), ({ error }) => {
      parentPort?.postMessage({ error: error?.message } satisfies BatchResult);
      resolve();
    });
  });
}

function readable(span: SpanRecord): ReadableSpan {
  const own = contextOf(span);
  const { parent, error } = span;
  return {
    name: span.name,
    kind: span.isClient ? SpanKind.CLIENT : SpanKind.INTERNAL,
    spanContext: () => own,
    parentSpanContext: parent === undefined ? undefined : contextOf({ trace: span.trace, id: parent }),
    startTime: timeOf(span.start),
    endTime: timeOf(span.end),
    duration: timeOf(span.end - span.start),
    status: { code: error === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR, message: error },
    attributes: {
      ...(Object.assign({}, ...span.attributes) as Attributes),
      ...(error !== undefined && { "error.type": error }),
    },
    links: span.links.map((link) => ({ context: contextOf(link) })),
    events: span.events.map(({ name, at, attributes }) => ({
      name,
      time: timeOf(at),
      attributes: attributes as Attributes,
    })),
    ended: true,
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function contextOf({ trace, id }: Linked): SpanContext {
  return { traceId: trace, spanId: id, traceFlags: 1 };
}

/** OpenTelemetry's form: seconds, and the nanoseconds beyond them. */
function timeOf(millis: number): HrTime {
  const seconds = Math.floor(millis / 1000);
  return [seconds, Math.round((millis - seconds * 1000) * 1e6)];
}
