/** Lets pages of the listed origins call the API from a browser. */
import type { Middleware } from "koa";
import { RATE_LIMIT_HEADERS } from "../../../kernel/kit/http.ts";

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
const READABLE = [
  "x-request-id",
  "retry-after",
  "x-should-retry",
  "www-authenticate",
  "mcp-session-id",
  ...RATE_LIMIT_HEADERS,
].join(", ");
const PREFLIGHT_SECS = "600";
const HEADER_NAMES = /^[\w-]+(?:,[ \t]*[\w-]+)*$/;

export function allowListedOrigins(allowed: readonly string[]): Middleware {
  const listed = new Set(allowed);
  return async (context, next) => {
    if (listed.size > 0) context.vary("Origin");
    const origin = context.get("origin");
    if (!listed.has(origin)) return next();
    context.set("Access-Control-Allow-Origin", origin);
    context.set("Access-Control-Allow-Credentials", "true");
    context.set("Access-Control-Expose-Headers", READABLE);
    if (context.method !== "OPTIONS" || context.get("access-control-request-method") === "") return next();
    // A browser sends the preflight without the token.
    const asked = context.get("access-control-request-headers");
    context.set("Access-Control-Allow-Methods", METHODS);
    if (asked.length <= 1000 && HEADER_NAMES.test(asked)) context.set("Access-Control-Allow-Headers", asked);
    if (context.get("access-control-request-private-network") === "true")
      context.set("Access-Control-Allow-Private-Network", "true");
    context.set("Access-Control-Max-Age", PREFLIGHT_SECS);
    context.status = 204;
  };
}
