/** Traces by OpenTelemetry's SDK. This file is read only where a collector is named. */
import {
  context,
  type Link,
  type Tracer as OtelTracer,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import type { Attributes, Span, SpanOptions, Tracer } from "../../kernel/log/telemetry.ts";
import type { TraceSettings } from "./settings.ts";

export interface Tracing {
  readonly tracer: Tracer;
  /** Sends what is left. */
  close(): Promise<void>;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const NOWHERE = /^0+$/;

export function openTracing(settings: TraceSettings, about: Readonly<Record<string, string>>): Tracing {
  const { url, headers, timeoutMillis } = settings;
  const Exporter = settings.protocol === "http/json" ? JsonExporter : ProtobufExporter;
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      "service.name": settings.serviceName,
      ...about,
      ...settings.resource,
    }),
    sampler: samplerOf(settings),
    spanProcessors: [new BatchSpanProcessor(new Exporter({ url, headers: { ...headers }, timeoutMillis }))],
  });
  const otel = provider.getTracer("postern");
  return {
    tracer: {
      showsContent: settings.content,
      tellsHost: (host) => settings.hosts.some((pattern) => isHost(pattern, host)),
      start(name, { parent, links = [], ...options } = {}) {
        const around = parent === undefined ? undefined : readParent(parent);
        const linked = links.flatMap((link): Link[] => {
          const found = readParent(link);
          return found ? [{ context: found }] : [];
        });
        return begin(otel, name, around, options, linked);
      },
    },
    close: () => provider.shutdown(),
  };
}

function begin(
  otel: OtelTracer,
  name: string,
  parent: SpanContext | undefined,
  { attributes = {}, kind = "internal" }: SpanOptions,
  links: readonly Link[] = [],
): Span {
  const root = context.active();
  const span = otel.startSpan(
    name,
    {
      kind: kind === "client" ? SpanKind.CLIENT : SpanKind.INTERNAL,
      attributes: given(attributes),
      links: [...links],
    },
    parent === undefined ? root : trace.setSpanContext(root, parent),
  );
  const own = span.spanContext();
  return {
    traceparent: `00-${own.traceId}-${own.spanId}-0${own.traceFlags & 1}`,
    set: (more) => void span.setAttributes(given(more)),
    event: (title, more = {}) => void span.addEvent(title, given(more)),
    child: (title, options = {}) => begin(otel, title, own, options),
    end(error) {
      if (error !== undefined) {
        span.setAttribute("error.type", error);
        span.setStatus({ code: SpanStatusCode.ERROR, message: error });
      }
      span.end();
    },
  };
}

/** Without what is not there: the SDK would warn of it. */
function given(attributes: Attributes): Record<string, string | number | boolean | string[]> {
  const entries = Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? [...value] : value] as const],
  );
  return Object.fromEntries(entries) as Record<string, string | number | boolean | string[]>;
}

function readParent(text: string): SpanContext | undefined {
  const [, traceId = "", spanId = "", flags = ""] = TRACEPARENT.exec(text) ?? [];
  if (traceId === "" || NOWHERE.test(traceId) || NOWHERE.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

function samplerOf({ sampler, ratio }: TraceSettings): Sampler {
  const kind = sampler.replace("parentbased_", "");
  const root =
    kind === "always_on"
      ? new AlwaysOnSampler()
      : kind === "always_off"
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
  return sampler.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}

function isHost(pattern: string, host: string): boolean {
  const wanted = pattern.toLowerCase();
  return wanted.startsWith("*.")
    ? host.endsWith(wanted.slice(1)) && host.length > wanted.length - 1
    : host === wanted;
}
