/** One line a request: what was asked, by whom, how it went. Never a query, a header or a body. */
import type { Middleware } from "koa";
import type { Proxies } from "../../../kernel/net/proxies.ts";
import type { Log } from "../../../kernel/plugin.ts";
import type { Identity } from "../auth/identity.ts";
import type { Metrics } from "./metrics.ts";

// Monitoring asks for these every few seconds.
const QUIET = new Set(["/health", "/ready"]);

export function logRequests(log: Log, metrics: Metrics, proxies: Proxies): Middleware {
  return async (context, next) => {
    const began = performance.now();
    const { method, path } = context;
    // At the end of the answer, not of the middleware: a stream goes on after it.
    context.res.once("close", () => {
      const { status, state } = context;
      const millis = Math.round(performance.now() - began);
      const route = context["_matchedRoute"];
      metrics.observeRequest(method, typeof route === "string" ? route : "other", status, millis / 1000);
      const entry = {
        request: state["requestId"],
        method,
        path,
        status,
        millis,
        user: (state["identity"] as Identity | undefined)?.user.id,
        address: proxies.address(context.req),
      };
      log[QUIET.has(path) ? "debug" : "info"](entry, `${method} ${path} ${status}`);
    });
    await next();
  };
}
