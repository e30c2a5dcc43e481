/** What the agent offers beside threads, jobs and memory: turns, files, approvals, identities, calls of tools. */

import type { TrustedDestination } from "./destination.ts";
import type { ExplainedTurn } from "./explained.ts";
import type { Gate, Reply } from "./gate.ts";
import type { ModelName, ModelOption } from "./model.ts";
import type { Transaction } from "./store.ts";
import type { Attachment, ToolCall } from "./tool-call.ts";
import type { CallOutcome, ToolInfo } from "./tools.ts";
import type { AttachedBytes, Turn, TurnEvent, TurnRecord } from "./turn.ts";
import type { Usage } from "./usage.ts";
import type { AccountKey, Identity, PairingGate, TokenScope } from "./user.ts";

/** A running turn. Nobody has to listen: it runs, ends and is stored anyway. */
export interface RunningTurn extends AsyncIterable<TurnEvent> {
  readonly id: string;
  readonly thread: string;
  readonly record: Promise<TurnRecord>;
  cancel(): void;
}

/** Writes a channel's own rows about a turn in the transaction that opens it. Where it throws, no turn was opened. */
export type Alongside = (
  tx: Transaction,
  turn: {
    readonly id: string;
    readonly thread: string;
    /** What the thread waited for until then. */
    readonly gate: Promise<Gate | undefined>;
  },
) => Promise<void>;

export interface ModelList {
  readonly items: readonly ModelOption[];
  /** Providers whose own list could not be read: of those only what is configured is in it. */
  readonly unlisted: readonly string[];
}

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
}

/** A file that a message can name. */
export interface Upload extends Attachment {
  readonly name: string;
  /** What the model does not take of it, in words for the person. */
  readonly note?: string;
}

/** Files and images that people send with messages: they are uploaded first, and then named by a message. */
export interface Attachments {
  readonly limits: {
    readonly fileBytes: number;
    /** Of one message. */
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

export interface Provenance {
  /** Where the values of the calls of this turn came from; without one, of the last that called a tool. */
  explain(turn?: string): Promise<ExplainedTurn | undefined>;
}

/** Where calls may go although somebody else named it. */
export interface Destinations {
  /** Of this user and of everybody. */
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

/** Which account a webhook identity is. */
export interface Identities {
  /** The account that an operator paired it with; whoever asks looks whether that account is still there. */
  account(identity: string): Promise<AccountKey | undefined>;
  /** Those that have said something or are paired. */
  list(): Promise<readonly Identity[]>;
  /** Those whose messages wait, oldest first. */
  pending(): Promise<readonly PairingGate[]>;
  /** From now on its messages are the account's, and so are its threads, jobs, memory and missions. Messages that wait are run. */
  pair(identity: string, account: AccountKey): Promise<void>;
  /** From now on it speaks for itself again; what the account got stays there. False where it was not paired. */
  unpair(identity: string): Promise<boolean>;
  /** Its messages that wait are not run; answers how many. */
  deny(identity: string): Promise<number>;
}

export interface ExternalTools {
  /** Names a caller may not shadow, prefixes included. */
  isReserved(name: string): Promise<boolean>;
  /** Our own tools: the agent's and the installed ones. */
  names(): Promise<readonly string[]>;
  /** The live external-tool gate of this user's thread. */
  pending(user: string, thread: string): Promise<Extract<Gate, { type: "external_tool" }> | undefined>;
}

/** What the operator taught the agent: a text for each kind of task, loaded when a task fits. */
export interface Skill {
  readonly name: string;
  readonly description: string;
}

export interface Skills {
  /** What there is now: they may come and go while the service runs. */
  list(): Promise<readonly Skill[]>;
  read(name: string): Promise<(Skill & { readonly text: string }) | undefined>;
}

/** Who calls a tool without a turn. */
export interface Caller {
  readonly user: string;
  readonly channel: string;
  readonly scope?: TokenScope;
}

/** The call was not made: the person has to allow it first. */
export interface AskOutcome {
  readonly status: "ask";
  /** In words, what the tool may do. */
  readonly grants: readonly string[];
  readonly fingerprint: string;
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
}
