/** Routes with checks, made of the same data as the OpenAPI document. A channel adds who may ask and how it refuses. */
import type { Context, Middleware } from "koa";
import type { TSchema } from "typebox";
import type { Fault } from "../fault.ts";
import { compileCheck } from "../schema/check.ts";
import type { Declared } from "../schema/declare.ts";
import type { Mistake } from "../schema/mistake.ts";
import { fromWire, toWire } from "../schema/wire-convert.ts";
import { wireSchema } from "../schema/wire-schema.ts";

/** A path of OpenAPI's as the router writes it: /api/threads/:id */
const routerPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

/** A route as the OpenAPI document describes it. Schemas are declarations of ours, or any JSON Schema. */
export interface RouteDescription {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** Written as in OpenAPI: /api/threads/{id} */
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  /** A signed-in user by default. */
  readonly audience?: "anyone" | "operator";
  /** True when tokens with a scope may use the route: it checks the scope itself or passes it on. */
  readonly scoped?: boolean;
  /** An object whose properties are the parameters. */
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** An object whose properties are the fields of a form, in place of a JSON body. */
  readonly form?: TSchema;
  /** The media type of a body that the handler reads itself as it comes in, in place of a JSON body. */
  readonly upload?: string;
  readonly status?: number;
  /** A media type where the response is not JSON; absent where it has no body. */
  readonly answer?: TSchema | string;
  /** The data of each event, where the response can also be a stream of server-sent events. */
  readonly events?: TSchema;
  /** Statuses besides the usual refusals, with their meaning, and their body where it is not an error envelope. */
  readonly refusals?: Readonly<Record<number, string | RefusalDescription | undefined>>;
}

export interface RefusalDescription {
  readonly means: string;
  readonly answer: TSchema | string;
}

export interface Form {
  /** Returns a field, or a file read as text. */
  text(name: string): string | undefined;
  bytes(name: string): Uint8Array | undefined;
  file(name: string): FormFile | undefined;
}

/** A file as the caller describes it: neither its name nor its type is to be believed. */
interface FormFile {
  readonly name: string;
  readonly mime: string;
  readonly bytes: Uint8Array;
}

/** Every handler gets this; `admit` of the channel adds who asks. */
export interface Asked<Body = unknown, Query = unknown> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Undefined unless the route takes a form and the channel reads it. */
  readonly form: Form;
  readonly context: Context;
}

export interface CheckedRoute<Caller> extends RouteDescription {
  /** Reads the body in place of the check by `body`, which then only describes it. */
  readBody?(body: unknown): unknown;
  /** The same for the query. */
  readQuery?(query: unknown): unknown;
  handle(asked: Asked & Caller): unknown;
}

/** A handler of a JSON route returns what `answer` declares. */
type Given<Answer> = Answer extends string ? unknown : Answer extends TSchema ? Declared<Answer> : never;

export interface RouteDefinition<
  Caller,
  Body extends TSchema,
  Query extends TSchema,
  Answer extends TSchema | string,
  Read = Declared<Body>,
> extends RouteDescription {
  readonly body?: Body;
  readonly query?: Query;
  readonly answer?: Answer;
  readBody?(body: unknown): Read;
  readQuery?(query: unknown): unknown;
  handle(asked: Asked<Read, Declared<Query>> & Caller): Given<Answer> | Promise<Given<Answer>>;
}

export interface RouteRules<Caller, Route> {
  /** Runs before anything of the request is read; throws when the caller may not ask. */
  admit(context: Context, route: Route): Caller | Promise<Caller>;
  /** The fault for a request that does not match the declaration. `whole` names what was checked: "The body". */
  refuse(mistake: Mistake, whole: string): Fault;
  /** Without it, handlers read their forms themselves. */
  readForm?(context: Context, route: Route): Promise<Form>;
  /** Handlers return wire forms, which need no conversion. */
  readonly answersAreWire?: boolean;
  readonly guard?: Middleware;
}

/** What is used of a router of Koa's. */
type Router = Record<
  RouteDescription["method"],
  (path: string, guard: Middleware, handle: (context: Context) => Promise<void>) => unknown
>;

export function mountRoutes<Caller, Route extends CheckedRoute<Caller>>(
  router: Router,
  routes: readonly Route[],
  rules: RouteRules<Caller, Route>,
): void {
  const { admit, refuse, readForm, answersAreWire, guard = (_context, next) => next() } = rules;
  for (const route of routes) {
    const { status = 200, answer } = route;
    const readQuery = route.readQuery ?? reader(route.query, "The query", refuse, true);
    const readBody = route.readBody ?? reader(route.body, "The body", refuse, false);
    router[route.method](routerPath(route.path), guard, async (context: Context) => {
      const caller = await admit(context, route);
      const query = readQuery({ ...context.query });
      const form = route.form && (await readForm?.(context, route));
      const body = readBody((context.request as { body?: unknown }).body);
      context.status = status;
      const params = context["params"] as Record<string, string>;
      const given = await route.handle({ params, query, body, form: form as Form, context, ...caller });
      // The handler writes to the socket itself.
      if (context.respond === false) return;
      // Giving Koa a body sets a status too; the handler may have chosen another than the usual.
      const chosen = context.status;
      context.body = typeof answer === "object" && !answersAreWire ? toWire(answer, given as never) : given;
      if (answer === undefined) context.body = null;
      context.status = chosen;
    });
  }
}

/** Checks what came against its declaration and gives it our names. */
function reader(
  declared: TSchema | undefined,
  whole: string,
  refuse: (mistake: Mistake, whole: string) => Fault,
  coerces: boolean,
): (value: unknown) => unknown {
  if (declared === undefined) return () => undefined;
  const check = compileCheck(wireSchema(declared), { coerces });
  return (value) => {
    const [mistake] = check(value);
    if (mistake !== undefined) throw refuse(mistake, whole);
    return fromWire(declared, value);
  };
}
