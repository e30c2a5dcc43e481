/** The whole path of a request, on one screen. */

import Router from "@koa/router";
import Koa, { type Context, type Middleware } from "koa";
import { secureAnswers, withTraceparent } from "../../kernel/kit/http.ts";
import { Fault, type Kernel, type Log } from "../../kernel/plugin.ts";
import type { Metrics } from "../telemetry/services.ts";
import { logRequests, nameRequests } from "./middleware/access-log.ts";
import { type BodyBudget, createBodyBudget } from "./middleware/body-budget.ts";
import { compressAnswers } from "./middleware/compression.ts";
import { allowListedOrigins } from "./middleware/cors.ts";
import { answerErrors } from "./middleware/errors.ts";
import { readJson } from "./middleware/json-body.ts";

import type { Pacing } from "./middleware/pace.ts";
import type { ProtocolParts, Protocols } from "./middleware/protocols.ts";

import { createSite } from "./middleware/site.ts";
import { createMounts, type Mounts, STOPPED } from "./mounts.ts";
import { MAX_BODY_BYTES, MAX_OPEN_BODY_BYTES, OPEN_BODY_LIMITS } from "./settings.ts";
import {
  type Authenticator,
  FOREIGN_ORIGIN,
  identityOf,
  type OriginCheck,
  Refusal,
} from "./sign-in/authenticator.ts";

export const STARTING = new Fault(
  "unavailable",
  "starting",
  "The service is starting: try again in a second.",
  {
    retryAfterSecs: 1,
  },
);

/** Smaller answers are on their way before they could add up. */
const MIN_HELD_BYTES = 64 * 1024;

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

export interface AppParts extends Omit<ProtocolParts, "host" | "issuer"> {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly protocols: Protocols;
  readonly kernel: Pick<Kernel, "isStarted">;
}

export function createApp(parts: AppParts) {
  const { log, metrics, proxies, authenticator, isOwnOrigin } = parts;
  const koa = new Koa();
  const open = new Router();
  const router = new Router();
  const site = createSite();
  const mounts = createMounts({ open, closed: router, bodies: parts.bodies });

  koa.use((context, next) => withTraceparent(context.req.headers["traceparent"], next));
  koa.use(nameRequests());
  koa.use(logRequests(log, metrics, proxies));
  koa.use(secureAnswers(proxies, site.policy));
  koa.use(allowListedOrigins(parts.allowedOrigins));
  koa.use(compressAnswers());
  koa.use(answerErrors(log));

  koa.use(site.serve);
  const openBodies = createBodyBudget(OPEN_BODY_LIMITS);
  open.use((context, next) => {
    openBodies.count(proxies.address(context.req), context.req, MAX_OPEN_BODY_BYTES);
    return next();
  });
  open.use(holdBody(openBodies, ({ req }) => proxies.address(req), MAX_OPEN_BODY_BYTES));
  open.use(readJson(MAX_OPEN_BODY_BYTES));
  koa.use(open.routes());

  // Protocols have a sign-in of their own and read the body themselves.
  koa.use(parts.protocols.middleware);
  koa.use(authenticate(authenticator));
  koa.use(refuseForeignPages(isOwnOrigin));
  koa.use(limitEach(parts));
  koa.use(waitInPace(parts.pacing));
  koa.use(holdBody(parts.bodies, ({ state }) => state["identity"].user.id, MAX_BODY_BYTES));
  koa.use(
    readJson(MAX_BODY_BYTES, (context, bytes) => parts.pacing.count(identityOf(context).user.id, bytes)),
  );
  koa.use(holdAnswer(parts.bodies, parts.pacing));
  koa.use(refuseUnmounted(parts.kernel, mounts));
  koa.use(router.routes());
  koa.use(router.allowedMethods());

  // A connection that breaks while the response is sent ends here, after all middleware.
  koa.on("error", (error) => log.debug({ error }, "a response could not be sent completely"));
  return { koa, mounts, mountSite: site.mount };
}

/** Every route, before its body is read. A body counts for its user even if its request is refused. */
function limitEach({ limitRequests, bodies, limitWrites }: AppParts): Middleware {
  return async (context, next) => {
    const { id: user } = identityOf(context).user;
    limitRequests(user, context.res);
    bodies.count(user, context.req, MAX_BODY_BYTES);
    if (!SAFE_METHODS.has(context.method)) await limitWrites(user, context);
    await next();
  };
}

function waitInPace(pacing: Pacing): Middleware {
  return async (context, next) => {
    await pacing.wait(identityOf(context).user.id);
    if (isGone(context)) return;
    await next();
  };
}

/** The caller hung up while the request waited: nothing is done for nobody. */
function isGone(context: Context): boolean {
  if (context.socket.destroyed) context.respond = false;
  return context.socket.destroyed;
}

function holdBody(budget: BodyBudget, callerOf: (context: Context) => string, maxBytes: number): Middleware {
  return (context, next) => {
    budget.hold(callerOf(context), context.req, context.res, maxBytes);
    return next();
  };
}

/** A large answer counts until its reader has taken it. What changed something is answered in any case. */
function holdAnswer(budget: BodyBudget, pacing: Pacing): Middleware {
  const answer = async (context: Context, next: () => Promise<unknown>, user: string) => {
    await next();
    const { body } = context;
    if (context.respond === false || !isPlain(body)) return;
    // As Koa would write it.
    const text = JSON.stringify(body);
    const bytes = Buffer.byteLength(text);
    pacing.count(user, bytes);
    if (bytes > MIN_HELD_BYTES) budget.holdAnswer(user, context.res, bytes);
    context.body = text;
  };
  return async (context, next) => {
    const { id: user } = identityOf(context).user;
    if (!SAFE_METHODS.has(context.method)) return await next();
    // A stream lasts as long as its turn.
    if (context.query["stream"] === "true") return await answer(context, next, user);
    await pacing.inTurn(user, async () => {
      await pacing.wait(user);
      if (isGone(context)) return;
      await answer(context, next, user);
    });
  };
}

const isPlain = (body: unknown) =>
  Array.isArray(body) ||
  (typeof body === "object" && body !== null && Object.getPrototypeOf(body) === Object.prototype);

function authenticate(authenticator: Authenticator): Middleware {
  return async (context, next) => {
    const verdict = await authenticator.identify(context.req);
    if (verdict instanceof Refusal) throw verdict;
    context.state["identity"] = verdict;
    await next();
  };
}

/** While plugins start or stop, an address without a route may get one or had one: a caller should try again. */
function refuseUnmounted(kernel: AppParts["kernel"], mounts: Mounts): Middleware {
  return async (context, next) => {
    const wasStarted = kernel.isStarted;
    await next();
    if (context.body !== undefined || context.status < 400) return;
    if (!wasStarted) throw STARTING;
    if (mounts.wasMounted(context.path)) throw STOPPED;
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
