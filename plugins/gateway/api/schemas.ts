/** Declarations that only the gateway's API uses. Tests check every response against its declaration. */
import type { TSchema } from "typebox";
import { ModelName, named, nullable, Time, Type, User } from "../../../kernel/kit.ts";

/** A page of a list. Pass its `next` as `before` for the following page; it is null at the end. */
export const page = <const Name extends string, Item extends TSchema>(name: Name, item: Item) =>
  Type.Object(pageOf(name, item));

export const pageOf = <const Name extends string, Item extends TSchema>(name: Name, item: Item) => ({
  items: named(name, Type.Array(item)),
  next: nullable(Type.String()),
});

export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
  before: Type.Optional(Type.String({ description: "`next` of the page before" })),
};

/** A turn that was started; its events arrive on the socket. */
export const Accepted = Type.Object({
  thread: named("thread_id", Type.String()),
  id: named("message_id", Type.String({ description: "The id of the turn" })),
  status: Type.Literal("accepted"),
});

export const Session = Type.Object({
  user: User,
  expiresAt: Type.Optional({ ...Time, description: "When this sign-in ends; only within 7 days of it" }),
});

export const Status = Type.Object({
  version: Type.String(),
  uptimeSecs: Type.Integer(),
  channels: Type.Array(Type.Object({ name: Type.String(), on: Type.Boolean(), detail: Type.String() })),
  model: ModelName,
  tools: Type.Array(Type.String()),
  usersOnline: Type.Integer(),
  jobs: Type.Object({ queued: Type.Integer(), running: Type.Integer() }),
  nodes: Type.Array(
    Type.Object({
      id: Type.String(),
      version: Type.String(),
      startedAt: Type.String(),
      lastSeenAt: Type.String(),
    }),
  ),
  store: Type.Union([Type.Object({ detail: Type.String(), isFilling: Type.Boolean() }), Type.Null()], {
    description: "How large the store is, how fast it grows and how much disk is left: for the operator",
  }),
});
