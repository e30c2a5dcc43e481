/** The documents that the agent keeps for a user. */
import { type Declared, named, Time, Type } from "../../kernel/kit/schema.ts";
import { Origin } from "../../kernel/kit/turns.ts";

const origins = Type.Optional(
  Type.Array(Origin, { description: "Whose words it was made from, where they are not the user's own" }),
);

export const MemoryHit = Type.Object({
  path: Type.String(),
  snippet: Type.String(),
  score: Type.Number(),
  updatedAt: Time,
  origins,
});
export type MemoryHit = Declared<typeof MemoryHit>;

export const MemoryEntry = Type.Object({
  path: Type.String(),
  updatedAt: Time,
  bytes: Type.Integer(),
  firstLine: Type.Optional(named("first_line", Type.String())),
  origins,
});
export type MemoryEntry = Declared<typeof MemoryEntry>;

export const MemoryWriter = Type.Object({
  kind: Type.Enum(["page", "api", "cli", "model"], {
    description: "The user on the page, with a token or on the command line; or the model in a turn",
  }),
  channel: Type.Optional(Type.String({ description: "Where the turn came from" })),
  thread: Type.Optional(named("thread_id", Type.String())),
  turn: Type.Optional(named("turn_id", Type.String())),
});
export type MemoryWriter = Declared<typeof MemoryWriter>;

export const MemoryVersion = Type.Object({
  version: Type.Integer(),
  updatedAt: Time,
  bytes: Type.Integer(),
  origins,
  writer: Type.Optional(MemoryWriter),
});
export type MemoryVersion = Declared<typeof MemoryVersion>;

export const MemoryFile = Type.Object({
  path: Type.String(),
  text: Type.String(),
  updatedAt: Time,
  version: Type.Integer(),
  origins,
});
export type MemoryFile = Declared<typeof MemoryFile>;
