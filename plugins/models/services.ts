/** Services of models for other plugins. */
import type { JsonSchema } from "../../kernel/kit/schema.ts";
import type { Generation, TurnTask } from "../../kernel/kit/turns.ts";
import type { ModelName, TokenScope, ToolCall, Transaction, Usage } from "../../kernel/plugin.ts";
import type { SettingValues } from "../store/services.ts";

/** A model that may be chosen for a thread; `role` is what it is here, apart from any thread. */
export interface ModelOption extends ModelName {
  readonly role?: "configured" | "fallback";
  /** Tokens of context, if the table says so. */
  readonly window?: number;
  /** US dollars for a million tokens today, before any tier. */
  readonly price?: { readonly input: string; readonly output: string };
  /** The day on which its provider turns it off. */
  readonly retires?: string;
  readonly replacedBy?: string;
}

/** A model as somebody asks for it: where several providers have the name, the configured one is meant. */
export interface WantedModel {
  readonly provider?: string;
  readonly name: string;
}

export interface ModelTest {
  readonly ok: boolean;
  readonly model: ModelName;
  readonly message: string;
  readonly code?: string;
  readonly answer?: string;
  readonly millis: number;
  /** The names that its server offers, if it says so. */
  readonly models: readonly string[];
}

export interface Models {
  /** The model that answers where none was chosen. */
  name(): ModelName;
  current(): Promise<readonly Model[]>;
  /** Models that may be chosen for a thread, the configured one first; with a scope only those it allows. */
  list(scope?: TokenScope): Promise<ModelList>;
  /** The whole name of what somebody wants, which may be chosen with this scope. */
  choose(wanted: WantedModel, scope: TokenScope | undefined): Promise<ModelName>;
  /** The host that texts for this model go to; undefined if they stay in this process. */
  hostOf(model: ModelName): Promise<string | undefined>;
  /**
   * The models to try for a thread, best first, that every scope allows; those that are configured where nothing was chosen
   * for it. Rejects with a `Fault` where there is none.
   */
  chain(chosen: ModelName | undefined, scopes: readonly TokenScope[]): Promise<readonly Model[]>;
  /** One answer of the first model that gives one. */
  stream(
    models: readonly Model[],
    requestFor: (model: Model) => Promise<ModelRequest>,
    options: StreamOptions,
  ): AsyncIterable<readonly ModelPart[]>;
  addCost(usage: Usage, model: ModelName, tokens: TokenCount): Usage;
  addUsage(one: Usage, other: Usage): Usage;
  dailyCap(): Promise<number | undefined>;
  /** Rejects where the money of the user, or of a token behind the turn, is used up for today. */
  assertLeft(user: string, capUsd: number | undefined, scopes: readonly TokenScope[]): Promise<void>;
  /** Counts what was spent, in a transaction of the caller. */
  spend(tx: Transaction, user: string, usage: Usage, scopes: readonly TokenScope[]): void;
  /**
   * Has what turns spend paid by more than the user and the tokens: `open` is asked once for each turn, before it does anything. Returns the
   * undo.
   */
  addPurse(open: OpenPurse): () => void;
  /** The purses that this turn is paid from as well. */
  openPurses(turn: PayingTurn): Promise<readonly Purse[]>;
}

/** A turn as far as a purse has to know it. */
export interface PayingTurn {
  readonly id: string;
  readonly thread: string;
  readonly task: TurnTask | undefined;
  readonly job: string | undefined;
  readonly budgetUsd: number | undefined;
}

export type OpenPurse = (turn: PayingTurn) => Promise<Purse>;

/** What the requests of a turn are paid from besides its own budget. */
export interface Purse {
  /** Rejects with a `Fault` if nothing is left, or if what the turn works for is over. `spentUsd`: by the turn itself so far. */
  assertLeft(spentUsd: number): Promise<void>;
  spend(tx: Transaction, usd: number): void;
}

export interface StreamOptions {
  readonly signal: AbortSignal;
  notice(code: string, message: string): void;
  /** Called with everything that comes from the model. */
  alive(): void;
  onModel(model: Model): void;
  readonly observer: { asking(model: ModelName, request: ModelRequest): AskObserver };
  readonly stallMillis?: number;
  readonly pauseMillis?: number;
  /** The longest wait for a rate limit if no other model is left. */
  readonly patienceSecs?: number;
}

export interface AskObserver {
  readonly traceparent: string | undefined;
  received(parts: readonly ModelPart[]): void;
  /** `error`: the code of what went wrong. */
  ended(error?: string): void;
}

export interface ModelCheck {
  /** True while nobody has set up a model, so that the built-in one answers. */
  isMissing(): boolean;
  /** Looks for model servers on this machine. */
  findLocal(): Promise<readonly LocalServer[]>;
  /** Makes one tiny real request. These values are not stored; a fault where they could not be. */
  test(values: SettingValues): Promise<ModelTest>;
  /** Asks its server, without spending anything, which models it offers. */
  reach(values: SettingValues): Promise<ReachedServer>;
}

/** A model server on this machine, with the models it offers. */
export interface LocalServer {
  readonly name: string;
  readonly baseUrl: string;
  readonly models: readonly string[];
}

export interface ReachedServer {
  /** None where the server does not say. */
  readonly models: readonly string[];
  /** Why it cannot be used, in a sentence. A server that does not list its models has none. */
  readonly problem?: string;
}

export type InputKind = "image" | "file" | "audio";

export interface Model {
  readonly name: ModelName;
  /** Tokens of context it can take. */
  readonly window: number;
  /** The kinds of input it accepts besides text. */
  readonly takes: ReadonlySet<InputKind>;
  /**
   * The formats of an answer it can be asked for; any other can only be told to it in words. No promise: a server may
   * ignore what it is asked for, or take it only without tools, so that what comes has to be checked in any case.
   */
  readonly formats: ReadonlySet<Format["type"]>;
  /** True where it answers the last message alone: what is sent while a turn runs then waits for a turn of its own. */
  readonly answersLastOnly?: boolean;
  /**
   * Streams one answer, as many parts at a time as have come; none is a sign of life from a model that thinks, or
   * writes a call that is not whole yet. Throws a `Fault` of kind `turn` when the provider fails.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelPart[]>;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly temperature: number | undefined;
  /**
   * Each of it is a hint, which a provider that has no such thing answers without. `temperature` here wins over the one
   * above; `maxOutputTokens` is of this one answer.
   */
  readonly generation?: Generation;
  /** A choice among some names only: where a provider cannot be told so, it is shown only these tools. */
  readonly toolChoice?: ToolChoice;
  /** False: at most one call in an answer. */
  readonly parallelCalls?: boolean;
  /** One of the model's `formats`. Where the provider refuses it after all, it is told to the model in words. */
  readonly format?: Format;
  /** Whose thread it is; not sent. What the model thought for one user is never sent with a request of another. */
  readonly user?: string;
  /** For the server's own trace of it. */
  readonly traceparent?: string;
}

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
}

/** A file that a message carries besides its text, whole. */
export interface ModelAttachment {
  readonly kind: InputKind;
  readonly mime: string;
  readonly data: Uint8Array;
  readonly name?: string;
  /** How closely to look at an image: "low", "high" or "auto". */
  readonly detail?: string;
}

export type ModelMessage =
  | { readonly role: "user"; readonly text: string; readonly attachments?: readonly ModelAttachment[] }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly ToolCall[];
      /** The model's thoughts before it answered, for servers that want them back. */
      readonly reasoning?: string;
    }
  | {
      readonly role: "tool";
      readonly call: ToolCall;
      readonly output: string;
      readonly failed: boolean;
      readonly attachments?: readonly ModelAttachment[];
    };

/** "unable": the built-in model says that it takes a language model to answer this. */
export type FinishReason = "stop" | "length" | "content_filter" | "tool_calls" | "unable";

/** Why an answer ended early, for the person. */
export interface FinishDetail {
  readonly code: "model_declined" | "model_window_full";
  readonly message: string;
}

export type ModelPart =
  | { readonly type: "text"; readonly delta: string }
  /** Thoughts, or a summary of them, as the provider shows them. */
  | { readonly type: "reasoning"; readonly delta: string }
  | { readonly type: "call"; readonly call: ToolCall }
  /** Once, after all text and calls. */
  | { readonly type: "finish"; readonly reason: FinishReason; readonly why?: FinishDetail }
  | {
      readonly type: "usage";
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly cachedTokens: number;
      readonly cacheWriteTokens?: number;
      readonly hourWriteTokens?: number;
      readonly reasoningTokens: number;
      readonly costUsd?: number;
    };

export interface ModelList {
  readonly items: readonly ModelOption[];
  /** Providers whose own list could not be read: of those only what is configured is in it. */
  readonly unlisted: readonly string[];
}

/** Tokens of one request to a model. */
export interface TokenCount {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  /** Tokens of the input that the provider wrote to its cache, if it says so. */
  readonly cacheWriteTokens?: number;
  /** Of those, what was written for an hour. */
  readonly hourWriteTokens?: number;
  readonly reasoningTokens: number;
  /** US dollars that the server says it charged. */
  readonly costUsd?: number;
}

/** Limits the tools that the model may call, or requires one. */
export type ToolChoice =
  | "auto"
  | "none"
  | "required"
  | { readonly mode: "auto" | "required"; readonly names: readonly string[] };

/** The required form of the answer's text. The schema is a stranger's: it is only ever compiled in a sandbox. */
export type Format =
  | { readonly type: "json_object" }
  | {
      readonly type: "json_schema";
      readonly name: string;
      readonly description?: string;
      readonly schema: JsonSchema;
      readonly strict: boolean;
    };

declare module "../../kernel/plugin.ts" {
  interface Services {
    models: Models;
    modelCheck: ModelCheck;
  }
}
