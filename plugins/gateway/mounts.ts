/** The routes of all plugins: added to the routers and to the OpenAPI document, and taken away again. */
import type { ServerResponse } from "node:http";
import type Router from "@koa/router";
import type { Layer } from "@koa/router";
import type { Context } from "koa";
import {
  createFormReader,
  isOpenToScoped,
  type MountRules,
  mountRoutes,
  type Route,
  type RouteCaller,
  type RouteDescription,
  SCOPED_TOKEN,
} from "../../kernel/kit/http.ts";
import { describeMistake, type Mistake } from "../../kernel/kit/schema.ts";
import { Fault } from "../../kernel/plugin.ts";
import { MAX_BODY_BYTES } from "./settings.ts";
import { identityOf } from "./sign-in/authenticator.ts";

export type Mounts = ReturnType<typeof createMounts>;

/** For a caller of a plugin that has stopped, which is usually the beginning of the service's own stop. */
export const STOPPED = new Fault(
  "unavailable",
  "stopped",
  "What answers here has stopped: try again in a second.",
  { retryAfterSecs: 1 },
);

const readForm = createFormReader(MAX_BODY_BYTES);

export interface MountParts {
  /** Its routes need no token. */
  readonly open: Router;
  /** Its routes need a valid token. */
  readonly closed: Router;
  readonly bodies: { holdAnswer(caller: string, response: ServerResponse, bytes: number): void };
}

export function createMounts({ open, closed, bodies }: MountParts) {
  const described = new Set<RouteDescription>();
  const removed: Layer[] = [];

  const add = <One extends Route>(
    router: Router,
    routes: readonly One[],
    { admit = assertMediaType, leavesForms = false, ...rules }: MountRules<One>,
  ): (() => void) => {
    const before = router.stack.length;
    mountRoutes<RouteCaller, One>(router, routes, {
      refuse: refuseMistake,
      ...(!leavesForms && { readForm: (context, route) => (route.readForm ?? readForm)(context) }),
      ...rules,
      async admit(context, route) {
        const caller = callerOf(context, route);
        await admit(caller, context, route);
        if (route.heldBytes !== undefined) bodies.holdAnswer(caller.user.id, context.res, route.heldBytes);
        return caller;
      },
    });
    const added = router.stack.slice(before);
    return () => {
      router.stack = router.stack.filter((layer) => !added.includes(layer));
      removed.push(...added);
    };
  };

  return {
    mount<One extends Route>(routes: readonly One[], rules: MountRules<One> = {}): () => void {
      const isForAnyone = ({ audience }: One) => audience === "anyone";
      const undos = [
        add(open, routes.filter(isForAnyone), rules),
        add(
          closed,
          routes.filter((route) => !isForAnyone(route)),
          rules,
        ),
      ];
      for (const route of routes) described.add(route);
      return () => {
        for (const undo of undos) undo();
        for (const route of routes) described.delete(route);
      };
    },
    described: (): readonly RouteDescription[] => [...described],
    /** True if a plugin that has stopped answered here. */
    wasMounted: (path: string): boolean => removed.some((layer) => layer.match(path)),
  };
}

/** Refuses a caller who may not ask at all. */
function callerOf(context: Context, route: Route): RouteCaller {
  // A route for anyone has no caller, and its handler asks for none.
  if (route.audience === "anyone") return {} as RouteCaller;
  const { user, session } = identityOf(context);
  if (user.scope && !isOpenToScoped(route)) throw SCOPED_TOKEN;
  if (route.audience === "operator" && user.role !== "operator")
    throw new Fault("forbidden", "operator_only", "Only an operator can do this.");
  return { user, isBrowser: session !== undefined };
}

function assertMediaType(_caller: RouteCaller, context: Context, { body, upload }: Route): void {
  if (body && context.request.length !== 0 && context.is("json") === false) context.throw(415);
  if (upload && context.is(upload) === false) context.throw(415);
}

function refuseMistake(mistake: Mistake, whole: string): Fault {
  const details = mistake.path === "" ? {} : { param: mistake.path };
  return new Fault("invalid", "invalid_request", `${describeMistake(mistake, whole)}.`, details);
}
