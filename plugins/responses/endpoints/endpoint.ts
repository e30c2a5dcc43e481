/** How an endpoint of this API is declared and mounted: every one answers its errors in the same envelope. */
import type { Context, Middleware } from "koa";
import { routerPath } from "../../../kernel/kit.ts";
import type { Log, RouteDescription, Web } from "../../../kernel/plugin.ts";
import { refusalOf } from "../wire/refusal.ts";

export type Endpoint = Omit<RouteDescription, "tag"> & { handle(context: Context): void | Promise<void> };

/** What endpoints are mounted with. */
export interface Mounting {
  readonly web: Web;
  readonly log: Log;
}

export function mountEndpoints(
  { web, log }: Mounting,
  prefixes: readonly string[],
  endpoints: readonly Endpoint[],
): void {
  const guard = answerFaults(log);
  for (const prefix of prefixes) {
    for (const { handle, ...description } of endpoints) {
      const path = prefix + description.path;
      web.router[description.method](routerPath(path), guard, handle);
      web.describe([{ ...description, path, tag: "responses" }]);
    }
  }
}

function answerFaults(log: Log): Middleware {
  return async (context, next) => {
    try {
      await next();
    } catch (error) {
      const { status, headers, body } = refusalOf(error, context.state["turnBegan"] === true);
      if (status >= 500) log.error({ error, request: context.state["requestId"] }, body.error.message);
      context.status = status;
      context.set(headers);
      context.body = body;
    }
  };
}
