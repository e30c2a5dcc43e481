/** Reads the JSON body of a request. */
import type { Context, Middleware } from "koa";
import { parseLargeJson, readText } from "../../../kernel/kit/http.ts";
import { Fault } from "../../../kernel/plugin.ts";

/** Bodies of `application/json`, parsed; all others are left alone. */
export function readJson(bytes: number, count?: (context: Context, bytes: number) => void): Middleware {
  const read = readText({ types: ["json"], maxBytes: bytes });
  return async (context, next) => {
    if (!context.is("json")) return next();
    // A few kilobytes may unpack to anything, and the size is known only once it is in memory.
    if (!/^(?:identity)?$/i.test(context.get("content-encoding"))) context.throw(415);
    await read(context, async () => {});
    const { body } = context.request;
    if (typeof body === "string") count?.(context, body.length);
    // An empty body stays as it is: the declaration of the route says what is missing.
    if (typeof body === "string" && body !== "") {
      try {
        context.request.body = (await parseLargeJson(body)) as typeof body;
      } catch (error) {
        if (error instanceof Fault) throw error;
        context.throw(400, (error as Error).message);
      }
    }
    await next();
  };
}
