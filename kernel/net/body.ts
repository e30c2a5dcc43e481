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

/** A new error, because the parsers attach the body to theirs. */
function refuse(error: Error, context: Context): never {
  const status = statusOf(error as ParserError);
  if (status === undefined) throw error;
  return context.throw(status, error.message);
}

interface ParserError extends Error {
  /** Of co-body and what it reads with. */
  readonly status?: number;
  /** Of formidable, which calls a caller that hangs up and an unknown transfer encoding its own fault. */
  readonly httpCode?: number;
  readonly code?: string | number;
}

function statusOf({ status, httpCode, code }: ParserError): number | undefined {
  if (status !== undefined) return status;
  if (httpCode !== undefined) return httpCode === 413 ? 413 : 400;
  // zlib's and Brotli's codes: the body is not compressed as it claims to be.
  return /^(?:Z|ERR_)_/.test(String(code)) ? 400 : undefined;
}
