/** OpenTelemetry's own variables for traces. */
import type { Env } from "../../kernel/plugin.ts";

const PROTOCOLS = ["http/protobuf", "http/json"] as const;
const SAMPLERS = [
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
  "always_on",
  "always_off",
  "traceidratio",
] as const;

export type TraceSettings = NonNullable<ReturnType<typeof readTraceSettings>>;

export function readTraceSettings(env: Env) {
  const isOff = env.flag("OTEL_SDK_DISABLED", false, "Turns tracing off, whatever else is set");
  const base = env.url("OTEL_EXPORTER_OTLP_ENDPOINT", undefined, "Where traces are sent, as OTLP over HTTP");
  const own = env.url("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", undefined, "The same, with its whole path");
  const exporter = env.oneOf("OTEL_TRACES_EXPORTER", ["otlp", "none"], "otlp", "none: no traces are sent");
  const protocol = env.oneOf(
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    PROTOCOLS,
    "http/protobuf",
    "How traces are written; gRPC is not supported",
  );
  const headers = env.secret("OTEL_EXPORTER_OTLP_HEADERS", "Headers for the collector: name=value,…");
  const timeoutMillis = env.integer(
    "OTEL_EXPORTER_OTLP_TIMEOUT",
    10_000,
    { min: 100, max: 600_000 },
    "Milliseconds to wait for the collector",
  );
  const delayMillis = env.integer(
    "OTEL_BSP_SCHEDULE_DELAY",
    5_000,
    { min: 1, max: 600_000 },
    "Milliseconds that spans are gathered before they are sent",
  );
  const serviceName = env.text("OTEL_SERVICE_NAME", "postern", "The service's name in traces");
  const resource = env.text("OTEL_RESOURCE_ATTRIBUTES", undefined, "More about the service: name=value,…");
  const sampler = env.oneOf(
    "OTEL_TRACES_SAMPLER",
    SAMPLERS,
    "parentbased_always_on",
    "Which messages are traced",
  );
  const ratio =
    env.number("OTEL_TRACES_SAMPLER_ARG", 1, { min: 0, max: 1 }, "Share of messages for traceidratio") ?? 1;
  const content = env.flag(
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
    false,
    "Traces also hold what people, models and tools said",
  );
  const hosts = env.list(
    "TRACE_TOOL_HOSTS",
    "Hosts that learn the trace of a tool's request (traceparent); *.example.com for all below",
  );
  const url = own ?? (base && `${base}${base.endsWith("/") ? "" : "/"}v1/traces`);
  if (isOff || exporter === "none" || url === undefined) return undefined;
  return {
    ...{ url, protocol, timeoutMillis, delayMillis, serviceName, sampler, ratio, content, hosts },
    headers: pairs(env, "OTEL_EXPORTER_OTLP_HEADERS", headers),
    resource: pairs(env, "OTEL_RESOURCE_ATTRIBUTES", resource),
  };
}

function pairs(env: Env, name: string, text = ""): Readonly<Record<string, string>> {
  const entries: [string, string][] = [];
  for (const pair of text.split(",")) {
    if (pair.trim() === "") continue;
    const at = pair.indexOf("=");
    try {
      if (at < 1) throw new Error("no name");
      entries.push([pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]);
    } catch {
      env.refuse(name, "name=value pairs separated by commas, percent-encoded");
    }
  }
  return Object.fromEntries(entries);
}
