/**
 * The vocabulary every channel, the agent and the tool host share. Plain data: it can be stored,
 * sent to a browser and printed. Down go `Turn` and `ToolCall`; up come `ToolOutcome` and `TurnEvent`.
 */

import { Usage } from "./usage.ts";
import { type Declared, hidden, named } from "./wire/form.ts";
import { Time, Type } from "./wire/type.ts";

export const ApprovalDecision = Type.Enum(["once", "always", "deny"]);
export type ApprovalDecision = Declared<typeof ApprovalDecision>;

export const JsonSchema = Type.Record(Type.String(), Type.Unknown());
export type JsonSchema = Declared<typeof JsonSchema>;

export const ModelName = Type.Object({ provider: Type.String(), name: Type.String() }, { $id: "ModelName" });
export type ModelName = Declared<typeof ModelName>;

/** Why a turn or a job failed. */
export const Failure = Type.Object({ code: Type.String(), message: Type.String() });
export type Failure = Declared<typeof Failure>;

export const TurnStatus = Type.Enum(["queued", "running", "waiting", "completed", "failed", "cancelled"]);
export type TurnStatus = Declared<typeof TurnStatus>;

export const ToolCall = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    /** Exactly as the model wrote it. */
    params: Type.String({ description: "A JSON text" }),
  },
  { $id: "ToolCall" },
);
export type ToolCall = Declared<typeof ToolCall>;

/** What came of a tool call. A failing tool is an outcome that the model reads, not an exception. */
export const ToolOutcome = Type.Union(
  [
    Type.Object({
      status: Type.Literal("ok"),
      output: Type.String(),
      receipt: Type.Optional(Type.String()),
    }),
    Type.Object({
      status: Type.Literal("error"),
      code: Type.String(),
      message: Type.String(),
      receipt: Type.Optional(Type.String()),
    }),
    /** The tool lacks a credential: nothing was sent. Becomes an authentication gate. */
    Type.Object({
      status: Type.Literal("unauthenticated"),
      tool: Type.String(),
      secret: Type.String(),
      message: Type.String(),
    }),
  ],
  { $id: "ToolOutcome" },
);
export type ToolOutcome = Declared<typeof ToolOutcome>;

const opened = {
  id: Type.String(),
  turn: named("turn_id", Type.String()),
  thread: named("thread_id", Type.String()),
  openedAt: Time,
  call: ToolCall,
  user: Type.Optional(
    named("user_id", Type.String({ description: "Whose thread waits, where it is not the reader's" })),
  ),
};

/** Where another tool has taken the name since, the answer does not count. */
const fingerprint = Type.Optional(Type.String({ description: "Of the tool that the question is about" }));

/** What a thread waits for. It survives a restart. */
export const Gate = Type.Union(
  [
    Type.Object({ type: Type.Literal("external_tool"), ...opened }),
    Type.Object({
      type: Type.Literal("approval"),
      ...opened,
      grants: Type.Array(Type.String(), { description: "In words, what the tool may do" }),
      fingerprint,
    }),
    Type.Object({
      type: Type.Literal("authentication"),
      ...opened,
      secret: Type.String(),
      message: Type.String(),
      fingerprint,
    }),
  ],
  { $id: "Gate" },
);
export type Gate = Declared<typeof Gate>;

export const TurnInput = Type.Union(
  [
    Type.Object({ type: Type.Literal("message"), text: Type.String() }),
    /** Resumes a thread that waits on an external-tool gate. */
    Type.Object({ type: Type.Literal("tool_output"), call: Type.String(), output: Type.String() }),
    /** Resumes a thread that waits on an approval gate. */
    Type.Object({ type: Type.Literal("approval"), gate: Type.String(), decision: ApprovalDecision }),
    /** Resumes a thread that waits on an authentication gate: the credential is there now, or the user gave up. */
    Type.Object({
      type: Type.Literal("authentication"),
      gate: Type.String(),
      decision: Type.Enum(["done", "deny"]),
    }),
  ],
  { $id: "TurnInput" },
);
export type TurnInput = Declared<typeof TurnInput>;

/** One entry of a turn, in the order in which it happened. */
export const TurnItem = Type.Union(
  [
    Type.Object({
      type: Type.Literal("message"),
      id: Type.String(),
      role: Type.Enum(["user", "assistant", "system"]),
      text: Type.String(),
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

/** One request to the agent, whatever channel it came by. It stays in this process. */
export interface Turn {
  readonly user: string;
  /** The name of the channel that took it. */
  readonly channel: string;
  /** UUID minted by the channel when it has to know the turn's name beforehand. */
  readonly id?: string;
  /** Continues this thread of the same user; absent starts a new one. */
  readonly thread?: string;
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
  /** Earlier items brought by the caller; only for a new thread. */
  readonly history?: readonly TurnItem[];
  readonly temperature?: number;
}

/** A turn as it is stored. */
export const TurnRecord = Type.Object(
  {
    id: Type.String(),
    thread: named("thread_id", Type.String()),
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
    model: ModelName,
  }),
  Type.Object({ type: Type.Literal("text"), item: Type.String(), delta: Type.String() }),
  Type.Object({ type: Type.Literal("tool_started"), item: Type.String(), call: ToolCall }),
  Type.Object({
    type: Type.Literal("tool_finished"),
    item: Type.String(),
    call: ToolCall,
    outcome: ToolOutcome,
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
