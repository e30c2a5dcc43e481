/** What the agent keeps for a user, as files. */

import type { Declared } from "./wire/form.ts";
import { Time, Type } from "./wire/type.ts";

export const MemoryHit = Type.Object({
  path: Type.String(),
  snippet: Type.String(),
  score: Type.Number(),
  updatedAt: Time,
});
export type MemoryHit = Declared<typeof MemoryHit>;

export const MemoryEntry = Type.Object({ path: Type.String(), updatedAt: Time, bytes: Type.Integer() });
export type MemoryEntry = Declared<typeof MemoryEntry>;

export const MemoryFile = Type.Object({
  path: Type.String(),
  text: Type.String(),
  updatedAt: Time,
  version: Type.Integer(),
});
export type MemoryFile = Declared<typeof MemoryFile>;
