/**
 * The vocabulary every channel, the agent and the tool host share. Plain data: it can be stored,
 * sent to a browser and printed. Down go `Turn` and `ToolCall`; up come `ToolOutcome` and `TurnEvent`.
 */

import { type Declared, hidden, type JsonSchema, named, nullable } from "../schema/declare.ts";
import { Time, Type } from "../schema/type.ts";
import { ApprovalDecision, Gate, Origin, Reply } from "./gate.ts";
import { type Generation, ModelName, type WantedModel } from "./model.ts";
import { Attachment, ToolCall, ToolOutcome } from "./tool-call.ts";
import { Usage } from "./usage.ts";
import type { TokenScope } from "./user.ts";

/** Why a turn or a job failed. */
export const Failure = Type.Object({ code: Type.String(), message: Type.String() });
export type Failure = Declared<typeof Failure>;

export const TurnStatus = Type.Enum(["queued", "running", "waiting", "completed", "failed", "cancelled"]);
export type TurnStatus = Declared<typeof TurnStatus>;

const attachments = Type.Optional(Type.Array(Attachment));

export const TurnInput = Type.Union(
  [
    Type.Object({ type: Type.Literal("message"), text: Type.String(), attachments }),
    /** Resumes a thread that waits on an external-tool gate. */
    Type.Object({ type: Type.Literal("tool_output"), call: Type.String(), output: Type.String() }),
    /** Resumes one that waits for several calls: the outputs of all of them, and what is said besides. */
    Type.Object({
      type: Type.Literal("tool_outputs"),
      outputs: Type.Array(Type.Object({ call: Type.String(), output: Type.String(), attachments })),
      text: Type.Optional(Type.String()),
      attachments,
    }),
    /** Resumes a thread that waits on an approval gate. */
    Type.Object({ type: Type.Literal("approval"), gate: Type.String(), decision: ApprovalDecision }),
    /** Resumes a thread that waits on an authentication gate: the credential is there now, or the user gave up. */
    Type.Object({
      type: Type.Literal("authentication"),
      gate: Type.String(),
      decision: Type.Enum(["done", "deny"]),
    }),
    /** Resumes a thread that waits on a question gate. */
    Type.Object({ type: Type.Literal("question"), gate: Type.String(), replies: Type.Array(Reply) }),
  ],
  { $id: "TurnInput" },
);
export type TurnInput = Declared<typeof TurnInput>;

/** How long each delta was, where the turn keeps them. */
const pieces = Type.Optional(hidden(Type.Array(Type.Integer())));

/** One entry of a turn, in the order in which it happened. */
export const TurnItem = Type.Union(
  [
    Type.Object({
      type: Type.Literal("message"),
      id: Type.String(),
      role: Type.Enum(["user", "assistant", "system"]),
      text: Type.String(),
      attachments,
      pieces,
      origins: Type.Optional(
        Type.Array(Origin, { description: "Whose words it is, where it is not the person's: a summary's" }),
      ),
    }),
    Type.Object({
      type: Type.Literal("tool_call"),
      id: Type.String(),
      call: ToolCall,
      external: Type.Boolean(),
    }),
    Type.Object({
      type: Type.Literal("tool_result"),
      id: Type.String(),
      call: Type.String(),
      outcome: ToolOutcome,
      attachments,
      origins: Type.Optional(
        Type.Array(Origin, { description: "Whose words the output is, beside the tool's own" }),
      ),
    }),
    /** What the model thought before it spoke, as far as it tells. */
    Type.Object({
      type: Type.Literal("reasoning"),
      id: Type.String(),
      text: Type.String(),
      pieces,
      millis: Type.Optional(Type.Integer({ description: "How long it thought" })),
    }),
  ],
  { $id: "TurnItem" },
);
export type TurnItem = Declared<typeof TurnItem>;

export interface ExternalTool {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonSchema;
}

/** What came with a message but was written by people outside, whom nobody here vouches for. */
export const Outside = Type.Object({
  origin: Type.String({ description: "Where it came from" }),
  data: Type.Optional(Type.Unknown()),
  /** The pieces of the message itself that are theirs. */
  spans: Type.Optional(Type.Array(Type.Object({ from: Type.Integer(), to: Type.Integer() }))),
});
export type Outside = Declared<typeof Outside>;

/** Which tools the model may call, or has to. */
export type ToolChoice =
  | "auto"
  | "none"
  | "required"
  | { readonly mode: "auto" | "required"; readonly names: readonly string[] };

/** What the text of the answer has to be. The schema is a stranger's: it is only ever compiled in a sandbox. */
export type Format =
  | { readonly type: "json_object" }
  | {
      readonly type: "json_schema";
      readonly name: string;
      readonly description?: string;
      readonly schema: JsonSchema;
      readonly strict: boolean;
    };

/** The bytes of an attachment that the turn's input or history names. */
export interface AttachedBytes {
  readonly id: string;
  readonly data: Uint8Array;
  /** Its text in UTF-8, where the attachment says that it has one and the data are not that. */
  readonly text?: Uint8Array;
}

/** One request to the agent, whatever channel it came by. It stays in this process. */
export interface Turn {
  readonly user: string;
  /** The name of the channel that took it. */
  readonly channel: string;
  /** UUID minted by the channel when it has to know the turn's name beforehand. */
  readonly id?: string;
  /** Continues this thread of the same user; absent starts a new one. */
  readonly thread?: string;
  /** What answers on a new thread, now and later; absent: the configured model. `threads.setModel` changes it. */
  readonly model?: WantedModel;
  readonly input: TurnInput;
  /** Rendered as an `<instructions>` block ahead of the message, and stored with it. */
  readonly instructions?: string;
  /** Rendered as a `<user-context>` block ahead of the message, and stored with it. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Put ahead of the message as data, never as orders, and stored with it. */
  readonly outside?: Outside;
  /** Functions the caller runs itself; a call to one pauses the thread on a gate. */
  readonly tools?: readonly ExternalTool[];
  /** Tools whose error fails the turn, with the code `required_tool_failed`: the last call of each counts. */
  readonly requiredTools?: readonly string[];
  /** True: a caller's tool takes the place of one of ours that has its name, for this turn. False: ours stay. */
  readonly callersToolsWin?: boolean;
  readonly toolChoice?: ToolChoice;
  /** True: the calls of the caller's functions in one answer surface together, at one gate. False: one at a time. */
  readonly parallelCalls?: boolean;
  /** Calls of our tools; beyond them the model has to answer without. */
  readonly maxToolCalls?: number;
  readonly format?: Format;
  readonly generation?: Generation;
  /** Instructions of this request only: shown to the model, and no part of the history. */
  readonly instructionsOnce?: string;
  /** Earlier items brought by the caller, for a new thread or, with `after`, for one that goes on. */
  readonly history?: readonly TurnItem[];
  /** The bytes that the attachments in `input` and `history` stand for. */
  readonly attached?: readonly AttachedBytes[];
  /**
   * The turn of the thread that this one goes on from; null for the beginning. Where the thread has gone on since, this one
   * is a branch: it sees the history of that turn and nothing of the other branch, and answers the gate of that turn.
   */
  readonly after?: string | null;
  /** The trace that the request came with: its part, or what it follows from. Values of the header `traceparent`. */
  readonly trace?: { readonly parent?: string | undefined; readonly links?: readonly string[] };
  /** True where the caller sent the whole history with this request: it is never summarised. */
  readonly isReplay?: boolean;
  /**
   * What happens to input of this request that does not fit the window: it fails with `context_length_exceeded`, or
   * whole pairs are left out of its middle. Absent on channels where people talk.
   */
  readonly truncation?: "disabled" | "auto";
  /** True: its messages remember in which pieces they were told, so that the same events can be told again. */
  readonly keepsPieces?: boolean;
  /** True: nothing of the turn, nor of its thread, is left when it ends. Only for a new thread. */
  readonly ephemeral?: boolean;
  /**
   * True where nobody is there to be asked: what would wait for an approval, a credential or an answer fails, and the model
   * is told that it needs a person.
   */
  readonly unattended?: boolean;
  /** US dollars that its models may cost. Once they are spent it fails with `budget_spent`. */
  readonly budgetUsd?: number;
  /** What the token that the turn came with may use: `user(context).scope` of the service `web`. */
  readonly scope?: TokenScope;
  readonly temperature?: number;
}

const after = nullable(
  Type.String({ description: "The turn it goes on from; null at the beginning of its thread" }),
);

/** A turn as it is stored. */
export const TurnRecord = Type.Object(
  {
    id: Type.String(),
    thread: named("thread_id", Type.String()),
    after,
    /** Only this user may see it. */
    user: hidden(Type.String()),
    channel: Type.String(),
    status: TurnStatus,
    input: TurnInput,
    /** Whoever sends the message again sends this along: it does not become the sender's own. */
    outside: Type.Optional(hidden(Outside)),
    items: Type.Array(TurnItem),
    model: ModelName,
    usage: Usage,
    createdAt: Time,
    error: Type.Optional(Failure),
    gate: Type.Optional(Gate),
    incomplete: Type.Optional(
      Type.Enum(["max_output_tokens", "content_filter"], {
        description: "Why the answer of a completed turn is not whole",
      }),
    ),
    completedAt: Type.Optional(Time),
  },
  { $id: "Turn" },
);
export type TurnRecord = Declared<typeof TurnRecord>;

/**
 * What a turn reports while it runs, the same for every channel. `started` comes first and exactly one of
 * `done` or `failed` last. Text deltas of one `item` concatenate to that message's text.
 */
export const TurnEvent = Type.Union([
  Type.Object({
    type: Type.Literal("started"),
    turn: named("turn_id", Type.String()),
    thread: named("thread_id", Type.String()),
    after,
    model: ModelName,
  }),
  Type.Object({ type: Type.Literal("text"), item: Type.String(), delta: Type.String() }),
  /** What the model thinks, as far as it tells: as with text, deltas of one item concatenate. */
  Type.Object({ type: Type.Literal("reasoning"), item: Type.String(), delta: Type.String() }),
  Type.Object({ type: Type.Literal("tool_started"), item: Type.String(), call: ToolCall }),
  /** Not of a call that asked a person something: a gate of type `question` names it, and it starts anew with the reply. */
  Type.Object({
    type: Type.Literal("tool_finished"),
    item: Type.String(),
    call: ToolCall,
    outcome: ToolOutcome,
    attachments,
    millis: Type.Number(),
  }),
  Type.Object({ type: Type.Literal("gate"), gate: Gate }),
  /** Something the person waiting should know: a stall, a retry, a second model taking over. */
  Type.Object({ type: Type.Literal("notice"), code: Type.String(), message: Type.String() }),
  Type.Object({ type: Type.Literal("usage"), usage: Usage }),
  Type.Object({
    type: Type.Literal("done"),
    status: Type.Enum(["completed", "waiting", "cancelled"]),
    record: named("turn", TurnRecord),
  }),
  Type.Object({
    type: Type.Literal("failed"),
    code: Type.String(),
    message: Type.String(),
    record: named("turn", TurnRecord),
  }),
]);
export type TurnEvent = Declared<typeof TurnEvent>;
