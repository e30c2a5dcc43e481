/** A conversation as lists show it. */
import { Gate } from "./tools/gate.ts";
import { ModelName } from "./turn.ts";
import { type Declared, named, nullable } from "./wire/form.ts";
import { Time, Type } from "./wire/type.ts";

export const ThreadSummary = Type.Object(
  {
    id: Type.String(),
    title: Type.String(),
    createdAt: Time,
    updatedAt: Time,
    turns: Type.Integer(),
    pinned: Type.Boolean(),
    model: nullable(ModelName),
    gate: Type.Optional(Gate),
  },
  { $id: "Thread" },
);
export type ThreadSummary = Declared<typeof ThreadSummary>;

/** Turns that go on from the same one: a message that was edited, an answer that was asked for again. */
export const TurnVersions = Type.Object(
  {
    turn: named("turn_id", Type.String({ description: "The one on this path" })),
    versions: Type.Array(
      Type.Object({
        id: Type.String(),
        message: Type.Integer({ description: "Versions with the same number have the same message" }),
      }),
      { description: "Oldest first, the turn itself included" },
    ),
  },
  { $id: "TurnVersions" },
);
export type TurnVersions = Declared<typeof TurnVersions>;
