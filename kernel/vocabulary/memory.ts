/** What the agent keeps for a user, as files. */

import { type Declared, named } from "../schema/declare.ts";
import { Time, Type } from "../schema/type.ts";
import { Origin } from "./gate.ts";

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

/** Who wrote a version of a file. */
export const MemoryWriter = Type.Object({
  kind: Type.Enum(["page", "api", "cli", "model"], {
    description: "The user on the page, with a token or on the command line; or the model in a turn",
  }),
  channel: Type.Optional(Type.String({ description: "Where the turn came from" })),
  thread: Type.Optional(named("thread_id", Type.String())),
  turn: Type.Optional(named("turn_id", Type.String())),
});
export type MemoryWriter = Declared<typeof MemoryWriter>;

/** An earlier or the present text of a file. */
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

export interface Memory {
  search(user: string, q: string, limit?: number): Promise<readonly MemoryHit[]>;
  tree(user: string): Promise<readonly MemoryEntry[]>;
  read(user: string, path: string): Promise<MemoryFile | undefined>;
  /** With `expected`, only where that is still its version (0: none yet); otherwise the fault `memory_changed`. */
  write(
    user: string,
    path: string,
    text: string,
    expected?: number,
    writer?: MemoryWriter,
  ): Promise<{ readonly path: string; readonly version: number }>;
  remove(user: string, path: string): Promise<boolean>;
  /** The versions of a file that are kept, newest first; none where there is no such file. */
  history(user: string, path: string): Promise<readonly MemoryVersion[]>;
  /** One of them. */
  readVersion(user: string, path: string, version: number): Promise<MemoryFile | undefined>;
  /** A vector of length one for each text, by the built-in model: texts of like meaning have vectors that are near. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]>;
}
