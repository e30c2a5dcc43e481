/** Telemetry that costs and records nothing: it stands in where the plugin is not started, as in a command. */
import type { Services } from "./plugin.ts";

type Telemetry = Services["telemetry"];

const SILENT_SPAN: ReturnType<Telemetry["tracer"]["start"]> = {
  traceparent: undefined,
  set() {},
  event() {},
  child: () => SILENT_SPAN,
  end() {},
};

export const SILENT: Telemetry = {
  tracer: { showsContent: false, start: () => SILENT_SPAN, tellsHost: () => false },
  metrics: {
    counter: () => ({ add() {} }),
    histogram: () => ({ observe() {} }),
    gauge() {},
    contentType: "text/plain; charset=utf-8",
    render: async () => "",
  },
};
