/** What every answer carries: a request id, and headers that keep a browser from being used against its user. */
import { randomUUID } from "node:crypto";
import type { Middleware } from "koa";
import type { Proxies } from "../../../kernel/net/proxies.ts";

// The page has no inline script or style and loads nothing from elsewhere, so nothing needs to be excepted.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = Object.entries({
  "Content-Security-Policy": POLICY,
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=()",
  "Cache-Control": "no-store",
});

export function nameRequests(): Middleware {
  return async (context, next) => {
    const given = context.get("x-request-id");
    const id = /^[\w.:-]{1,100}$/.test(given) ? given : randomUUID();
    context.state["requestId"] = id;
    context.set("X-Request-Id", id);
    await next();
  };
}

export function secureAnswers(proxies: Proxies): Middleware {
  return async (context, next) => {
    for (const [name, value] of HEADERS) context.res.setHeader(name, value);
    if (proxies.isHttps(context.req)) context.set("Strict-Transport-Security", "max-age=31536000");
    await next();
  };
}
