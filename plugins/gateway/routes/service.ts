/** How the service is doing: metrics, health and readiness, and the newest log lines. */

import { type Route, routesOf } from "../../../kernel/kit/http.ts";
import { LOG_LEVELS, matcherOf } from "../../../kernel/kit/log.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import type { RouteParts } from "../route.ts";

const route = routesOf("status");

export function metricsRoutes({ metrics }: RouteParts): readonly Route[] {
  return [
    route("GET /metrics", {
      summary: "Get metrics for Prometheus",
      audience: "operator",
      answer: "text/plain",
      handle({ context }) {
        context.type = metrics.contentType;
        return metrics.render();
      },
    }),
  ];
}

/** By this `postern doctor` recognizes a Postern that has the port. */
const HEALTH = { status: "ok", service: "postern" } as const;

const Health = Type.Object({
  status: Type.Literal(HEALTH.status),
  service: Type.Literal(HEALTH.service),
});

const Readiness = Type.Object({
  ready: Type.Boolean(),
  checks: Type.Array(Type.Object({ name: Type.String(), ok: Type.Boolean(), millis: Type.Integer() })),
});

export function healthRoutes({ kernel }: Pick<RouteParts, "kernel">): readonly Route[] {
  const route = routesOf("health");
  return [
    route("GET /health", {
      summary: "Check that the process is alive",
      audience: "anyone",
      answer: Health,
      handle: () => HEALTH,
    }),
    route("GET /ready", {
      summary: "Check that the store, the tool host and everything else with a readiness check are ready",
      audience: "anyone",
      answer: Readiness,
      refusals: { 503: { means: "Something is not ready; the body says what", answer: Readiness } },
      async handle({ context }) {
        const results = await kernel.readiness();
        const ready = results.every(({ ok }) => ok);
        if (!ready) context.status = 503;
        // The reason may name files, so it is only in the log.
        return { ready, checks: results };
      },
    }),
  ];
}

const LOG_PATH = "/api/logs";
const MAX_LOG_LINES = 500;
const word = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));
const level = Type.Enum([...LOG_LEVELS.slice(0, -1)], { description: "And what is more severe" });

export function logRoutes({ kernel, store }: RouteParts): readonly Route[] {
  return [
    route(`GET ${LOG_PATH}`, {
      summary: "List the newest log lines of the node that answers, oldest first",
      audience: "operator",
      query: Type.Object({
        level: Type.Optional(level),
        text: word,
        turn: word,
        user: word,
        after: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: "`last` of an earlier answer of this node: only lines since",
          }),
        ),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LOG_LINES })),
      }),
      answer: Type.Object({
        lines: Type.Array(Type.Record(Type.String(), Type.Unknown())),
        last: Type.Integer({ description: "The number of the newest line, whether it is listed or not" }),
        node: Type.String(),
      }),
      handle({ query: { after = 0, limit = MAX_LOG_LINES, ...query } }) {
        const recent = kernel.recentLog();
        const last = kernel.countLog();
        const matches = matcherOf(query as Parameters<typeof matcherOf>[0]);
        const lines: Record<string, unknown>[] = [];
        for (let at = recent.length - 1; at >= 0 && lines.length < limit; at--) {
          const number = last - (recent.length - 1 - at);
          if (number <= after) break;
          const line = recent[at] ?? "";
          if (!matches(line)) continue;
          const fields = JSON.parse(line) as Record<string, unknown>;
          // Requests for the log itself would drown the rest.
          if (fields["path"] !== LOG_PATH) lines.unshift({ number, ...fields });
        }
        return { lines, last, node: store.node.id };
      },
    }),
  ];
}
