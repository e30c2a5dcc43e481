/** How an endpoint of this API is declared and mounted: all return their errors in the same envelope. */
import type { Context, Middleware } from "koa";
import type { TSchema, TUnknown } from "typebox";
import { applyLimit, type Route, type RouteCaller, type RouteDefinition } from "../../../kernel/kit/http.ts";
import { type Declared, Type } from "../../../kernel/kit/schema.ts";
import { Fault, type Log, type Use, type User } from "../../../kernel/plugin.ts";
import type { Answers } from "../answer/answer.ts";
import type { JoinConversation } from "../resolve/conversation.ts";
import type { PageOf } from "../resolve/gate.ts";
import type { StoredConversations } from "../stored/conversations.ts";
import type { StoredFiles } from "../stored/files.ts";
import type { Requests } from "../stored/requests.ts";
import type { Seals } from "../stored/seals.ts";
import type { TurnLocations } from "../stored/turn-location.ts";
import type { Intake } from "../turn/intake.ts";
import { compile, mistakeFault, refusalOf } from "../wire/refusal.ts";

export type EndpointServices =
  | "web"
  | "agent"
  | "attachments"
  | "jobs"
  | "threads"
  | "memory"
  | "store"
  | "storage"
  | "kernel";

/** The services and stores that the endpoints work with. Without `toolCalls` no turn can pause for the caller's own tools. */
export interface EndpointParts extends Use<EndpointServices, "toolCalls"> {
  readonly log: Log;
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
}

interface Marks {
  /** True when a request counts as a message of its user. */
  readonly limited?: boolean;
}

export type Endpoint = Omit<Route, "tag"> & Marks;

/** Gives the handler the types of what is declared beside it. */
export function endpoint<
  Body extends TSchema = TUnknown,
  Query extends TSchema = TUnknown,
  Answer extends TSchema | string = string,
  Read = Declared<Body>,
>(
  method: Endpoint["method"],
  path: string,
  definition: Omit<RouteDefinition<RouteCaller, Body, Query, Answer, Read>, "method" | "path" | "tag"> &
    Marks,
): Endpoint {
  return { method, path, ...definition } as Endpoint;
}

/** For bodies that the handler parses itself, and queries that it checks after something else. */
export const unparsed = (given: unknown): unknown => given;

/** Returns the undo. */
export function mountEndpoints(
  { web, agent, log }: Pick<EndpointParts, "web" | "agent" | "log">,
  prefixes: readonly string[],
  endpoints: readonly Endpoint[],
): () => void {
  // Turns carry the scope of the token, and what deletes something asks `refuseOthers`.
  const routes = prefixes.flatMap((prefix) =>
    endpoints.map((one) => ({ ...one, path: prefix + one.path, tag: "responses", scoped: true })),
  );
  return web.mount(routes, {
    async admit({ user }, context, { limited }) {
      if (limited) applyLimit(await agent.chatLimit.take(user.id), context, { perRequests: true });
    },
    refuse: mistakeFault,
    answersAreWire: true,
    leavesForms: true,
    guard: returnFaults(log),
  });
}

/** The meaning of 403 where something is deleted. */
export const OTHERS = "The token has a scope, and did not make it";

/** A token with a scope deletes only what it made. What was made without a scope has no token. */
export function refuseOthers({ scope }: User, { token }: { readonly token?: string }): void {
  if (scope === undefined || scope.token === token) return;
  const message = "This token has a scope, so it can delete only what it made. Use a token without one.";
  throw new Fault("forbidden", "scoped_token", message);
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

const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** The first items of a list that fit on a page: as many as asked for, no more bytes than a page has, and at least one. */
export async function firstPage<Item extends { readonly id: string }>(
  items: AsyncIterable<Item> | Iterable<Item>,
  limit: number,
) {
  const data: Item[] = [];
  let bytes = 0;
  for await (const item of items) {
    bytes += JSON.stringify(item).length;
    if (data.length === limit || (data.length > 0 && bytes > MAX_PAGE_BYTES)) return toPage(data, true);
    data.push(item);
  }
  return toPage(data, false);
}

export const ItemQuery = Type.Object({
  limit: Type.Optional(
    Type.String({ pattern: "^([1-9]\\d?|100)$", refusal: "must be a number from 1 to 100" }),
  ),
  order: Type.Optional(Type.Enum(["asc", "desc"], { refusal: "must be asc or desc" })),
  after: Type.Optional(Type.String({ refusal: "must be an item's id" })),
});
export const checkItemQuery = compile(ItemQuery);
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
