/**
 * A route as data: what is asked, who may ask, what is answered. The router, the checks of a request and the
 * OpenAPI document all come from it, so that they cannot drift apart.
 */
import type Router from "@koa/router";
import type { Context } from "koa";
import { Fault, type JsonSchema, type User } from "../../kernel/plugin.ts";
import { type Check, compileCheck } from "../../kernel/vocabulary/schema/check.ts";
import { describeMistake } from "../../kernel/vocabulary/schema/mistake.ts";
import type { Identity } from "./auth/identity.ts";
import { readForm } from "./middleware/form.ts";

export interface Asked<Body, Query> {
  readonly user: User;
  readonly identity: Identity;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly context: Context;
}

export interface Route<Body = unknown, Query = unknown> {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** As OpenAPI writes it: /api/threads/{id} */
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  /** Who may ask; a user by default. */
  readonly audience?: "anyone" | "operator";
  /** The properties of the query; all values arrive as text and are read by these types. */
  readonly query?: Readonly<Record<string, JsonSchema>>;
  /** Those of them that have to be there. */
  readonly required?: readonly string[];
  readonly body?: JsonSchema;
  /** In place of a body in JSON: the fields of a form, which is how files are sent. The handler gets a `Form`. */
  readonly form?: Readonly<Record<string, JsonSchema>>;
  /** 200 by default. */
  readonly status?: number;
  /** The schema of the answer; a media type where it is not JSON; absent where it has no body. */
  readonly answer?: JsonSchema | string;
  /** Statuses it may answer beside the usual refusals, with a word on each. */
  readonly refusals?: Readonly<Record<number, string>>;
  handle(asked: Asked<Body, Query>): unknown;
}

/** Keeps the types of body and query beside the schemas that guarantee them. */
export function route<Body = unknown, Query = unknown>(definition: Route<Body, Query>): Route {
  return definition as Route;
}

export function identityOf(context: Context): Identity {
  const identity = context.state["identity"] as Identity | undefined;
  if (identity === undefined) throw new Error(`${context.path} was reached without authentication`);
  return identity;
}

export function mount(router: Router, routes: readonly Route[]): void {
  for (const definition of routes) {
    const { body: shape, query: properties = {}, required = [] } = definition;
    const checkBody = shape && compileCheck(shape);
    const checkQuery = compileCheck({ type: "object", properties, required }, { coerces: true });
    router[definition.method](definition.path.replaceAll(/\{(\w+)\}/g, ":$1"), async (context: Context) => {
      const { audience, status = 200, answer } = definition;
      const identity = audience === "anyone" ? undefined : identityOf(context);
      if (audience === "operator" && identity?.user.role !== "operator")
        throw new Fault("forbidden", "operator_only", "This takes the operator's token.");
      const query = { ...context.query };
      refuseMistakes(checkQuery, query, "The query");
      const body = definition.form ? await readForm(context) : (context.request as { body?: unknown }).body;
      if (checkBody) {
        if (context.request.length !== 0 && context.is("json") === false) context.throw(415);
        refuseMistakes(checkBody, body, "The body");
      }
      context.status = status;
      const given = await definition.handle({
        // A route for anyone has no identity, and its handler asks for none.
        identity: identity as Identity,
        user: identity?.user as User,
        params: context["params"] as Record<string, string>,
        query,
        body,
        context,
      });
      // Giving Koa a body sets a status too; the handler may have chosen another than the usual.
      const chosen = context.status;
      context.body = answer === undefined ? null : given;
      context.status = chosen;
    });
  }
}

function refuseMistakes(check: Check, value: unknown, whole: string): void {
  const [mistake] = check(value);
  if (mistake === undefined) return;
  const details = mistake.path === "" ? {} : { param: mistake.path };
  throw new Fault("invalid", "invalid_request", `${describeMistake(mistake, whole)}.`, details);
}
