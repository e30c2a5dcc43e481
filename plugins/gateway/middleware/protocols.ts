/** Protocols that plugins mount: the gateway checks the sign-in. Clients find the identity provider by RFC 9728. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context, Next } from "koa";
import { type Proxies, SCOPED_TOKEN } from "../../../kernel/kit/http.ts";
import { isLoopback } from "../../../kernel/kit/outbound.ts";
import type { SignedIn } from "../../accounts/services.ts";
import { STOPPED } from "../mounts.ts";
import type { MountedProtocol } from "../services.ts";
import { MAX_BODY_BYTES } from "../settings.ts";
import {
  type Authenticator,
  FOREIGN_ORIGIN,
  type OriginCheck,
  Refusal,
  readBearer,
  UNKNOWN,
} from "../sign-in/authenticator.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { Pacing } from "./pace.ts";

/** Throws a fault where the user writes too often. */
export type LimitWrites = (user: string, answer: Pick<Context, "set">) => Promise<void>;

/** Throws a fault if too many of the user's requests are open. */
export type LimitRequests = (user: string, response: ServerResponse) => void;

const METADATA_PATH = "/.well-known/oauth-protected-resource";
const RECHECK_MS = 30_000;

export interface ProtocolParts {
  readonly authenticator: Authenticator;
  readonly proxies: Proxies;
  readonly bodies: BodyBudget;
  readonly pacing: Pacing;
  readonly limitWrites: LimitWrites;
  readonly limitRequests: LimitRequests;
  readonly isOwnOrigin: OriginCheck;
  readonly allowedOrigins: readonly string[];
  /** The interface that the gateway listens on. */
  readonly host: string;
  readonly issuer: string | undefined;
}

interface Mounted extends MountedProtocol {
  /** A further audience that tokens of the identity provider may be meant for. */
  readonly audience: string;
}

export type Protocols = ReturnType<typeof createProtocols>;

export function createProtocols(parts: ProtocolParts) {
  const { authenticator, proxies, isOwnOrigin, issuer } = parts;
  const mounted = new Map<string, Mounted>();
  const open = new Map<Context, SignedIn>();
  const listed = new Set(parts.allowedOrigins);
  const isLocal = isLoopback(parts.host);

  const check = async ([context, identity]: readonly [Context, SignedIn]): Promise<void> => {
    if (!(await authenticator.isValid(identity))) context.res.destroy();
  };
  /** Ends the streams of users who are no longer signed in. */
  const recheck = async (): Promise<void> => {
    await Promise.all([...open].map(check));
  };
  const timer = setInterval(() => void recheck(), RECHECK_MS);
  timer.unref();

  /** The origin as the client knows it; empty if the header does not name a host. */
  const originOf = (request: IncomingMessage) =>
    URL.parse(`${proxies.isHttps(request) ? "https" : "http"}://${proxies.host(request)}`)?.origin ?? "";
  const resourceOf = ({ resource, path }: Mounted, request: IncomingMessage) =>
    resource ?? originOf(request) + path;
  const metadataOf = ({ resource, path }: Mounted, request: IncomingMessage) =>
    (resource === undefined ? originOf(request) : new URL(resource).origin) + METADATA_PATH + path;

  /** DNS rebinding: an attacker's host name that resolves to this machine makes their page look like ours. */
  const isRebound = (request: IncomingMessage): boolean => {
    const { host = "", origin = "" } = request.headers;
    const name = URL.parse(`http://${host}`)?.hostname ?? "";
    return isLocal && proxies.host(request) === host && !listed.has(origin) && !isLoopback(name);
  };
  const isForeign = (request: IncomingMessage): boolean =>
    request.headers.origin !== undefined && (!isOwnOrigin(request) || isRebound(request));

  const identify = async (protocol: Mounted, { req }: Context): Promise<SignedIn | Refusal> => {
    const token = readBearer(req.headers.authorization ?? "");
    return token === undefined ? UNKNOWN : authenticator.admit(token, req, protocol.audience);
  };

  const challenge = (protocol: Mounted, context: Context, { status, message }: Refusal): void => {
    context.status = status;
    context.body = message;
    if (status !== 401) return;
    const metadata = `resource_metadata="${metadataOf(protocol, context.req)}"`;
    const error = context.get("authorization") === "" ? [] : ['error="invalid_token"'];
    const params = issuer === undefined ? [] : [...error, metadata];
    context.set("WWW-Authenticate", ["Bearer", params.join(", ")].join(" ").trim());
  };

  const describe = (protocol: Mounted, context: Context): void => {
    // Any page may read it: it contains nothing that a request without a token does not get.
    context.set("Access-Control-Allow-Origin", "*");
    context.body = {
      resource: resourceOf(protocol, context.req),
      authorization_servers: [issuer],
      bearer_methods_supported: ["header"],
      scopes_supported: ["openid", "email"],
      resource_name: protocol.title,
    };
  };

  const serve = async (protocol: Mounted, context: Context): Promise<void> => {
    const { req, res } = context;
    if (isForeign(req)) return challenge(protocol, context, FOREIGN_ORIGIN);
    const identity = await identify(protocol, context);
    if (identity instanceof Refusal) return challenge(protocol, context, identity);
    if (identity.user.scope && !protocol.scoped) throw SCOPED_TOKEN;
    context.state["identity"] = identity;
    context["_matchedRoute"] = protocol.path;
    parts.limitRequests(identity.user.id, res);
    parts.bodies.count(identity.user.id, req, MAX_BODY_BYTES);
    // A protocol's messages come by POST, whatever they are about.
    if (context.method === "POST") await parts.limitWrites(identity.user.id, context);
    await parts.pacing.wait(identity.user.id);
    parts.pacing.count(identity.user.id, Number(req.headers["content-length"] ?? 0) || 0);
    parts.bodies.hold(identity.user.id, req, res, MAX_BODY_BYTES);
    open.set(context, identity);
    res.once("close", () => open.delete(context));
    // The token may have been revoked after it was checked and before the response was in `open`.
    void check([context, identity]);
    context.respond = false;
    try {
      await protocol.handle(req, res, identity.user);
    } catch (error) {
      if (res.headersSent) res.destroy();
      else context.respond = true;
      throw error;
    }
  };

  return {
    async middleware(context: Context, next: Next) {
      const protocol = mounted.get(context.path);
      if (protocol) return serve(protocol, context);
      const described = issuer === undefined ? undefined : describedAt(mounted, context);
      return described ? describe(described, context) : next();
    },
    mount(protocol: MountedProtocol, url: string) {
      const audience = protocol.resource ?? url + protocol.path;
      mounted.set(protocol.path, { ...protocol, audience });
      return () => {
        const handle = () => Promise.reject(STOPPED);
        mounted.set(protocol.path, { ...protocol, audience, handle });
      };
    },
    recheck,
    close() {
      clearInterval(timer);
      for (const { res } of open.keys()) res.destroy();
    },
  };
}

/** Finds the protocol whose metadata is at this address; the address without a path is that of the first protocol. */
function describedAt(mounted: ReadonlyMap<string, Mounted>, { method, path }: Context): Mounted | undefined {
  if ((method !== "GET" && method !== "HEAD") || !path.startsWith(METADATA_PATH)) return undefined;
  const at = path.slice(METADATA_PATH.length);
  return at === "" ? [...mounted.values()][0] : mounted.get(at);
}
