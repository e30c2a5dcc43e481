/** A route as data: the router, the checks, the handler's types and the OpenAPI document come from it. */
import type { Context } from "koa";
import type { TSchema, TUnknown } from "typebox";
import { Fault } from "../fault.ts";
import type { User } from "../vocabulary/user.ts";
import type { FormReader } from "./form.ts";
import type { CheckedRoute, RouteDefinition, RouteRules } from "./routes.ts";

/** Who sent a request. A route for anyone gets none of this, and its handler must not ask for it. */
export interface RouteCaller {
  readonly user: User;
  /** A browser that is signed in is the page; programs have tokens. */
  readonly isBrowser: boolean;
}

/** What the gateway reads of a route besides its description. */
interface RouteSettings {
  /** For a form with another size limit. */
  readonly readForm?: FormReader;
  /** An answer that is streamed holds so much memory until its reader has taken it. */
  readonly heldBytes?: number;
}

export interface Route extends CheckedRoute<RouteCaller>, RouteSettings {}

/** How routes of another protocol than the gateway's own API check and refuse. */
export interface MountRules<One extends Route>
  extends Partial<Pick<RouteRules<RouteCaller, One>, "refuse" | "answersAreWire" | "guard">> {
  /** Handlers read their forms themselves. */
  readonly leavesForms?: boolean;
  /** Runs before anything of the request is read; throws when the caller may not ask. */
  admit?(caller: RouteCaller, context: Context, route: One): void | Promise<void>;
}

type Method = Uppercase<Route["method"]>;

/** The names in a path such as `/api/tools/{name}`. */
type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

interface Params<Line> {
  readonly params: Readonly<Record<NamesIn<Line>, string>>;
}

/** Returns a function that declares a route under the tag: `route("GET /api/tools/{name}", { … })`. */
export const routesOf =
  (tag: string, defaultAudience?: Route["audience"]) =>
  <
    const Line extends `${Method} /${string}`,
    Body extends TSchema = TUnknown,
    Query extends TSchema = TUnknown,
    Answer extends TSchema | string = string,
  >(
    line: Line,
    declared: Omit<
      RouteDefinition<RouteCaller & Params<Line>, Body, Query, Answer>,
      "method" | "path" | "tag"
    > &
      RouteSettings,
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
    if (audience !== undefined || isOpenToScoped(definition)) return definition;
    return { ...definition, refusals: { 403: "The token has a scope", ...refusals } };
  };

/** Tokens with a scope reach only routes that say they look at it. */
export function isOpenToScoped({ audience, scoped = false }: Pick<Route, "audience" | "scoped">): boolean {
  return audience !== "operator" && scoped;
}

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

/** Returns a function that gets the service, or refuses the request if it is off. */
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
