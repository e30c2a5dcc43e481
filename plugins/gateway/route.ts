/**
 * A route as data: the request, who may send it, the response. The router, the checks of a request, the types of its handler
 * and the OpenAPI document all come from it, so that they cannot drift apart.
 */

import type { ServerResponse } from "node:http";
import type Router from "@koa/router";
import type { Context } from "koa";
import type { TSchema, TUnknown } from "typebox";
import {
  type CheckedRoute,
  createFormReader,
  type FormReader,
  mountRoutes,
  type Proxies,
  type RouteDefinition,
} from "../../kernel/kit/http.ts";
import { describeMistake } from "../../kernel/kit/schema.ts";
import { Fault, type Limiter, type Use, type User } from "../../kernel/plugin.ts";
import type { SignedIn } from "../accounts/services.ts";
import type { Metrics } from "../telemetry/services.ts";
import { MAX_BODY_BYTES, type Needed, type Wanted } from "./settings.ts";
import type { Authenticator, OriginCheck } from "./sign-in/authenticator.ts";

export const SCOPED_TOKEN = new Fault(
  "forbidden",
  "scoped_token",
  "This token has a scope, so it cannot do this. Use a token without one.",
);

export function invalidFault(code: string, message: string, param: string): Fault {
  return new Fault("invalid", code, message, { param });
}

export function missingFault(code: string, message: string, param: string): Fault {
  return new Fault("missing", code, message, { param });
}

/** Returns a function that gets the service, or refuses the request where it is off. */
export function orRefuse<Service>(
  service: Service | undefined,
  code: string,
  message: string,
): () => Service {
  return () => {
    if (service === undefined) throw new Fault("unavailable", code, message);
    return service;
  };
}

/** Refuses a request that needs a tool outside the scope of its token. */
export function assertTool({ scope }: User, tool: string, what: string): void {
  if (scope?.tools === undefined || scope.tools.includes(tool)) return;
  const message = `This token may not use the tool ${tool}, so it cannot ${what}.`;
  throw new Fault("forbidden", "tool_not_allowed", message);
}

/** The parts that routes are made from: the services that the gateway uses, its sign-in and its sockets. */
export interface RouteParts extends Use<Needed, Wanted> {
  readonly authenticator: Authenticator;
  readonly isOwnOrigin: OriginCheck;
  readonly proxies: Proxies;
  readonly metrics: Metrics;
  /** What is sent in pieces holds memory until its reader has taken it. */
  readonly bodies: { holdAnswer(caller: string, response: ServerResponse, bytes: number): void };
  /** Each test of a model costs a request to it. */
  readonly testLimit: Limiter;
  /** Called before a turn starts, so that no event of it is missed. */
  follow(user: string): void;
  /** Called when a credential ended, so that its sockets are closed. */
  onRevoked(): Promise<void>;
  usersOnline(): number;
}

interface Asker {
  readonly user: User;
  readonly identity: SignedIn;
}

interface Rules {
  /** For a form with another size limit. */
  readonly readForm?: FormReader;
}

export interface Route extends CheckedRoute<Asker>, Rules {}

type Method = Uppercase<Route["method"]>;

/** The names in a path such as `/api/tools/{name}`. */
type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/**
 * Returns a function that declares a route under the tag of the OpenAPI document: `route("GET /api/tools/{name}", { … })`. The
 * handler gets the types of the declarations beside it.
 */
export const routesOf =
  (tag: string, defaultAudience?: Route["audience"]) =>
  <
    const Line extends `${Method} /${string}`,
    Body extends TSchema = TUnknown,
    Query extends TSchema = TUnknown,
    Answer extends TSchema | string = string,
  >(
    line: Line,
    declared: Omit<RouteDefinition<Asker & Params<Line>, Body, Query, Answer>, "method" | "path" | "tag"> &
      Rules,
  ): Route => {
    const [method, path] = line.split(" ");
    const definition = {
      method: method?.toLowerCase(),
      path,
      tag,
      audience: defaultAudience,
      ...declared,
    } as Route;
    const { audience, refusals } = definition;
    if (audience !== undefined || !isClosedToScoped(definition)) return definition;
    return { ...definition, refusals: { 403: "The token has a scope", ...refusals } };
  };

interface Params<Line> {
  readonly params: Readonly<Record<NamesIn<Line>, string>>;
}

/** A route of the gateway's own that only reads is open to tokens with a scope; one that a plugin mounts is not. */
function isClosedToScoped({ method, audience, scoped = false }: Route) {
  return audience === "operator" || (method !== "get" && !scoped);
}

export function identityOf(context: Context): SignedIn {
  const identity = context.state["identity"] as SignedIn | undefined;
  if (identity === undefined) throw new Error(`${context.path} was reached without authentication`);
  return identity;
}

const readForm = createFormReader(MAX_BODY_BYTES);

export function mount(router: Router, routes: readonly Route[]): void {
  mountRoutes<Asker, Route>(router, routes, {
    admit(context, definition) {
      const { audience } = definition;
      const identity = audience === "anyone" ? undefined : identityOf(context);
      if (identity?.user.scope && isClosedToScoped(definition)) throw SCOPED_TOKEN;
      if (audience === "operator" && identity?.user.role !== "operator")
        throw new Fault("forbidden", "operator_only", "Only an operator can do this.");
      if (definition.body && context.request.length !== 0 && context.is("json") === false) context.throw(415);
      if (definition.upload && context.is(definition.upload) === false) context.throw(415);
      // A route for anyone has no identity, and its handler asks for none.
      return { identity: identity as SignedIn, user: identity?.user as User };
    },
    refuse(mistake, whole) {
      const details = mistake.path === "" ? {} : { param: mistake.path };
      return new Fault("invalid", "invalid_request", `${describeMistake(mistake, whole)}.`, details);
    },
    readForm: (context, definition) => (definition.readForm ?? readForm)(context),
  });
}
