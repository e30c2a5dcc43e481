/** The whole path of a request, on one screen. */

import Router from "@koa/router";
import Koa, { type Middleware } from "koa";
import { compressAnswers, type Proxies, readJson, secureAnswers, withTraceparent } from "../../kernel/kit.ts";
import type { Log, Metrics } from "../../kernel/plugin.ts";
import { logRequests } from "./middleware/access-log.ts";
import { BODY_BYTES, OPEN_BODY_BYTES } from "./middleware/body-limits.ts";
import { answerListedOrigins } from "./middleware/cors.ts";
import { answerErrors } from "./middleware/errors.ts";
import { nameRequests, PAGE_POLICY } from "./middleware/headers.ts";
import type { ServedPage } from "./middleware/page-files.ts";
import type { Protocols } from "./middleware/protocols.ts";
import { type Authenticator, FOREIGN_ORIGIN, type OriginCheck, Refusal } from "./sign-in/authenticator.ts";

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

export interface AppParts {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly proxies: Proxies;
  readonly authenticator: Authenticator;
  readonly isOwnOrigin: OriginCheck;
  /** Beside our own. */
  readonly allowedOrigins: readonly string[];
  readonly page: ServedPage;
  readonly protocols: Protocols;
}

export interface App {
  readonly koa: Koa;
  /** Reached by anyone. */
  readonly open: Router;
  /** Reached only with a valid token. */
  readonly router: Router;
}

export function createApp(parts: AppParts): App {
  const { log, metrics, proxies, authenticator, isOwnOrigin, page } = parts;
  const koa = new Koa();
  const open = new Router();
  const router = new Router();

  koa.use((context, next) => withTraceparent(context.req.headers["traceparent"], next));
  koa.use(nameRequests());
  koa.use(logRequests(log, metrics, proxies));
  koa.use(secureAnswers(proxies, PAGE_POLICY));
  koa.use(answerListedOrigins(parts.allowedOrigins));
  koa.use(compressAnswers());
  koa.use(answerErrors(log));

  koa.use(page.middleware);
  open.use(readJson(OPEN_BODY_BYTES));
  koa.use(open.routes());

  // With a sign-in of their own, and before a body is read.
  koa.use(parts.protocols.middleware);
  koa.use(authenticate(authenticator));
  koa.use(refuseForeignPages(isOwnOrigin));
  koa.use(readJson(BODY_BYTES));
  koa.use(router.routes());
  koa.use(router.allowedMethods());

  // A connection that breaks mid-answer ends here, after everything else has had its say.
  koa.on("error", (error) => log.debug({ error }, "a response could not be sent completely"));
  return { koa, open, router };
}

/** Before any handler, and before a body is read. */
function authenticate(authenticator: Authenticator): Middleware {
  return async (context, next) => {
    const verdict = await authenticator.identify(context.req);
    if (verdict instanceof Refusal) throw verdict;
    context.state["identity"] = verdict;
    await next();
  };
}

/** A browser sends a cookie along with requests of other sites too; a bearer header it does not. */
function refuseForeignPages(isOwnOrigin: OriginCheck): Middleware {
  return async (context, next) => {
    const byCookie = context.state["identity"].session !== undefined;
    if (byCookie && !SAFE_METHODS.has(context.method) && !isOwnOrigin(context.req)) throw FOREIGN_ORIGIN;
    await next();
  };
}
