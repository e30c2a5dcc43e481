/** What the agent keeps for a user, as files. */

import { Origin } from "./tools/gate.ts";
import type { Declared } from "./wire/form.ts";
import { Time, Type } from "./wire/type.ts";

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
  origins,
});
export type MemoryEntry = Declared<typeof MemoryEntry>;

export const MemoryFile = Type.Object({
  path: Type.String(),
  text: Type.String(),
  updatedAt: Time,
  version: Type.Integer(),
  origins,
});
export type MemoryFile = Declared<typeof MemoryFile>;
