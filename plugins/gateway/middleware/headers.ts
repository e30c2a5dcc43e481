/** The gateway's request ids, and what its page may do. */
import { randomUUID } from "node:crypto";
import type { Middleware } from "koa";
import type { Policy } from "../../../kernel/kit.ts";

/** The page has no inline script or style and loads nothing from elsewhere. */
export const PAGE_POLICY: Policy = {
  "script-src": ["'self'"],
  "style-src": ["'self'"],
  "img-src": ["'self'", "data:"],
  "font-src": ["'self'"],
  "connect-src": ["'self'"],
  "manifest-src": ["'self'"],
  "form-action": ["'self'"],
};

export function nameRequests(): Middleware {
  return async (context, next) => {
    const given = context.get("x-request-id");
    const id = /^[\w.:-]{1,100}$/.test(given) ? given : randomUUID();
    context.state["requestId"] = id;
    context.set("X-Request-Id", id);
    await next();
  };
}
