/** Services of provenance for other plugins. */
import type { ExplainedTurn } from "./explained.ts";
import type { TrustedDestination } from "./wire.ts";

export type { TrustedDestination } from "./wire.ts";

export interface Provenance {
  /** Explains where the values of this turn's calls came from; without a turn, those of the last that called a tool. */
  explain(turn?: string): Promise<ExplainedTurn | undefined>;
}

/** For all tools or for everybody where none is named. */
type NamedDestination = Pick<TrustedDestination, "value" | "tool" | "user">;

/** Destinations that calls may go to although somebody else named them, and rules for other values. */
export interface Destinations {
  /** Lists those of this user and those of everybody. */
  list(user?: string): Promise<readonly TrustedDestination[]>;
  /** False where it was there. */
  add(destination: NamedDestination): Promise<boolean>;
  remove(destination: NamedDestination): Promise<boolean>;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    provenance: Provenance;
    destinations: Destinations;
  }
}
