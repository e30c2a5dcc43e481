/**
 * A route as data: what is asked, who may ask, what is answered. The router, the checks of a request, the types of its
 * handler and the OpenAPI document all come from it, so that they cannot drift apart.
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
} from "../../kernel/kit.ts";
import { Fault, type User } from "../../kernel/plugin.ts";
import type { Identity } from "./auth/identity.ts";
import { SCOPED_TOKEN } from "./auth/tokens/scope.ts";
import { BODY_BYTES } from "./middleware/body-limits.ts";

interface Asker {
  readonly user: User;
  readonly identity: Identity;
}

interface Rules {
  /**
   * True where a token with a scope may ask, though the route changes something: it has looked at the scope itself, or passes it
   * on. Such a token may read otherwise, and nothing else.
   */
  readonly scoped?: boolean;
  /** Where its form has another limit than others. */
  readonly readForm?: FormReader;
}

export interface Route extends CheckedRoute<Asker>, Rules {}

/** Gives the handler the types of what is declared beside it. */
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

export function identityOf(context: Context): Identity {
  const identity = context.state["identity"] as Identity | undefined;
  if (identity === undefined) throw new Error(`${context.path} was reached without authentication`);
  return identity;
}

const readForm = createFormReader(BODY_BYTES);

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
      return { identity: identity as Identity, user: identity?.user as User };
    },
    refuse(mistake, whole) {
      const details = mistake.path === "" ? {} : { param: mistake.path };
      return new Fault("invalid", "invalid_request", `${describeMistake(mistake, whole)}.`, details);
    },
    readForm: (context, definition) => (definition.readForm ?? readForm)(context),
  });
}
