/** What a process supervisor or a load balancer asks. */

import { Type } from "../../../../kernel/kit.ts";
import type { Kernel } from "../../../../kernel/plugin.ts";
import { type Route, route } from "../../route.ts";

/** How `postern doctor` knows that what answers on a port is one of us. */
const HEALTH = { status: "ok", service: "postern" } as const;

const Health = Type.Object({
  status: Type.Literal(HEALTH.status),
  service: Type.Literal(HEALTH.service),
});

const Readiness = Type.Object({
  ready: Type.Boolean(),
  checks: Type.Array(Type.Object({ name: Type.String(), ok: Type.Boolean(), millis: Type.Integer() })),
});

export function healthRoutes(kernel: Kernel): readonly Route[] {
  return [
    route({
      method: "get",
      path: "/health",
      tag: "health",
      summary: "Check that the process is alive",
      audience: "anyone",
      answer: Health,
      handle: () => HEALTH,
    }),
    route({
      method: "get",
      path: "/ready",
      tag: "health",
      summary: "Check that the store, the tool host and everything else with a readiness check are ready",
      audience: "anyone",
      answer: Readiness,
      refusals: { 503: { means: "Something is not ready; the body says what", answer: Readiness } },
      async handle({ context }) {
        const results = await kernel.readiness();
        const ready = results.every(({ ok }) => ok);
        if (!ready) context.status = 503;
        // Why something is not ready may name files, so it is not declared; it is in the log.
        return { ready, checks: results };
      },
    }),
  ];
}
