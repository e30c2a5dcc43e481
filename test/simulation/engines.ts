/** Where the nodes of a world keep their state. */
import type { Sql } from "../../kernel/plugin.ts";
import { type Database, openMemory } from "./memory.ts";

export interface Engine {
  /** Whether it can have one node alone, or a fleet. */
  readonly fleets: readonly boolean[];
  open(engine: Sql["engine"], now: () => number): Promise<Database>;
  close(): Promise<void>;
}

export async function openEngine(name: string): Promise<Engine> {
  if (name === "memory")
    return { fleets: [false, true], open: async (engine, now) => openMemory(engine, now), close: async () => {} };
  throw new Error(`There is no engine "${name}".`);
}
