/** What models offer to other plugins. */
import type {
  Model,
  ModelList,
  ModelPart,
  ModelRequest,
  ModelTest,
  SettingValues,
  TokenCount,
  WantedModel,
} from "../../kernel/kit.ts";
import type { ModelName, TokenScope, Transaction, Usage } from "../../kernel/plugin.ts";

export interface Models {
  /** What answers where nothing was chosen. */
  name(): ModelName;
  /** The configured models, best first. */
  current(): Promise<readonly Model[]>;
  /** What may be chosen for a thread, the configured model first; with a scope only what that allows. */
  list(scope?: TokenScope): Promise<ModelList>;
  /** The whole name of what somebody wants, which may be chosen with this scope. */
  choose(wanted: WantedModel, scope: TokenScope | undefined): Promise<ModelName>;
  /**
   * The models to try for a thread, best first, that every scope allows; those that are configured where nothing was chosen
   * for it. Rejects with a `Fault` where there is none.
   */
  chain(chosen: ModelName | undefined, bounds: Bounds): Promise<readonly Model[]>;
  /** One answer of the first model that gives one. */
  stream(
    models: readonly Model[],
    requestFor: (model: Model) => Promise<ModelRequest>,
    options: StreamOptions,
  ): AsyncIterable<readonly ModelPart[]>;
  /** The usage so far with these tokens of this model added. */
  addCost(usage: Usage, model: ModelName, tokens: TokenCount): Usage;
  /** US dollars a user may spend a day, as it is set now. */
  dailyCap(): Promise<number | undefined>;
  /** Rejects where the money of the user, or of a token behind the turn, is used up for today. */
  assertLeft(user: string, capUsd: number | undefined, scopes: readonly TokenScope[]): Promise<void>;
  /** Counts what was spent, in a transaction of the caller. */
  spend(tx: Transaction, user: string, usage: Usage, scopes: readonly TokenScope[]): void;
  /** Warns the operator, once, of models whose price is not known, which this cap does not count. */
  warnUncounted(cap: string, models: readonly Model[]): void;
}

/** What money is counted for, and what its tokens may use. */
export interface Bounds {
  readonly scopes: readonly TokenScope[];
  readonly capUsd: number | undefined;
}

export interface StreamOptions {
  readonly signal: AbortSignal;
  notice(code: string, message: string): void;
  /** Called with everything that comes from the model. */
  alive(): void;
  /** Called with the model that the next parts come from. */
  onModel(model: Model): void;
  readonly observer: { asking(model: ModelName, request: ModelRequest): AskObserver };
  readonly stallMillis?: number;
  readonly pauseMillis?: number;
}

/** Watches one request to a model. */
export interface AskObserver {
  /** Sent to the model's server. */
  readonly traceparent: string | undefined;
  received(parts: readonly ModelPart[]): void;
  /** `error`: the code of what went wrong. */
  ended(error?: string): void;
}

export interface ModelCheck {
  /** Makes one tiny real request. These values are not stored; a fault where they could not be. */
  test(values: SettingValues): Promise<ModelTest>;
  /** The names that its server offers; none where it does not say. */
  list(values: SettingValues): Promise<readonly string[]>;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    models: Models;
    modelCheck: ModelCheck;
  }
}
