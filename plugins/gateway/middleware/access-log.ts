/** One line a request: what was asked, by whom, how it went. Never a query, a header or a body. */
import type { Context, Middleware } from "koa";
import type { Proxies } from "../../../kernel/kit.ts";
import type { Log, Metrics, SignedIn } from "../../../kernel/plugin.ts";

// Monitoring asks for these every few seconds.
const QUIET = new Set(["/health", "/ready", "/metrics"]);
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** What the page reads for itself would drown the rest: it looks again every few seconds. */
function isPagesOwn({ method, status, state }: Context): boolean {
  const identity = state["identity"] as SignedIn | undefined;
  const isRead = method === "GET" && status < 400;
  return isRead && (identity?.session !== undefined || state["isPageFile"] === true);
}

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
    // At the end of the answer, not of the middleware: a stream goes on after it.
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

/** A limit that was hit, or a fault of ours, is for the operator to see. */
function levelOf(context: Context): "debug" | "info" | "warn" {
  const { path, status } = context;
  if (status === 429 || status >= 500) return "warn";
  return QUIET.has(path) || isPagesOwn(context) ? "debug" : "info";
}
