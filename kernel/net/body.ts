/** Request bodies, read by koa-body: what cannot be read within the limits is refused with the caller's status. */
import type { Context, Middleware } from "koa";
import type { KoaBodyMiddlewareOptions } from "koa-body";

export type BodyOptions = Partial<Omit<KoaBodyMiddlewareOptions, "onError">>;

/** koa-body is a large module: it is loaded with the first body, not at every start. */
export function readBody(options: BodyOptions): Middleware {
  let parser: Promise<Middleware> | undefined;
  return async (context, next) => {
    parser ??= import("koa-body").then(({ koaBody }) => koaBody({ ...options, onError: refuse }));
    return (await parser)(context, next);
  };
}

/** Bodies of `application/json`, parsed; all others are left alone. */
export function readJson(bytes: number): Middleware {
  const readText = readBody({
    json: false,
    urlencoded: false,
    multipart: false,
    text: true,
    textTypes: ["json"],
    textLimit: bytes,
  });
  return async (context, next) => {
    if (!context.is("json")) return next();
    await readText(context, async () => {});
    const { body } = context.request;
    // An empty body stays as it is: the declaration of the route says what is missing.
    if (typeof body === "string" && body !== "") {
      try {
        context.request.body = parseJson(body) as typeof body;
      } catch (error) {
        context.throw(400, (error as Error).message);
      }
    }
    await next();
  };
}

// Written plainly or with an escape for any of its letters.
const MAY_HOLD_PROTO = /__proto__|\\u00/;

/**
 * JSON from outside. A field named `__proto__` is an unknown field like others, and unknown fields are ignored; but the
 * first code that copies it into another object would change that object's nature. So it does not get further than here.
 */
export function parseJson(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  if (!MAY_HOLD_PROTO.test(text)) return parsed;
  // Not recursive: a body may nest deeper than a stack reaches.
  const waiting = [parsed];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (typeof node !== "object" || node === null) continue;
    Reflect.deleteProperty(node, "__proto__");
    for (const inner of Object.values(node)) waiting.push(inner);
  }
  return parsed;
}

/** A new error, because the parsers attach the body to theirs. */
function refuse(error: Error, context: Context): never {
  const status = statusOf(error as ParserError);
  if (status === undefined) throw error;
  return context.throw(status, error.message);
}

interface ParserError extends Error {
  /** Set by co-body and the stream readers below it. */
  readonly status?: number;
  /** Set by formidable, which reports a caller that hangs up, or an unknown transfer encoding, as an internal error. */
  readonly httpCode?: number;
  readonly code?: string | number;
}

function statusOf({ status, httpCode, code }: ParserError): number | undefined {
  if (status !== undefined) return status;
  if (httpCode !== undefined) return httpCode === 413 ? 413 : 400;
  // zlib's and Brotli's codes: the body is not compressed as it claims to be.
  return /^(?:Z|ERR_)_/.test(String(code)) ? 400 : undefined;
}
