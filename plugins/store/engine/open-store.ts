/** A store that is open, on either engine, and what both engines have in common. */
import type { SealingKey } from "../../../kernel/kit/secrets.ts";
import type { Sql } from "../../../kernel/plugin.ts";
import { ringOf } from "../keys/ring.ts";
import { createLimiter } from "../limits/limiter.ts";
import type { Store } from "../services.ts";
import { createFigures } from "./figures.ts";
import { prune, pruneOld } from "./old-rows.ts";

/** A store that cannot take so much, a few messages, is full, though smaller writes may still find a place. */
export const ROOM_BYTES = 2 ** 20;

export interface OpenStore extends Store, AsyncDisposable {
  /** The operator's name for it: its file, or its database and host. */
  readonly name: string;
  probe(): void | Promise<void>;
  /** Resolves when what waits is written. */
  close(): Promise<void>;
}

/** The methods that need nothing but SQL, keys and the others of the store. */
type Common =
  | "keyFor"
  | "keysFor"
  | "limiter"
  | "prune"
  | "pruneOld"
  | "figures"
  | typeof Symbol.asyncDispose;

export function completeStore<Engine extends Omit<OpenStore, Common>>(
  engine: Engine,
  sql: Sql,
  secretsKey: () => Promise<SealingKey>,
): Engine & Pick<OpenStore, Common> {
  const keysFor = async (purpose: string) => ringOf(await secretsKey()).derive(purpose);
  return {
    ...engine,
    [Symbol.asyncDispose]: () => engine.close(),
    keysFor,
    keyFor: async (purpose) => (await keysFor(purpose)).all()[0],
    limiter: (options) => createLimiter(options, engine),
    prune: (rows, options) => prune(sql, rows, options),
    pruneOld: (rows, before, options) => pruneOld(sql, rows, { before }, options),
    figures: (source) => createFigures(sql, source),
  };
}
