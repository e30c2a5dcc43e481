/** What a process supervisor or a load balancer asks. */
import type { Kernel } from "../../../kernel/plugin.ts";
import { type Route, route } from "../route.ts";

/** How `postern doctor` knows that what answers on a port is one of us. */
export const HEALTH = { status: "ok", service: "postern" } as const;

export function healthRoutes(kernel: Kernel): readonly Route[] {
  return [
    route({
      method: "get",
      path: "/health",
      tag: "health",
      summary: "The process is alive",
      audience: "anyone",
      answer: {
        type: "object",
        required: ["status", "service"],
        properties: { status: { const: HEALTH.status }, service: { const: HEALTH.service } },
      },
      handle: () => HEALTH,
    }),
    route({
      method: "get",
      path: "/ready",
      tag: "health",
      summary: "The store, the tool host and whatever else has a check of its own answer",
      audience: "anyone",
      answer: {
        type: "object",
        required: ["ready", "checks"],
        properties: {
          ready: { type: "boolean" },
          checks: {
            type: "array",
            items: {
              type: "object",
              required: ["name", "ok", "millis"],
              properties: { name: { type: "string" }, ok: { type: "boolean" }, millis: { type: "integer" } },
            },
          },
        },
      },
      refusals: { 503: "Something is not ready; the body says what" },
      async handle({ context }) {
        const results = await kernel.readiness();
        const ready = results.every(({ ok }) => ok);
        // Why something is not ready may name files; whoever may read the log finds it there.
        const checks = results.map(({ name, ok, millis }) => ({ name, ok, millis }));
        if (!ready) context.status = 503;
        return { ready, checks };
      },
    }),
  ];
}
