/** A store that is open, on either engine, and what both engines have in common. */
import { ringOf, type SealingKey } from "../../../kernel/kit.ts";
import type { Sql, Store } from "../../../kernel/plugin.ts";
import { createLimiter } from "../limits/limiter.ts";
import { createFigures } from "./figures.ts";
import { prune, pruneOld } from "./pruning.ts";

export interface OpenStore extends Store {
  /** The operator's name for it: its file, or its database and host. */
  readonly name: string;
  /** Throws where the store no longer responds. */
  probe(): void | Promise<void>;
  /** Resolves when what waits is written. */
  close(): Promise<void>;
}

/** The methods that need nothing but SQL, keys and the others of the store. */
type Common = "keyFor" | "keysFor" | "limiter" | "prune" | "pruneOld" | "figures";

export function completeStore<Engine extends Omit<OpenStore, Common>>(
  engine: Engine,
  sql: Sql,
  secretsKey: () => Promise<SealingKey>,
): Engine & Pick<Store, Common> {
  const keysFor = async (purpose: string) => ringOf(await secretsKey()).derive(purpose);
  return {
    ...engine,
    keysFor,
    keyFor: async (purpose) => (await keysFor(purpose)).all()[0],
    limiter: (options) => createLimiter(options, engine),
    prune: (rows, options) => prune(sql, rows, options),
    pruneOld: (rows, before, options) => pruneOld(sql, rows, { before }, options),
    figures: (source) => createFigures(sql, source),
  };
}
