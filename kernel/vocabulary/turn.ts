/**
 * The vocabulary every channel, the agent and the tool host share. Plain data: it can be stored,
 * sent to a browser and printed. Down go `Turn` and `ToolCall`; up come `ToolOutcome` and `TurnEvent`.
 */

import { type Declared, hidden, named, nullable } from "../schema/declare.ts";
import { Time, Type } from "../schema/type.ts";
import { ApprovalDecision, Gate, Reply } from "./gate.ts";
import { ModelName } from "./model.ts";
import { Origin } from "./origin.ts";
import { Attachment, CallSummary, FileChange, ToolCall, ToolOutcome } from "./tool-call.ts";
import { Usage } from "./usage.ts";

export const Failure = Type.Object({ code: Type.String(), message: Type.String() });
export type Failure = Declared<typeof Failure>;

export const TurnStatus = Type.Enum(["queued", "running", "waiting", "completed", "failed", "cancelled"]);
export type TurnStatus = Declared<typeof TurnStatus>;

const attachments = Type.Optional(Type.Array(Attachment));

/** Text that came with a message but was written by people outside, whom nobody here vouches for. */
export const Outside = Type.Object({
  origin: Type.String({ description: "Where it came from" }),
  data: Type.Optional(Type.Unknown()),
  /** Who had a hand in the data, if a model of ours may have written some of it. */
  origins: Type.Optional(Type.Array(Origin)),
  /** The pieces of the message itself that are theirs. */
  spans: Type.Optional(Type.Array(Type.Object({ from: Type.Integer(), to: Type.Integer() }))),
});
export type Outside = Declared<typeof Outside>;

export const TurnInput = Type.Union(
  [
    Type.Object({ type: Type.Literal("message"), text: Type.String(), attachments }),
    Type.Object({ type: Type.Literal("tool_output"), call: Type.String(), output: Type.String() }),
    /** Resumes one that waits for several calls: the outputs of all of them, and what is said besides. */
    Type.Object({
      type: Type.Literal("tool_outputs"),
      outputs: Type.Array(Type.Object({ call: Type.String(), output: Type.String(), attachments })),
      text: Type.Optional(Type.String()),
      attachments,
    }),
    Type.Object({
      type: Type.Literal("approval"),
      gate: Type.String(),
      decision: ApprovalDecision,
      limit: Type.Optional(Type.String({ description: "Of a rule, if the person typed another" })),
      /** For how long the question was shown, where that is known. */
      lookedMs: Type.Optional(hidden(Type.Integer({ minimum: 0 }))),
    }),
    /** Resumes a thread that waits on an authentication gate: the credential is there now, or the user gave up. */
    Type.Object({
      type: Type.Literal("authentication"),
      gate: Type.String(),
      decision: Type.Enum(["done", "deny"]),
    }),
    Type.Object({ type: Type.Literal("question"), gate: Type.String(), replies: Type.Array(Reply) }),
  ],
  { $id: "TurnInput" },
);
export type TurnInput = Declared<typeof TurnInput>;

/** For people: how the call reads, and what it changed in a file. */
const told = { summary: Type.Optional(CallSummary), change: Type.Optional(FileChange) };

/** How long each delta was, where the turn keeps them. */
const pieces = Type.Optional(hidden(Type.Array(Type.Integer())));

export const TurnItem = Type.Union(
  [
    Type.Object({
      type: Type.Literal("message"),
      id: Type.String(),
      role: Type.Enum(["user", "assistant", "system"]),
      text: Type.String(),
      attachments,
      pieces,
      /** What came with one that a turn took while it ran. */
      outside: Type.Optional(hidden(Outside)),
      /** Of one that a turn took while it ran: the request that it came with, for as long as nothing answers it. */
      taken: Type.Optional(hidden(Type.Object({ channel: Type.String(), request: Type.Unknown() }))),
      needsModel: Type.Optional(
        Type.Boolean({
          description: "True where the built-in model could not answer: a language model could",
        }),
      ),
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
      ...told,
      origins: Type.Optional(
        Type.Array(Origin, { description: "Whose words the output is, beside the tool's own" }),
      ),
    }),
    /** The model's thoughts before it spoke, as far as it shows them. */
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

const after = nullable(
  Type.String({ description: "The turn it goes on from; null at the beginning of its thread" }),
);

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
  /** The model's thoughts, as far as it shows them. Deltas of one item concatenate, as with text. */
  Type.Object({ type: Type.Literal("reasoning"), item: Type.String(), delta: Type.String() }),
  Type.Object({
    type: Type.Literal("tool_started"),
    item: Type.String(),
    call: ToolCall,
    summary: told.summary,
  }),
  /** Not of a call that asked a person something: a gate of type `question` names it, and it starts anew with the reply. */
  Type.Object({
    type: Type.Literal("tool_finished"),
    item: Type.String(),
    call: ToolCall,
    outcome: ToolOutcome,
    attachments,
    ...told,
    millis: Type.Number(),
  }),
  /** A message that was sent while the turn ran is a part of it from here on: the model reads it next. */
  Type.Object({
    type: Type.Literal("taken"),
    turn: named("turn_id", Type.String({ description: "The turn that took it" })),
    message: named("message_id", Type.String({ description: "As it was accepted; now the id of an item" })),
    text: Type.String(),
    attachments,
  }),
  Type.Object({ type: Type.Literal("gate"), gate: Gate }),
  /** Something the person waiting should know: a stall, a retry, a second model taking over. */
  Type.Object({
    type: Type.Literal("notice"),
    code: Type.String(),
    message: Type.String(),
    call: Type.Optional(Type.String({ description: "The id of the call that it is about" })),
  }),
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
  /** The model has named the thread. Told only to those who watch the user's turns, after the end of the turn. */
  Type.Object({ type: Type.Literal("titled"), title: Type.String() }),
]);
export type TurnEvent = Declared<typeof TurnEvent>;

/** A conversation as lists show it and as it is exported. */
export const ThreadSummary = Type.Object(
  {
    id: Type.String(),
    title: Type.String(),
    createdAt: Time,
    updatedAt: Time,
    turns: Type.Integer(),
    channel: Type.String({
      description: "The channel that began it; `ask` is a question on the command line",
    }),
    pinned: Type.Boolean(),
    model: nullable(ModelName),
    gate: Type.Optional(Gate),
    match: Type.Optional(
      Type.Object(
        { text: Type.String(), at: Time },
        {
          description:
            "In a search: the sentence that has the words, of the newest message that has them. Absent if only the title has them, and for very long messages",
        },
      ),
    ),
  },
  { $id: "Thread" },
);
export type ThreadSummary = Declared<typeof ThreadSummary>;

/** The code of a turn whose node stopped, died or lost the database before it ended. */
export const INTERRUPTED = "interrupted";

/** Its node stopped, died, or lost the database before the end could be stored: a job is run again after that. */
export function isCutShort({ error }: Pick<TurnRecord, "error">): boolean {
  return error?.code === INTERRUPTED || error?.code === "store_unavailable";
}

/** All that the person said in a turn that began with a message: also what it took while it ran. */
export function askedIn({ items }: Pick<TurnRecord, "items">) {
  const said = items.flatMap((item) => (item.type === "message" && item.role === "user" ? [item] : []));
  return {
    text: said.flatMap(({ text }) => text || []).join("\n\n"),
    attachments: said.flatMap(({ attachments = [] }) => attachments),
  };
}

export function answerText({ items }: Pick<TurnRecord, "items">): string {
  return items
    .flatMap((item) => (item.type === "message" && item.role === "assistant" ? [item.text] : []))
    .join("\n\n");
}
