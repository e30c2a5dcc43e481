/** Services of the agent for other plugins: turns, threads, files, approvals and calls of tools. */

import type { CallOptions, CallOutcome } from "../../host/services.ts";
import type { JsonSchema } from "../../kernel/kit/schema.ts";
import type { CallWords, FileChange, Upload } from "../../kernel/kit/tools.ts";
import type {
  AnsweredQuestions,
  Doubt,
  Figures,
  Generation,
  Origin,
  Outside,
  ParamRule,
  PlannedStep,
  RuleOffer,
  ThreadSummary,
  TurnTask,
  UsedStorage,
} from "../../kernel/kit/turns.ts";
import type {
  Attachment,
  Gate,
  Limiter,
  ModelName,
  Page,
  Reply,
  TokenScope,
  ToolCall,
  ToolInfo,
  ToolOutcome,
  Transaction,
  TurnEvent,
  TurnInput,
  TurnItem,
  TurnRecord,
  TurnStatus,
  Usage,
} from "../../kernel/plugin.ts";
import type { Format, ModelList, ModelTool, ToolChoice, WantedModel } from "../models/services.ts";
import type { FiguresQuery, FiguresSpan } from "../store/services.ts";
import type { BinnedThread, ContextUse, TurnVersions } from "./wire.ts";

export type { Upload } from "../../kernel/kit/tools.ts";
export type { BinnedThread, ContextUse, TurnVersions } from "./wire.ts";

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
  /** Takes back a message that waits in line: nothing is left of it. False where a turn has read it, or it has begun as one. */
  takeBack(user: string, turn: string): Promise<boolean>;
  /**
   * Every event of every turn of this user, on any channel and any node. `lost` is called where some may have been missed:
   * what is stored has to be read again. Returns a function that stops watching.
   */
  watch(
    user: string,
    listener: (event: TurnEvent, turn: { readonly id: string; readonly thread: string }) => void,
    lost?: () => void,
  ): () => void;
  /** The model of threads that have none of their own. */
  model(): ModelName;
  /** Lists the models that may be chosen for a thread, the configured one first; with a scope only those that it allows. */
  models(scope?: TokenScope): Promise<ModelList>;
  /** How many tokens a model would be sent with this turn, by estimate. Nothing runs, and nothing is stored. */
  measure(turn: Turn): Promise<number>;
  /** How full the model's window is for the next message on a thread, by estimate: what takes the room, and what it costs. */
  contextOf(turn: Caller & Pick<TurnPoint, "after"> & { readonly thread: string }): Promise<ContextUse>;
  /** All that this turn would know, in a few paragraphs by the model. Nothing is stored but what it cost. */
  condense(turn: Turn, signal?: AbortSignal): Promise<{ readonly text: string; readonly usage: Usage }>;
  /**
   * Adds tools, sections and checks of another plugin. The undo takes them away from later turns, ends those that run on this node as
   * interrupted, since a turn keeps what it began with, and resolves when they have ended. Everything else stays as it is.
   */
  extend(extension: Extension): () => Promise<void>;
  /**
   * Calls the listener whenever this node has looked for nodes that died, after their turns were closed. Returns a function that
   * unsubscribes.
   */
  onTakeover(listener: () => Promise<void>): () => void;
  /**
   * Runs turns that were waiting in line when the service stopped. Called when everything that adds to turns has started. The function
   * it returns leaves those that wait then for the next start.
   */
  resume(): Promise<() => Promise<void>>;
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
  /**
   * All turns, or with `through` those of one path: to this turn and on to the newest after it; "newest" is the newest of all. Pages
   * lead back in time, or with `after` forward: "0" is the beginning, and `next` of each page goes there. A page is bounded in bytes too.
   */
  turns(
    user: string,
    thread: string,
    query?: { readonly limit?: number; readonly before?: string; readonly through?: string } | ForwardQuery,
  ): Promise<TurnPage>;
  /** With the id of a message that a turn has taken, that turn. */
  turn(user: string, turn: string): Promise<TurnRecord | undefined>;
  /** Returns an attachment of a message or an output by the id that it is named by there. */
  attachment(user: string, id: string): Promise<ReadFile | undefined>;
  /**
   * The thread as one text. Without `through`, which is as for `turns`, Markdown is the path to the newest turn, and JSON all
   * that there is. A fault where the user has no such thread.
   */
  export(user: string, thread: string, format: ExportFormat, through?: string): Promise<ExportedThread>;
  rename(user: string, thread: string, title: string): Promise<void>;
  pin(user: string, thread: string, pinned: boolean): Promise<void>;
  /**
   * Sets the model of this thread from now on, on every node; undefined is the configured model. Rejects with a `Fault` if it
   * is not among `agent.models(scope)`.
   */
  setModel(user: string, thread: string, model: WantedModel | undefined, scope?: TokenScope): Promise<void>;
  /**
   * Puts a thread into its user's bin and stops what runs on it. From then on nothing but the bin shows it, and nothing continues it;
   * it goes after 30 days. What it waits for is asked again once it is restored.
   */
  bin(user: string, thread: string): Promise<void>;
  /** The bin, what was put there last first. */
  binned(
    user: string,
    query?: { readonly limit?: number; readonly before?: string },
  ): Promise<Page<BinnedThread>>;
  restore(user: string, thread: string): Promise<void>;
  /** Deletes for good what is in the bin, and returns how many threads that were. */
  emptyBin(user: string): Promise<number>;
  /** Undefined if there is no such thread. For those who keep something of a thread besides: one in the bin may be restored. */
  isBinned(user: string, thread: string): Promise<boolean | undefined>;
  /** Deletes a thread for good, also one in the bin. */
  remove(user: string, thread: string): Promise<void>;
  /** Turns, tokens and cost of all that has ended, also where its thread is gone. */
  usage(query: FiguresQuery): Promise<Figures>;
  /** How this user answered questions in that time. It is for them alone to see. */
  answered(user: string, span: FiguresSpan): Promise<AnsweredQuestions>;
  /** Calls the listener when stored turns of a thread were changed or deleted. Returns a function that unsubscribes. */
  onChanged(listener: (thread: string) => void): () => void;
  /** Whether the turn had called a tool that can change things outside. */
  hadSideEffects(turn: string): Promise<boolean>;
  /** A message that this turn took is no longer said there, because its job says it again. */
  unsay(tx: Transaction, turn: string, message: string): Promise<void>;
  /** Deletes what calls have recorded for a job that is not run again. */
  forgetRecords(job: string): Promise<unknown>;
  /** The identities of channels that have a thread. */
  identities(): Promise<readonly string[]>;
  /** A stored turn of any user as a check sees it; without an id, the last that called a tool. */
  checked(turn?: string): Promise<(CheckedTurn & { readonly createdAt: string }) | undefined>;
}

/** What commands do with the agent, here or in a service elsewhere, where the token says whose threads they are. */
export interface Conversations
  extends Pick<
    Threads,
    "list" | "find" | "export" | "rename" | "remove" | "bin" | "binned" | "restore" | "emptyBin"
  > {
  /** Starts a turn of the operator and follows it to its end. */
  ask(text: string, thread?: string): Promise<RunningTurn>;
  turns(user: string, thread: string, query: { readonly limit: number }): Promise<Page<TurnRecord>>;
  /** Counts turns, or calls of tools where it is `by` tool. */
  usage(query: FiguresQuery): Promise<{
    readonly figures: Figures;
    readonly storage: UsedStorage;
    /** The caller's own; absent if the query names a user or counts by user. */
    readonly answered?: AnsweredQuestions | undefined;
  }>;
}

/** Stored turns replayed with another model. Tools answer from their recorded results, and no thread is written to. */
export interface Comparisons {
  /** Finds the turns, and says what it will cost before anything is sent. Rejects with a `Fault` if there is no such model. */
  prepare(query: ComparisonQuery): Promise<Comparison>;
}

export interface ComparisonQuery {
  readonly user: string;
  readonly model: WantedModel;
  /** So many of the newest. */
  readonly last?: number | undefined;
  /** Only turns of these threads. */
  readonly threads?: readonly string[] | undefined;
  /** True: what is kept of earlier replays does not count. */
  readonly again?: boolean;
}

export interface Comparison {
  readonly model: ModelName;
  /** Where texts go; undefined if they stay in this process. */
  readonly host: string | undefined;
  readonly turns: number;
  /** How many of them have not been replayed yet. */
  readonly missing: number;
  /** What those will cost, by estimate. */
  readonly estimate: Usage;
  /** Oldest first. Throws when it is stopped or the daily cap is reached; what was replayed until then is kept. */
  run(signal: AbortSignal): AsyncIterable<ComparedTurn>;
}

export interface ComparedTurn {
  readonly turn: string;
  readonly thread: string;
  readonly title: string;
  readonly createdAt: string;
  /** The person's message. */
  readonly text: string;
  /** What came of it when it ran. */
  readonly before: ComparedSide;
  /** What the other model made of it. */
  readonly after: ComparedSide;
  /** "differs_here": the replay ended at a call that has no recorded result. */
  readonly calls: "same" | "different" | "differs_here" | "failed";
}

export interface ComparedSide {
  readonly model: ModelName;
  readonly answer: string;
  readonly calls: readonly Pick<ToolCall, "name" | "params">[];
  readonly usage: Usage;
  /** From its beginning to its end; in a replay tools take no time. */
  readonly millis: number;
  /** Calls that the person was asked about first, or would be by the rules of today. */
  readonly questions: number;
  readonly error?: { readonly code: string; readonly message: string };
}

interface ForwardQuery {
  readonly limit?: number;
  readonly after: string;
}

interface ReadFile {
  readonly mime: string;
  readonly name: string | undefined;
  readonly data: Uint8Array;
  readonly origins?: readonly Origin[] | undefined;
}

/** Files and images that people send with messages: they are uploaded first, and then named by a message. */
export interface Attachments {
  readonly limits: {
    readonly fileBytes: number;
    /** The limit for one message. */
    readonly files: number;
    readonly messageBytes: number;
  };
  /** The type is read from the bytes, whatever the name says. Rejects with a `Fault` that says why a file is not accepted. */
  add(
    user: string,
    file: {
      readonly name: string;
      readonly data: Uint8Array;
      /** Whose words it was made from, if it comes from the workspace. */
      readonly origins?: readonly Origin[] | undefined;
    },
  ): Promise<Upload>;
  /** What a file says, as a model would read it. Rejects with a `Fault` that says why it has no text. */
  textOf(user: string, file: { readonly name: string; readonly data: Uint8Array }): Promise<string>;
  /** An upload, or what came with a message of this user. */
  read(user: string, id: string): Promise<ReadFile | undefined>;
  /** False where there is no such upload: what came with a message goes with its thread. */
  remove(user: string, id: string): Promise<boolean>;
  /**
   * Resolves these ids for a message: `attachments` of its input, `attached` of its turn, and the second parameter of `run`.
   * They are uploads, or came with earlier messages of the same user.
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

type ApprovalGate = Extract<Gate, { type: "approval" }>;

export interface Approvals {
  /** Returns this user's remembered decisions: tool → always allowed or denied. */
  remembered(user: string): Promise<Readonly<Record<string, "allow" | "deny">>>;
  /** An "allow" holds for the tool with this fingerprint, not for another that takes its name. */
  remember(user: string, tool: string, decision: "allow" | "deny", fingerprint?: string): Promise<void>;
  revoke(user: string, tool: string): Promise<boolean>;
  pending(user: string): Promise<readonly Gate[]>;
  /**
   * Calls the listener when a person allows later calls of a tool what this gate asked about, before the turn that answers the gate runs:
   * the destinations or, if they agreed to one, what the rule says. Returns a function that unsubscribes.
   */
  onTrusted(
    listener: (
      user: string,
      answered: { readonly gate: ApprovalGate; readonly rule?: ParamRule },
    ) => Promise<void>,
  ): () => void;
  /** Lists the pending gates of channels' identities, each with its user: they cannot sign in and answer. */
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

/** Registered with `agent.extend`. Every part is optional. */
export interface Extension {
  readonly tools?: readonly OwnTool[];
  /** Called at the beginning of each turn. `allows` tells whether the turn may use a tool. */
  preface?(user: string, allows: (tool: string) => boolean): Promise<Preface>;
  /** Called once for each turn, before its first call. */
  check?(turn: CheckedTurn): TurnCheck | Promise<TurnCheck>;
}

type Asked = readonly string[] | undefined;

/** A tool that runs in our process: trusted code, so it needs no sandbox. */
export interface OwnTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** How its calls read; by its name without it. */
  readonly words?: CallWords;
  /**
   * Sentences for the person to agree to before the call, where it does something that lasts beyond the conversation. Nobody is asked
   * where there are none, nor where it throws a fault: the model is told.
   */
  asks?(params: unknown, context: OwnToolContext): Asked | Promise<Asked>;
  /** Checks look at its calls like at those of installed tools, since it takes something away or plans such calls: what its params are for. */
  readonly judged?: NonNullable<ToolInfo["params"]>;
  /** True: it asks even where the operator allows the tool, and is not there where nobody can be asked. */
  readonly needsPerson?: boolean;
  /** True: its sentences are for the person, too, if the operator allows the tool. */
  readonly asksAnyway?: boolean;
  /**
   * What a call leaves behind. One that "reads" leaves nothing, so it can be made from inside another call, such as code. After one that
   * "writes" a job is not run again after a crash. One that is "recorded" writes too, and calls `record` in the transaction of its change:
   * the job is run again, and finds it done. One that is "repeatable" is not made from inside another, but does no harm when it is made again.
   */
  readonly effect: "reads" | "writes" | "recorded" | "repeatable";
  /**
   * Tells from the note of a call without an outcome whether it was done before the crash: its outcome, or "undone". Undefined where that cannot
   * be told: then the job ends there.
   */
  found?(note: unknown, params: unknown, context: OwnToolContext): Promise<OwnOutcome | "undone" | undefined>;
  /** True: only the operator wrote what it returns, and the model is meant to follow it. */
  readonly isFollowed?: boolean;
  /** False where a turn has no use for it: the model is not told of it then, and a call of it all the same is refused in its own words. */
  isOffered?(turn: TurnOffered): boolean | Promise<boolean>;
  /** Why the call cannot be made, before anybody is asked. */
  refuse?(params: unknown, context: OwnToolContext): ToolOutcome | undefined;
  /** It stands for a call of an installed tool, which is planned and made in place of `run`, or says why it cannot be. */
  becomes?(params: unknown, context: OwnToolContext): Promise<BecomingCall | ToolOutcome>;
  run(params: unknown, context: OwnToolContext): Promise<OwnOutcome>;
}

export interface TurnOffered extends Pick<OwnToolContext, "user" | "isScoped"> {
  readonly delegating?: Pick<Delegating, "task">;
  /** False on channels where nobody can be asked and answered. */
  readonly isTalk?: boolean;
  /** Whether an installed tool that changes something runs without an approval of its own. */
  readonly changes?: boolean;
}

export interface BecomingCall {
  readonly tool: string;
  readonly params: string;
  readonly mounted: NonNullable<CallOptions["mounted"]>;
}

/**
 * `origins`: whose words the output is, where they are not the person's. `usage`: what other turns used for it. `change`: what it
 * changed in a file, for the person only.
 */
export type OwnOutcome = ToolOutcome & {
  readonly origins?: readonly Origin[];
  readonly usage?: Usage;
  readonly change?: FileChange | undefined;
};

/** What a call has done for a job, or is about to do. */
export interface CallRecord {
  /** What a person has to look at if it cannot be told whether it was done. */
  readonly about: string;
  /** Absent where the change is made after the transaction. */
  readonly outcome?: OwnOutcome;
  /** Plain data, by which `found` can tell later whether the change was made. */
  readonly note?: unknown;
}

export interface OwnToolContext {
  readonly user: string;
  readonly thread: string;
  readonly turn?: string;
  readonly channel?: string;
  /** Nobody is there to be asked. */
  readonly unattended?: boolean;
  /** The token behind the turn may not use everything. */
  readonly isScoped?: boolean;
  /** The person has agreed to this very call. */
  readonly isApproved?: boolean;
  /** The turn as far as another one that works for it has to know. */
  readonly delegating?: Delegating;
  /** Aborted when the turn is stopped. */
  readonly signal?: AbortSignal;
  /** For a call that is "recorded": called in the transaction of the change. Absent in a turn that is not run again. */
  record?(tx: Transaction, record: CallRecord): Promise<void>;
  /** Makes these tools required for the rest of the turn: it fails where the last call of one of them did. */
  require?(tools: readonly string[]): void;
  /** For the rest of the turn no tools but these can be used, and those that begin with `skill_`. It never allows more than before. */
  narrow?(tools: readonly string[]): void;
  /** Whose words a text of the model may be made of; none where it is the person's own. */
  originsOf?(text: string, name?: string): Promise<readonly Origin[]>;
}

export interface Delegating extends Pick<WorkPolicy, "task" | "job" | "budgetUsd"> {
  /** The id of the call. */
  readonly call: string;
  /** Aborted when the turn is over. */
  readonly signal: AbortSignal;
  readonly scopes: readonly TokenScope[];
  /** US dollars that the turn itself has cost so far. */
  spentUsd(): number;
  /** Tells those who watch the turn, which then counts as alive. */
  notice(code: string, message: string): void;
  /** A sign of life that nobody has to see. */
  alive(): void;
}

export interface Preface {
  readonly sections: readonly {
    readonly text: string;
    /** True where only the operator or the user can have written it. */
    readonly isPersons?: boolean;
    /** True where it was read from the user's memory. */
    readonly isMemory?: boolean;
    /**
     * Names a text that may change while a thread continues: it is told with a message whenever it has changed. Without one it stands
     * before the conversation, and each change costs a new reading of the whole thread.
     */
    readonly topic?: string;
    /** Who wrote it, where that is somebody else: their words vouch for nothing. */
    readonly origin?: Origin | undefined;
  }[];
  /** The turn fails where the last call of one of these did. */
  readonly requiredTools?: readonly string[];
}

/** A turn as it was spoken, as far as it tells who said what. */
export interface SpokenTurn {
  readonly input: TurnInput;
  readonly instructions?: string | undefined;
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  readonly outside?: Outside | undefined;
  /** While the turn runs, more are added. */
  readonly items: readonly TurnItem[];
  /** The gate that it ended at. */
  readonly gate?: Gate | undefined;
  /** Text files that came with it, by the ids of the attachments. */
  readonly files: ReadonlyMap<string, string>;
}

/** A turn whose calls are looked at, while it runs or afterwards. */
export interface CheckedTurn extends SpokenTurn {
  readonly id: string;
  readonly thread: string;
  readonly user: string;
  /** Told to the model with this turn only. */
  readonly instructionsOnce?: string | undefined;
  readonly unattended: boolean;
  /** Its calls are looked at once more, and not made: nothing is counted. */
  readonly isReplay: boolean;
  /** Keyed by name. */
  readonly installed: ReadonlyMap<string, ToolInfo>;
  /** Whether a tool is one of those that plugins added to the agent. */
  isOwn(tool: string): boolean;
  isFollowed(tool: string): boolean;
  /** A tool as the model reads it. */
  show(tool: ToolInfo): ModelTool;
  /** The sections before the conversation that only the operator or the user can have written. */
  persons(): Promise<readonly string[]>;
  /** The sections before the conversation that somebody else wrote. */
  strangers(): Promise<readonly Stranger[]>;
  /** Earlier turns of its branch, oldest first; with `known` only those after it, where that is still the branch. */
  /** The turn whose tasks and their tasks this one belongs to; itself if it is no task. */
  readonly tree: string;
  /** What was said in the turns that delegated this one, and before them. */
  above(): Promise<readonly SpokenTurn[]>;
  past(known?: { readonly branch: string; readonly to: number }): Promise<PastTurns>;
}

export interface Stranger {
  readonly origin: Origin;
  readonly text: string;
}

export interface PastTurns {
  readonly branch: string;
  /** The number of the turn that they come after; 0 where they are all. */
  readonly after: number;
  readonly turns: readonly (SpokenTurn & { readonly seq: number; readonly status: TurnStatus })[];
}

export interface TurnCheck {
  /** Judges a call of an installed tool, or of an own one that is `judged`. A person who approved this very call is not asked again. */
  rule(call: ToolCall, tool: ToolInfo, isOwn?: boolean): Promise<CallRuling>;
  originsOf?: OwnToolContext["originsOf"];
  /**
   * A call that was made inside of another has answered: for the rest of the turn that counts as said. `origins`: whose words it is, where
   * the tool says so. Returns whose they are, where they are not the person's or the agent's own.
   */
  hear?(call: ToolCall, outcome: ToolOutcome, origins: readonly Origin[]): readonly Origin[];
}

export interface CallRuling {
  /** Why the person is asked first; none where the call may run. */
  readonly doubts: readonly Doubt[];
  /** Why the call is not made at all, unless the person has approved it before. */
  readonly refusal?: { readonly code: string; readonly message: string } | undefined;
  /** Why a request of the call must not be sent to an address; absent where its grant alone says so. */
  readonly checkAddress?: CallOptions["checkAddress"];
  /** For a call that plans others: what the person is asked about. */
  readonly steps?: readonly PlannedStep[] | undefined;
  /** A rule that would answer later questions like this one. */
  readonly offer?: RuleOffer | undefined;
  /** A digest of the tools that a yes would reach, as they are now. It is kept with the question. */
  covers?(): string;
  /** For the receipt, should it run. */
  ruling?(isApproved: boolean): NonNullable<CallOptions["ruling"]>;
}

/** Writes a channel's own rows about a turn in the transaction that opens it. Where it throws, no turn was opened. */
export type Alongside = (
  tx: Transaction,
  turn: {
    readonly id: string;
    readonly thread: string;
    /** The gate that the thread waited at until then. */
    readonly gate: Promise<Gate | undefined>;
  },
) => Promise<void>;

/** Who asks. */
export interface Caller {
  readonly user: string;
  /** The name of the channel that took it. */
  readonly channel: string;
  /** The scope of the token that the request came with: `user(context).scope` of the service `web`. */
  readonly scope?: TokenScope;
}

/** The call was not made: the person has to allow it first. */
export interface AskOutcome {
  readonly status: "ask";
  /** In words, what the tool may do. */
  readonly grants: readonly string[];
  readonly fingerprint: string;
}

export type ExportFormat = "markdown" | "json";

export interface ExportedThread {
  /** The name of the file to keep it in, made from the title. */
  readonly name: string;
  readonly mime: string;
  /** In pieces, since it may be long: each is read from the store when it is asked for. */
  readonly text: AsyncIterable<string>;
}

export interface TurnPage extends Page<TurnRecord> {
  /** The turns of a path that have other versions. */
  readonly versions: readonly TurnVersions[];
}

/** A running turn. Nobody has to listen: it runs, ends and is stored anyway. */
export interface RunningTurn extends AsyncIterable<TurnEvent> {
  readonly id: string;
  readonly thread: string;
  readonly record: Promise<TurnRecord>;
  cancel(): void;
}

export interface ExternalTool {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonSchema;
}

/** The bytes of an attachment that the turn's input or history names. */
export interface AttachedBytes {
  readonly id: string;
  readonly data: Uint8Array;
  /** Its text in UTF-8, where the attachment says that it has one and the data are not that. */
  readonly text?: Uint8Array;
}

/**
 * One request to the agent, whatever channel it came by: who asks, where, what, and by which policy. It stays in this process. Most channels
 * give `user`, `channel`, `thread` and `input`.
 */
export interface Turn extends Caller, TurnPoint {
  readonly input: TurnInput;
  /** The bytes that the attachments in `input` and in the preamble's history stand for. */
  readonly attached?: readonly AttachedBytes[];
  readonly preamble?: Preamble;
  readonly answer?: AnswerPolicy;
  readonly work?: WorkPolicy;
  readonly keeping?: KeepingPolicy;
}

/** Where it takes place. A turn without any of this begins a new thread. */
export interface TurnPoint {
  /** Continues this thread of the same user; absent starts a new one. */
  readonly thread?: string;
  /**
   * The turn of the thread that this one goes on from; null for the beginning. If the thread has gone on since, this one
   * is a branch: it sees the history of that turn and nothing of the other branch, and answers the gate of that turn.
   */
  readonly after?: string | null;
  /** UUID minted by the channel when it has to know the turn's name beforehand. */
  readonly id?: string;
}

/** What the model is told ahead of the input, and whose words that is. */
export interface Preamble {
  /** Earlier items brought by the caller, for a new thread or, with `after`, for one that goes on. */
  readonly history?: readonly TurnItem[];
  /** True if the caller sent the whole history with this request: it is never summarised. */
  readonly isReplay?: boolean;
  /** Rendered as an `<instructions>` block ahead of the message, and stored with it. */
  readonly instructions?: string;
  /** Instructions of this request only: shown to the model after the system text, and no part of the history. */
  readonly instructionsOnce?: string;
  /** Rendered as a `<user-context>` block ahead of the message, and stored with it. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Put ahead of the message as data, never as orders, and stored with it. */
  readonly outside?: Outside;
  /** Whose words the input may be made of, if they are not the person's. */
  readonly origins?: readonly Origin[];
}

/** How it is to be answered: by which model, with which tools, in which form. */
export interface AnswerPolicy {
  /** The model of a new thread, now and later; absent: the configured model. `threads.setModel` changes it. */
  readonly model?: WantedModel;
  /** Functions the caller runs itself; a call to one pauses the thread on a gate. */
  readonly tools?: readonly ExternalTool[];
  /** True: a caller's tool takes the place of one of ours that has its name, for this turn. False: ours stay. */
  readonly callersToolsWin?: boolean;
  readonly toolChoice?: ToolChoice;
  /** Tools whose error fails the turn, with the code `required_tool_failed`: the last call of each counts. */
  readonly requiredTools?: readonly string[];
  /** True: the calls of the caller's functions in one answer surface together, at one gate. False: one at a time. */
  readonly parallelCalls?: boolean;
  /** Calls of our tools; beyond them the model has to answer without. */
  readonly maxToolCalls?: number;
  readonly format?: Format;
  readonly generation?: Generation;
  readonly temperature?: number;
  /**
   * Decides about input of this request that does not fit the window: it fails with `context_length_exceeded`, or
   * whole pairs are left out of its middle. Absent on channels where people talk.
   */
  readonly truncation?: "disabled" | "auto";
}

/** What it is done for, and within which limits. */
export interface WorkPolicy {
  /** The task that it does for another turn. */
  readonly task?: TurnTask;
  /** The job that it is an attempt of. */
  readonly job?: string;
  /**
   * True if no person is there to be asked: what would wait for an approval, a credential or an answer fails, and the model
   * is told that it needs a person.
   */
  readonly unattended?: boolean;
  /** US dollars that its models may cost. Once they are spent it fails with `budget_spent`. */
  readonly budgetUsd?: number;
  /**
   * True where people talk. Its message, if it is nothing but words and files, is taken by a turn of its thread that has this too and still
   * runs, before that asks the model again: its own turn then never starts.
   */
  readonly steers?: boolean;
  /** The trace that the request came with: its part, or what it follows from. Values of the header `traceparent`. */
  readonly trace?: { readonly parent?: string | undefined; readonly links?: readonly string[] };
}

/** What is kept of it. */
export interface KeepingPolicy {
  /** True: nothing of the turn, nor of its thread, is left when it ends. Only for a new thread. */
  readonly ephemeral?: boolean;
  /** True if a person reads along in a list of threads: the model gives a new thread its title after the first answer. */
  readonly wantsTitle?: boolean;
  /** True: its messages remember in which pieces they were told, so that the same events can be told again. */
  readonly keepsPieces?: boolean;
  /**
   * True: if the service stops while the turn waits in line, it runs after the restart. For a channel that does not wait for the
   * answer in the request that brought the message. It holds for a message without `history`.
   */
  readonly survivesRestart?: boolean;
  /** True if its message was counted against the user's storage when it was accepted: it runs even if that is full by now. */
  readonly isCounted?: boolean;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    agent: Agent;
    threads: Threads;
    conversations: Conversations;
    comparisons: Comparisons;
    attachments: Attachments;
    approvals: Approvals;
    toolCalls: ToolCalls;
  }
}
