/**
 * A route as data: the request, who may send it, the response. The router, the checks of a request, the types of its handler
 * and the OpenAPI document all come from it, so that they cannot drift apart.
 */
import type Router from "@koa/router";
import type { Context } from "koa";
import type { TSchema, TUnknown } from "typebox";
import {
  type Check,
  compileCheck,
  createFormReader,
  type Declared,
  describeMistake,
  type Form,
  type FormReader,
  fromWire,
  routerPath,
  toWire,
  wireSchema,
} from "../../kernel/kit.ts";
import { Fault, type RouteDescription, type SignedIn, type User } from "../../kernel/plugin.ts";
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

export interface Asked<Body, Query> {
  readonly user: User;
  readonly identity: SignedIn;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Present if the route takes a form. */
  readonly form: Form;
  readonly context: Context;
}

export interface Route extends RouteDescription {
  readonly scoped?: boolean;
  readonly readForm?: FormReader;
  handle(asked: Asked<unknown, unknown>): unknown;
}

/** The result of a handler: any value if the response is not JSON. */
type Given<Answer> = Answer extends string ? unknown : Answer extends TSchema ? Declared<Answer> : never;

interface Definition<Body extends TSchema, Query extends TSchema, Answer extends TSchema | string>
  extends RouteDescription {
  readonly body?: Body;
  readonly query?: Query;
  readonly answer?: Answer;
  /**
   * True if a token with a scope may use the route although it changes something: the handler checks the scope itself or passes it
   * on. Otherwise such a token may only read.
   */
  readonly scoped?: boolean;
  /** For a form with another size limit. */
  readonly readForm?: FormReader;
  handle(asked: Asked<Declared<Body>, Declared<Query>>): Given<Answer> | Promise<Given<Answer>>;
}

/** Gives the handler the types of the declarations beside it. */
export function route<
  Body extends TSchema = TUnknown,
  Query extends TSchema = TUnknown,
  Answer extends TSchema | string = string,
>(definition: Definition<Body, Query, Answer>): Route {
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
  for (const definition of routes) {
    const readQuery = reader(definition.query, "The query", { coerces: true });
    const readBody = reader(definition.body, "The body");
    router[definition.method](routerPath(definition.path), async (context: Context) => {
      const { audience, status = 200, answer } = definition;
      const identity = audience === "anyone" ? undefined : identityOf(context);
      if (identity?.user.scope && isClosedToScoped(definition)) throw SCOPED_TOKEN;
      if (audience === "operator" && identity?.user.role !== "operator")
        throw new Fault("forbidden", "operator_only", "Only an operator can do this.");
      const query = readQuery({ ...context.query });
      const form = definition.form && (await (definition.readForm ?? readForm)(context));
      if (definition.body && context.request.length !== 0 && context.is("json") === false) context.throw(415);
      const body = readBody((context.request as { body?: unknown }).body);
      context.status = status;
      const given = await definition.handle({
        // A route for anyone has no identity and one without a form has no form; their handlers use neither.
        identity: identity as SignedIn,
        user: identity?.user as User,
        form: form as Form,
        params: context["params"] as Record<string, string>,
        query,
        body,
        context,
      });
      // Setting the body sets the status too, but the handler may have chosen another one.
      const chosen = context.status;
      context.body = typeof answer === "object" ? toWire(answer, given as never) : given;
      if (answer === undefined) context.body = null;
      context.status = chosen;
    });
  }
}

/** Checks a value against its declaration and converts it to our names. */
function reader(declared: TSchema | undefined, whole: string, options: { readonly coerces?: boolean } = {}) {
  if (declared === undefined) return () => undefined;
  const check = compileCheck(wireSchema(declared), options);
  return (value: unknown): unknown => {
    refuseMistakes(check, value, whole);
    return fromWire(declared, value);
  };
}

function refuseMistakes(check: Check, value: unknown, whole: string): void {
  const [mistake] = check(value);
  if (mistake === undefined) return;
  const details = mistake.path === "" ? {} : { param: mistake.path };
  throw new Fault("invalid", "invalid_request", `${describeMistake(mistake, whole)}.`, details);
}
