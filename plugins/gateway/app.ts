/** The whole path of a request, on one screen. */

import Router from "@koa/router";
import Koa, { type Middleware } from "koa";
import {
  compressAnswers,
  type Metrics,
  type Proxies,
  readJson,
  secureAnswers,
  withTraceparent,
} from "../../kernel/kit.ts";
import type { Log } from "../../kernel/plugin.ts";
import { logRequests, nameRequests } from "./middleware/access-log.ts";
import { allowListedOrigins } from "./middleware/cors.ts";
import { answerErrors } from "./middleware/errors.ts";
import { PAGE_POLICY, type ServedPage } from "./middleware/page-files.ts";
import type { Protocols } from "./middleware/protocols.ts";
import { MAX_BODY_BYTES, MAX_OPEN_BODY_BYTES } from "./settings.ts";
import { type Authenticator, FOREIGN_ORIGIN, type OriginCheck, Refusal } from "./sign-in/authenticator.ts";

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

export interface AppParts {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly proxies: Proxies;
  readonly authenticator: Authenticator;
  readonly isOwnOrigin: OriginCheck;
  readonly allowedOrigins: readonly string[];
  readonly page: ServedPage;
  readonly protocols: Protocols;
}

export interface App {
  readonly koa: Koa;
  /** Its routes need no token. */
  readonly open: Router;
  /** Its routes need a valid token. */
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
  koa.use(allowListedOrigins(parts.allowedOrigins));
  koa.use(compressAnswers());
  koa.use(answerErrors(log));

  koa.use(page.middleware);
  open.use(readJson(MAX_OPEN_BODY_BYTES));
  koa.use(open.routes());

  // Protocols have a sign-in of their own and read the body themselves.
  koa.use(parts.protocols.middleware);
  koa.use(authenticate(authenticator));
  koa.use(refuseForeignPages(isOwnOrigin));
  koa.use(readJson(MAX_BODY_BYTES));
  koa.use(router.routes());
  koa.use(router.allowedMethods());

  // A connection that breaks while the response is sent ends here, after all middleware.
  koa.on("error", (error) => log.debug({ error }, "a response could not be sent completely"));
  return { koa, open, router };
}

function authenticate(authenticator: Authenticator): Middleware {
  return async (context, next) => {
    const verdict = await authenticator.identify(context.req);
    if (verdict instanceof Refusal) throw verdict;
    context.state["identity"] = verdict;
    await next();
  };
}

/** A browser sends the cookie with requests of other sites too, but never a bearer header. */
function refuseForeignPages(isOwnOrigin: OriginCheck): Middleware {
  return async (context, next) => {
    const byCookie = context.state["identity"].session !== undefined;
    if (byCookie && !SAFE_METHODS.has(context.method) && !isOwnOrigin(context.req)) throw FOREIGN_ORIGIN;
    await next();
  };
}
