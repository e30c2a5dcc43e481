/** The frames of the socket. A frame's `id` is one more than that of the frame before it in the stream. */
import type { TObject, TUnion } from "typebox";
import { User } from "../../../kernel/kit/people.ts";
import { named, Type } from "../../../kernel/kit/schema.ts";
import { TurnEvent } from "../../../kernel/kit/turns.ts";

export const SOCKET_PATH = "/api/chat/ws";

const place = {
  id: Type.Integer(),
  turn: named("turn_id", Type.String()),
  thread: named("thread_id", Type.String()),
};

type Placed<Variants extends readonly unknown[]> = {
  [Index in keyof Variants]: Variants[Index] extends TObject<infer Properties>
    ? TObject<typeof place & Properties>
    : never;
};

/** An event of a turn. Clients look at the type first, so it comes first. */
export const TurnFrame = Type.Union(
  TurnEvent.anyOf.map(({ properties: { type, ...rest } }) => Type.Object({ type, ...place, ...rest })),
) as unknown as TUnion<Placed<(typeof TurnEvent)["anyOf"]>>;

const position = { stream: Type.String(), id: Type.Integer() };

export const SocketFrame = Type.Union(
  [
    Type.Object({ type: Type.Literal("hello"), ...position, user: User }),
    Type.Object({ type: Type.Literal("resync"), ...position, reason: Type.String() }),
    Type.Object({ type: Type.Literal("alive"), ...position }),
    ...TurnFrame.anyOf,
  ],
  { $id: "SocketFrame" },
);
