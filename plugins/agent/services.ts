/** What the agent offers to other plugins: turns, threads, files, approvals and calls of tools. */
import type {
  Alongside,
  AskOutcome,
  AttachedBytes,
  Caller,
  ExportedThread,
  ExportFormat,
  Figures,
  FiguresQuery,
  ModelList,
  ThreadSummary,
  TurnPage,
  WantedModel,
} from "../../kernel/kit.ts";
import type {
  Attachment,
  CallOutcome,
  CheckedTurn,
  Extension,
  Gate,
  Limiter,
  ModelName,
  Page,
  Reply,
  RunningTurn,
  TokenScope,
  ToolCall,
  ToolInfo,
  Transaction,
  Turn,
  TurnEvent,
  TurnRecord,
  Upload,
  Usage,
} from "../../kernel/plugin.ts";

export interface Agent {
  /**
   * Resolves when the turn is on disk; only then does it start to run. Rejects with a `Fault` where it cannot even
   * begin (foreign thread, no such gate, busy).
   */
  run(turn: Turn, alongside?: Alongside): Promise<RunningTurn>;
  /** That turn of this user while this node runs it, from its first event on. */
  running(user: string, turn: string): RunningTurn | undefined;
  /**
   * Stops that turn of this user; one that waits for the caller's function waits no longer, and its thread is free
   * again. True where there was something to stop.
   */
  cancel(user: string, turn: string): Promise<boolean>;
  /**
   * Every event of every turn of this user, on any channel and any node. `lost` is called where some may have been missed:
   * what is stored has to be read again. Returns a function that stops watching.
   */
  watch(
    user: string,
    listener: (event: TurnEvent, turn: { readonly id: string; readonly thread: string }) => void,
    lost?: () => void,
  ): () => void;
  /** What answers where a thread has no model of its own. */
  model(): ModelName;
  /** What may be chosen for a thread, the configured model first; with a scope only what that allows. */
  models(scope?: TokenScope): Promise<ModelList>;
  /** How many tokens a model would be sent with this turn, by estimate. Nothing runs, and nothing is stored. */
  measure(turn: Turn): Promise<number>;
  /** All that this turn would know, in a few paragraphs by the model. Nothing is stored but what it cost. */
  condense(turn: Turn, signal?: AbortSignal): Promise<{ readonly text: string; readonly usage: Usage }>;
  /**
   * The user is gone: what runs or waits to run for them stops. With data, all that is kept of them goes: threads, jobs,
   * memory, missions and remembered answers. Receipts of tool calls, which hold nothing that was said, stay.
   */
  removeUser(user: string, options: { readonly withData: boolean }): Promise<void>;
  /** Adds tools, sections and checks of another plugin. Returns the undo: it ends every turn, so that none goes on without them. */
  extend(extension: Extension): () => Promise<void>;
  /** Gives what is kept of one user to another: threads, memory, missions, jobs. */
  giveUser(tx: Transaction, from: string, to: string): Promise<void>;
  /** How many messages a user may send in a minute, over all chat channels. */
  readonly chatLimit: Limiter;
}

export interface Threads {
  list(
    user: string,
    query?: {
      readonly q?: string;
      readonly limit?: number;
      readonly before?: string;
      /** Otherwise only the time of the last change counts. */
      readonly pinnedFirst?: boolean;
    },
  ): Promise<Page<ThreadSummary>>;
  find(user: string, thread: string): Promise<ThreadSummary | undefined>;
  /** All turns, or with `through` those of one path: to this turn and on to the newest after it; "newest" is the newest of all. */
  turns(
    user: string,
    thread: string,
    query?: { readonly limit?: number; readonly before?: string; readonly through?: string },
  ): Promise<TurnPage>;
  turn(user: string, turn: string): Promise<TurnRecord | undefined>;
  /** What came with a message or an output, by the id that it is named by there. */
  attachment(
    user: string,
    id: string,
  ): Promise<
    { readonly mime: string; readonly name: string | undefined; readonly data: Uint8Array } | undefined
  >;
  /**
   * The thread as one text. Without `through`, which is as for `turns`, Markdown is the path to the newest turn, and JSON all
   * that there is. A fault where the user has no such thread.
   */
  export(user: string, thread: string, format: ExportFormat, through?: string): Promise<ExportedThread>;
  rename(user: string, thread: string, title: string): Promise<void>;
  pin(user: string, thread: string, pinned: boolean): Promise<void>;
  /**
   * What answers on this thread from now on, on every node; undefined is the configured model. Rejects with a `Fault` where it
   * is not among `agent.models(scope)`.
   */
  setModel(user: string, thread: string, model: WantedModel | undefined, scope?: TokenScope): Promise<void>;
  remove(user: string, thread: string): Promise<void>;
  /** Turns, tokens and cost, counted from the turns that are stored. */
  usage(query: FiguresQuery): Promise<Figures>;
  /** Whether the turn had called a tool that can change things outside. */
  hadSideEffects(turn: string): Promise<boolean>;
  /** Users with a thread whose names begin so. */
  users(prefix: string): Promise<readonly string[]>;
  /** A stored turn of any user as a check sees it; without an id, the last that called a tool. */
  checked(turn?: string): Promise<(CheckedTurn & { readonly createdAt: string }) | undefined>;
}

/** Files and images that people send with messages: they are uploaded first, and then named by a message. */
export interface Attachments {
  readonly limits: {
    readonly fileBytes: number;
    /** The limit for one message. */
    readonly files: number;
    readonly messageBytes: number;
  };
  /** What it is shows in its bytes, whatever it is called. Rejects with a `Fault` that says why it is not taken. */
  add(user: string, file: { readonly name: string; readonly data: Uint8Array }): Promise<Upload>;
  /** An upload, or what came with a message of this user. */
  read(
    user: string,
    id: string,
  ): Promise<
    { readonly mime: string; readonly name: string | undefined; readonly data: Uint8Array } | undefined
  >;
  /** False where there is no such upload: what came with a message goes with its thread. */
  remove(user: string, id: string): Promise<boolean>;
  /**
   * What a message that names these ids brings: `attachments` of its input, `attached` of its turn, and what `run` has to be
   * given as its second parameter. They are uploads, or what came with earlier messages of the same user.
   */
  bring(
    user: string,
    ids: readonly string[],
  ): Promise<{
    readonly attachments: readonly Attachment[];
    readonly attached: readonly AttachedBytes[];
    readonly alongside: Alongside;
  }>;
}

export interface Approvals {
  /** What was remembered for this user: tool → always allowed or denied. */
  remembered(user: string): Promise<Readonly<Record<string, "allow" | "deny">>>;
  /** An "allow" holds for the tool with this fingerprint, not for another that takes its name. */
  remember(user: string, tool: string, decision: "allow" | "deny", fingerprint?: string): Promise<void>;
  revoke(user: string, tool: string): Promise<boolean>;
  pending(user: string): Promise<readonly Gate[]>;
  /** What the threads of webhook identities wait for, each with its user: they cannot sign in and answer. */
  pendingOfIdentities(): Promise<readonly (Gate & { readonly user: string })[]>;
}

/** Calls of installed tools by a channel itself, without a model: under the same rules as in a turn. */
export interface ToolCalls {
  /** Those that this caller may use, at once or when asked; none that is switched off or denied. */
  list(caller: Caller): Promise<readonly (ToolInfo & { readonly asks: boolean })[]>;
  /** `approved`: the fingerprint of the tool that the person has just allowed this very call of. */
  call(
    call: ToolCall,
    caller: Caller,
    options: { readonly signal?: AbortSignal; readonly approved?: string },
  ): Promise<CallOutcome | AskOutcome>;
  /** Goes on with a call that asked something. */
  resume(
    call: ToolCall,
    resume: string,
    replies: readonly Reply[],
    caller: Caller,
    options: { readonly signal?: AbortSignal },
  ): Promise<CallOutcome>;
  /** Names a caller may not shadow, prefixes included. */
  isReserved(name: string): Promise<boolean>;
  /** Our own tools: the agent's and the installed ones. */
  names(): Promise<readonly string[]>;
  /** The live external-tool gate of this user's thread. */
  pending(user: string, thread: string): Promise<Extract<Gate, { type: "external_tool" }> | undefined>;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    agent: Agent;
    threads: Threads;
    attachments: Attachments;
    approvals: Approvals;
    toolCalls: ToolCalls;
  }
}
