/** koa-body: what cannot be read within the limits is refused with the caller's status. */
import type { Context, Middleware } from "koa";
import type { KoaBodyMiddlewareOptions } from "koa-body";

/** koa-body is a large module: it is loaded with the first body, not at every start. */
export function parseBody(options: Partial<Omit<KoaBodyMiddlewareOptions, "onError">>): Middleware {
  let parser: Promise<Middleware> | undefined;
  return async (context, next) => {
    parser ??= import("koa-body").then(({ koaBody }) => koaBody({ ...options, onError: refuse }));
    return (await parser)(context, next);
  };
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
