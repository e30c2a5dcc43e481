/** What provenance offers to other plugins. */
import type { ExplainedTurn, TrustedDestination } from "../../kernel/kit.ts";

export interface Provenance {
  /** Where the values of the calls of this turn came from; without one, of the last that called a tool. */
  explain(turn?: string): Promise<ExplainedTurn | undefined>;
}

/** Where calls may go although somebody else named it. */
export interface Destinations {
  /** Lists those of this user and those of everybody. */
  list(user?: string): Promise<readonly TrustedDestination[]>;
  /** For everybody where no user is named. False where it was there. */
  add(destination: {
    readonly value: string;
    readonly tool?: string;
    readonly user?: string;
  }): Promise<boolean>;
  remove(destination: {
    readonly value: string;
    readonly tool?: string;
    readonly user?: string;
  }): Promise<boolean>;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    provenance: Provenance;
    destinations: Destinations;
  }
}
