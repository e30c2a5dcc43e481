/** Metrics, and traces if a collector is configured; otherwise their code is not loaded. */
import { SILENT } from "../../kernel/kit/log.ts";
import { definePlugin } from "../../kernel/plugin.ts";
import { readTraceSettings } from "./settings.ts";

export default definePlugin({
  name: "telemetry",
  needs: ["kernel"],
  provides: ["telemetry"],
  configure: (env) => ({ traces: readTraceSettings(env) }),
  async start({ config: { traces }, use: { kernel }, log, onStop, announce }) {
    // A command ends before anybody could read its metrics.
    if (!kernel.stays) {
      announce("off for commands");
      return { telemetry: SILENT };
    }
    const { createMetrics } = await import("./metrics.ts");
    const metrics = createMetrics();
    if (traces === undefined) {
      announce("metrics at /metrics; no traces (OTEL_EXPORTER_OTLP_ENDPOINT is not set)");
      return { telemetry: { metrics, tracer: SILENT.tracer } };
    }
    const { openTracing } = await import("./tracing/tracing.ts");
    const tracing = openTracing(traces, kernel.version, log);
    onStop(tracing.close);
    announce(`metrics at /metrics; traces to ${new URL(traces.url).origin}`);
    return { telemetry: { metrics, tracer: tracing.tracer } };
  },
});
