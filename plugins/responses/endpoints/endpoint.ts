/** How an endpoint of this API is declared and mounted: all return their errors in the same envelope. */
import type { Context, Middleware } from "koa";
import type { TSchema, TUnknown } from "typebox";
import {
  applyLimit,
  type CheckedRoute,
  type Declared,
  mountRoutes,
  type RouteDefinition,
  Type,
  type Web,
} from "../../../kernel/kit.ts";
import type { Fault, Limiter, Log, Services, User } from "../../../kernel/plugin.ts";
import type { Answers } from "../answer/answer.ts";
import type { JoinConversation } from "../resolve/conversation.ts";
import type { PageOf } from "../resolve/gate.ts";
import type { StoredConversations } from "../stored/conversations.ts";
import type { StoredFiles } from "../stored/files.ts";
import type { Requests } from "../stored/requests.ts";
import type { Seals } from "../stored/seals.ts";
import type { TurnLocations } from "../stored/turn-location.ts";
import type { Intake } from "../turn/intake.ts";
import { mistakeFault, refusalOf } from "../wire/refusal.ts";

/** The services and stores that the endpoints work with. */
export interface EndpointParts {
  readonly web: Web;
  readonly log: Log;
  readonly chatLimit: Limiter;
  readonly agent: Services["agent"];
  readonly threads: Services["threads"];
  readonly memory: Pick<Services["memory"], "embed">;
  /** Absent in a composition that cannot pause a turn for the caller's own tools. */
  readonly externalTools: Services["toolCalls"] | undefined;
  readonly intake: Intake;
  /** Takes chats, which are always replayed: there is no other way to continue one. */
  readonly chatIntake: Intake;
  readonly answers: Answers;
  readonly requests: Requests;
  readonly locations: TurnLocations;
  readonly conversations: StoredConversations;
  readonly joinConversation: JoinConversation;
  readonly files: StoredFiles;
  readonly maxFileBytes: number;
  readonly seals: Seals;
  readonly pageOf: PageOf;
  readonly startedAt: Date;
}

interface Caller {
  readonly user: User;
}

interface Limited {
  /** True when a request counts as a message of its user. */
  readonly limited?: boolean;
}

export type Endpoint = Omit<CheckedRoute<Caller>, "tag"> & Limited;

/** Gives the handler the types of what is declared beside it. */
export function endpoint<
  Body extends TSchema = TUnknown,
  Query extends TSchema = TUnknown,
  Answer extends TSchema | string = string,
  Read = Declared<Body>,
>(definition: Omit<RouteDefinition<Caller, Body, Query, Answer, Read>, "tag"> & Limited): Endpoint {
  return definition as Endpoint;
}

/** For bodies that the handler parses itself. */
export const unparsed = (body: unknown): unknown => body;

export function mountEndpoints(
  { web, log, chatLimit }: Pick<EndpointParts, "web" | "log" | "chatLimit">,
  prefixes: readonly string[],
  endpoints: readonly Endpoint[],
): void {
  for (const prefix of prefixes) {
    const routes = endpoints.map((one) => ({ ...one, path: prefix + one.path, tag: "responses" }));
    web.describe(routes);
    mountRoutes<Caller, (typeof routes)[number]>(web.router, routes, {
      async admit(context, { limited }) {
        const user = web.user(context);
        if (limited) applyLimit(await chatLimit.take(user.id), context, { perRequests: true });
        return { user };
      },
      refuse: mistakeFault,
      answersAreWire: true,
      guard: returnFaults(log),
    });
  }
}

function returnFaults(log: Log): Middleware {
  return async (context, next) => {
    try {
      await next();
    } catch (error) {
      const { status, headers, body } = refusalOf(error, context.state["turnBegan"] === true);
      if (status >= 500) log.error({ error, request: context.state["requestId"] }, body.error.message);
      context.status = status;
      context.set(headers);
      context.body = body;
    }
  };
}

const idOrNull = Type.Union([Type.String(), Type.Null()]);

export const listOf = <Item extends TSchema>(item: Item) =>
  Type.Object({
    object: Type.Literal("list"),
    data: Type.Array(item),
    first_id: idOrNull,
    last_id: idOrNull,
    has_more: Type.Boolean(),
  });

export const toPage = <Item extends { readonly id: string }>(data: readonly Item[], has_more: boolean) => ({
  object: "list" as const,
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more,
});

/** The query of a list of items. */
export const ItemQuery = Type.Object({
  limit: Type.Optional(
    Type.String({ pattern: "^([1-9]\\d?|100)$", refusal: "must be a number from 1 to 100" }),
  ),
  order: Type.Optional(Type.Enum(["asc", "desc"], { refusal: "must be asc or desc" })),
  after: Type.Optional(Type.String({ refusal: "must be an item's id" })),
});
export const DEFAULT_LIMIT = "20";

/** Lets each user have this many pieces of work in progress at once. */
export function createSlots(max: number, refuse: () => Fault) {
  const held = new Map<string, number>();
  return async <Result>(user: string, work: () => Promise<Result>): Promise<Result> => {
    const others = held.get(user) ?? 0;
    if (others >= max) throw refuse();
    held.set(user, others + 1);
    try {
      return await work();
    } finally {
      const left = (held.get(user) ?? 1) - 1;
      if (left > 0) held.set(user, left);
      else held.delete(user);
    }
  };
}

/** Aborted when the caller hangs up: nobody waits for the rest. */
export function hangUp(context: Context): AbortSignal {
  const controller = new AbortController();
  context.res.once("close", () => controller.abort());
  return controller.signal;
}
