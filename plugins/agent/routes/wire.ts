/** What callers send and get of the agent. Tests check every response against its declaration. */
import { pageFields } from "../../../kernel/kit/http.ts";
import { named, Time, Type } from "../../../kernel/kit/schema.ts";
import {
  AnsweredQuestions,
  ApprovalDecision,
  Figures,
  Reply,
  ThreadSummary,
  TurnRecord,
  UsedStorage,
} from "../../../kernel/kit/turns.ts";
import { TurnVersions } from "../wire.ts";

/** A turn that was started; its events arrive on the socket. */
export const Accepted = Type.Object({
  thread: named("thread_id", Type.String()),
  id: named("message_id", Type.String({ description: "The id of the turn" })),
  status: Type.Literal("accepted"),
});

/** A model that may be chosen for a thread. */
const ModelOption = Type.Object(
  {
    provider: Type.String(),
    name: Type.String(),
    role: Type.Optional(
      Type.Enum(["configured", "fallback"], { description: "Its role here, apart from any thread" }),
    ),
    window: Type.Optional(Type.Integer({ description: "Tokens of context" })),
    price: Type.Optional(
      Type.Object(
        { input: Type.String(), output: Type.String() },
        { description: "US dollars for a million tokens" },
      ),
    ),
    retires: Type.Optional(Type.String({ description: "The day on which its provider turns it off" })),
    replacedBy: Type.Optional(Type.String()),
  },
  { $id: "ModelOption" },
);

/** A model as a caller asks for it: if several providers have the name, the configured one is meant. */
export const WantedModel = Type.Object({
  provider: Type.Optional(Type.String({ maxLength: 100 })),
  name: Type.String({ minLength: 1, maxLength: 200 }),
});

export const Message = Type.Object({
  message: Type.String({ description: "May be empty where something is attached" }),
  attachments: Type.Optional(
    Type.Array(Type.String(), {
      description:
        "Ids of uploads (`POST /api/attachments`), or of what came with an earlier message of yours",
    }),
  ),
  thread: Type.Optional(
    named("thread_id", Type.String({ description: "Continues this thread; absent starts a new one" })),
  ),
  channel: Type.Optional(
    Type.Enum(["tui", "ask"], { description: "The command of Postern that it was typed into; absent: none" }),
  ),
  model: Type.Optional(
    Type.Union([WantedModel], { description: "The model of a new thread, one of `GET /api/models`" }),
  ),
  after: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description:
        "The turn that it goes on from, null for the beginning: a branch if others went on from there. Absent: the newest turn",
    }),
  ),
});

export const Answer = Type.Object({
  decision: Type.Optional(Type.Enum([...ApprovalDecision.enum, "done"])),
  limit: Type.Optional(
    Type.String({
      maxLength: 100,
      description: "With `rule`: an amount, in place of the one that was offered",
    }),
  ),
  replies: Type.Optional(Type.Array(Reply, { maxItems: 100, description: "To each of the questions" })),
  lookedMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: "For how long the question was shown; since it was asked if absent",
    }),
  ),
});

export const UsageAnswer = Type.Object({
  from: Time,
  to: Time,
  step: Type.Enum(["hour", "day"]),
  at: Type.Array(Time, { description: "When each hour or day begins, oldest first" }),
  turns: Figures,
  calls: Figures,
  storage: UsedStorage,
  answered: Type.Optional(AnsweredQuestions),
});

export const AttachmentLimits = Type.Object({
  fileBytes: Type.Integer({ description: "The most for one file" }),
  files: Type.Integer({ description: "The most for one message" }),
  messageBytes: Type.Integer({ description: "The most for the files of one message together" }),
});

export const Models = Type.Object({
  items: named("models", Type.Array(ModelOption)),
  unlisted: Type.Array(Type.String(), {
    description: "Providers whose own list could not be read: only what is configured of them is listed",
  }),
});

export const ThreadWithTurns = Type.Object({
  thread: ThreadSummary,
  ...pageFields("turns", TurnRecord),
  versions: Type.Array(TurnVersions, {
    description: "With `through`: the turns of this page that have other versions",
  }),
});

/** §3.3: what the messages of an identity wait for that is not paired. An operator answers by naming an account. */
export const PairingGate = Type.Object(
  {
    type: Type.Literal("pairing"),
    id: Type.String(),
    identity: Type.String(),
    openedAt: Time,
    message: Type.String({ description: "The first message that waits" }),
  },
  { $id: "PairingGate" },
);
