/** Gives each request an id and logs one line about it: never a query, a header or a body. */
import { randomUUID } from "node:crypto";
import type { Context, Middleware } from "koa";
import type { Proxies } from "../../../kernel/kit/http.ts";
import type { Log } from "../../../kernel/plugin.ts";
import type { SignedIn } from "../../accounts/services.ts";
import type { Metrics } from "../../telemetry/services.ts";

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function logRequests(log: Log, metrics: Metrics, proxies: Proxies): Middleware {
  const requests = metrics.counter("postern_http_requests_total", "Answered HTTP requests", [
    "method",
    "route",
    "status",
  ]);
  const seconds = metrics.histogram(
    "postern_http_request_seconds",
    "Time from a request to the end of its answer",
    ["method", "route"],
    [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
  );
  return async (context, next) => {
    const began = performance.now();
    const { method, path } = context;
    // Logged when the response ends, not the middleware: a stream is sent after it.
    context.res.once("close", () => {
      const { status, state } = context;
      const millis = Math.round(performance.now() - began);
      const route = context["_matchedRoute"];
      const labels = {
        method: METHODS.has(method) ? method : "other",
        route: typeof route === "string" ? route : "other",
      };
      requests.add({ ...labels, status: String(status) });
      seconds.observe(labels, millis / 1000);
      const entry = {
        request: state["requestId"],
        method,
        path,
        status,
        millis,
        code: state["code"],
        user: (state["identity"] as SignedIn | undefined)?.user.id,
        address: proxies.address(context.req),
      };
      log[levelOf(context)](entry, `${method} ${path} ${status}`);
    });
    await next();
  };
}

/** The operator should notice a limit that was hit and a fault of ours; every other request would drown what the service says. */
function levelOf({ status }: Context): "debug" | "warn" {
  return status === 429 || status >= 500 ? "warn" : "debug";
}

export function nameRequests(): Middleware {
  return async (context, next) => {
    const given = context.get("x-request-id");
    const id = /^[\w.:-]{1,100}$/.test(given) ? given : randomUUID();
    context.state["requestId"] = id;
    context.set("X-Request-Id", id);
    await next();
  };
}
