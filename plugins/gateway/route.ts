/**
 * A route as data: the request, who may send it, the response. The router, the checks of a request, the types of its handler
 * and the OpenAPI document all come from it, so that they cannot drift apart.
 */
import type Router from "@koa/router";
import type { Context } from "koa";
import type { TSchema, TUnknown } from "typebox";
import {
  type CheckedRoute,
  createFormReader,
  describeMistake,
  type FormReader,
  mountRoutes,
  type RouteDefinition,
  type SignedIn,
} from "../../kernel/kit.ts";
import { Fault, type User } from "../../kernel/plugin.ts";
import { MAX_BODY_BYTES } from "./settings.ts";

export const SCOPED_TOKEN = new Fault(
  "forbidden",
  "scoped_token",
  "This token has a scope, so it cannot do this. Use a token without one.",
);

/** Refuses a request that needs a tool outside the scope of its token. */
export function assertTool({ scope }: User, tool: string, what: string): void {
  if (scope?.tools === undefined || scope.tools.includes(tool)) return;
  throw new Fault(
    "forbidden",
    "tool_not_allowed",
    `This token may not use the tool ${tool}, so it cannot ${what}.`,
  );
}

interface Asker {
  readonly user: User;
  readonly identity: SignedIn;
}

interface Rules {
  /**
   * True if a token with a scope may use the route although it changes something: the handler checks the scope itself or passes it
   * on. Otherwise such a token may only read.
   */
  readonly scoped?: boolean;
  /** For a form with another size limit. */
  readonly readForm?: FormReader;
}

export interface Route extends CheckedRoute<Asker>, Rules {}

/** Gives the handler the types of the declarations beside it. */
export function route<
  Body extends TSchema = TUnknown,
  Query extends TSchema = TUnknown,
  Answer extends TSchema | string = string,
>(definition: RouteDefinition<Asker, Body, Query, Answer> & Rules): Route {
  const { audience, refusals } = definition;
  if (audience !== undefined || !isClosedToScoped(definition)) return definition as Route;
  return { ...definition, refusals: { 403: "The token has a scope", ...refusals } } as Route;
}

function isClosedToScoped({
  method,
  audience,
  scoped = false,
}: Pick<Route, "method" | "audience" | "scoped">) {
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
