/** Gates: what a thread waits for, why it is asked, and which answers it takes. */

import { type Declared, hidden, named } from "../schema/declare.ts";
import { Time, Type } from "../schema/type.ts";
import { Origin } from "./origin.ts";
import { ToolCall } from "./tool-call.ts";
import { TokenScope } from "./user.ts";

/** "destination": this time, and to this destination from now on. "rule": this time, and by the rule that is offered from now on. */
export const ApprovalDecision = Type.Enum(["once", "always", "destination", "rule", "deny"]);
export type ApprovalDecision = Declared<typeof ApprovalDecision>;

/** A doubt in parts, for channels that word it in another language than English. */
export const DoubtReason = Type.Object(
  {
    tool: Type.String(),
    why: Type.Enum(["source", "unsaid", "limit", "part_source", "part_unsaid", "unasked", "more"], {
      description:
        "Somebody else said it; nobody did; it asks because many links were followed before; of a link that the model put together, somebody else said a part, or nobody did; the person did not ask for the action; stands for more doubts",
    }),
    noun: Type.Optional(
      Type.Enum(["address", "link", "account", "number", "text", "destination"], {
        description: "What kind of value it is",
      }),
    ),
    source: Type.Optional(
      Type.Object(
        {
          kind: Origin.properties.kind,
          name: Type.String(),
          place: Type.Optional(Type.String({ description: "The page or file that was read" })),
          tool: Type.Optional(Type.String({ description: "Who read it" })),
        },
        { description: "Who said it or, if nobody did, who spoke last" },
      ),
    ),
    count: Type.Optional(Type.Integer({ description: "How many links were followed, or doubts there are" })),
  },
  { $id: "DoubtReason" },
);
export type DoubtReason = Declared<typeof DoubtReason>;

/** What a person may allow a parameter of one tool from now on: an amount each day, or what is below a place of theirs. */
export const ParamRule = Type.Object(
  {
    kind: Type.Enum(["amount", "within"], {
      description:
        "Numbers up to a limit that counts for all calls of a day together; or values below a folder, an owner or a mail domain",
    }),
    param: Type.String(),
    limit: Type.String({ description: "A number, `ann/` or `@example.com`" }),
    unit: Type.Optional(Type.String({ description: "The currency of an amount, as the call names it" })),
  },
  { $id: "ParamRule" },
);
export type ParamRule = Declared<typeof ParamRule>;

/** One that a question offers. */
export const RuleOffer = Type.Object(
  {
    ...ParamRule.properties,
    limit: Type.Optional(
      Type.String({ description: "From the person's own words; absent if they have to type it" }),
    ),
  },
  { $id: "RuleOffer" },
);
export type RuleOffer = Declared<typeof RuleOffer>;

/** Why a call is asked about although its tool may run: a value in it does not come from the person. */
export const Doubt = Type.Object(
  {
    rule: Type.Enum(["destination", "content", "change"], {
      description: "Where it goes, what leaves with it, or what it changes",
    }),
    param: Type.String(),
    value: Type.String({ description: "Shortened" }),
    part: Type.Optional(
      Type.String({
        description: "The part of an address put together by the model that is not the person's",
      }),
    ),
    origin: Type.Optional(Origin),
    excerpt: Type.Optional(Type.String({ description: "Where it stands in what they said" })),
    sentence: Type.String({ description: "For receipts and the model" }),
    headline: Type.Optional(
      Type.String({ description: "For the person who is asked: the question, and why" }),
    ),
    source: Type.Optional(Type.String({ description: "Who the sentence names, in its words" })),
    reason: Type.Optional(DoubtReason),
  },
  { $id: "Doubt" },
);
export type Doubt = Declared<typeof Doubt>;

/** One of several calls that one answer is for, with what it may touch. */
export const PlannedStep = Type.Object(
  {
    tool: Type.String(),
    title: Type.String({ description: "What it does, by the name of the tool: `Add to basket (market)`" }),
    note: Type.Optional(Type.String({ description: "Why the step as a whole is in doubt, in words" })),
    values: Type.Array(
      Type.Object({
        param: Type.String(),
        value: Type.String({ description: "Hidden characters in it are made visible" }),
        called: Type.Optional(
          Type.String({
            description: "What the tool's own answers call the thing with this id: not the person's words",
          }),
        ),
        from: Type.Optional(
          Type.String({ description: "Whose it is, in words, if it is not the person's: `not your words`" }),
        ),
        why: Type.Optional(
          Type.Enum(["source", "unsaid", "earlier", "later"], {
            description:
              "The same in parts, for other languages: somebody else said it; nobody did; an earlier step gives it; it is asked about by itself when the call is made",
          }),
        ),
        source: DoubtReason.properties.source,
      }),
    ),
  },
  { $id: "PlannedStep" },
);
export type PlannedStep = Declared<typeof PlannedStep>;

/** The task that a turn was delegated, as the turn that answers a gate of it goes on with it. */
export const TurnTask = Type.Object({
  id: Type.String(),
  path: Type.Array(Type.String(), { description: "The titles of the tasks that led here, this one last" }),
  scopes: Type.Optional(hidden(Type.Array(TokenScope))),
  /** The turns that delegated it, the outermost first. */
  turns: Type.Optional(hidden(Type.Array(Type.String()))),
});
export type TurnTask = Declared<typeof TurnTask>;

const opened = {
  id: Type.String(),
  turn: named("turn_id", Type.String()),
  thread: named("thread_id", Type.String()),
  openedAt: Time,
  call: ToolCall,
  user: Type.Optional(
    named("user_id", Type.String({ description: "Whose thread waits, where it is not the reader's" })),
  ),
  /** The scopes of the turn that opened it also bind the turn that answers it. */
  scopes: Type.Optional(hidden(Type.Array(TokenScope))),
  task: Type.Optional(TurnTask),
  /** The tools of that turn: a name must not become another tool's while somebody is asked. */
  callersToolsWin: Type.Optional(hidden(Type.Boolean())),
};

/** A question that the server behind a tool asks a person in the middle of a call. Its words are a stranger's. */
export const Question = Type.Object(
  {
    key: Type.String({ description: "Names the answer" }),
    message: Type.String(),
    schema: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          "The schema of the answer: an object whose properties are texts, numbers, booleans or choices",
      }),
    ),
    url: Type.Optional(Type.String({ description: "A page to visit, in place of an answer" })),
  },
  { $id: "Question" },
);
export type Question = Declared<typeof Question>;

export const Reply = Type.Object(
  {
    key: Type.String(),
    action: Type.Enum(["accept", "decline", "cancel"]),
    content: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { $id: "Reply" },
);
export type Reply = Declared<typeof Reply>;

/** If another tool has taken the name since, the answer does not count. */
const fingerprint = Type.Optional(
  Type.String({ description: "The fingerprint of the tool that the question is about" }),
);

/** A gate stops a thread until somebody answers. It survives a restart. */
export const Gate = Type.Union(
  [
    Type.Object({
      type: Type.Literal("external_tool"),
      ...opened,
      others: Type.Optional(
        Type.Array(ToolCall, { description: "Calls of the same answer, to be answered along with it" }),
      ),
    }),
    Type.Object({
      type: Type.Literal("approval"),
      ...opened,
      grants: Type.Array(Type.String(), { description: "In words, what the tool may do" }),
      doubts: Type.Optional(
        Type.Array(Doubt, {
          description:
            "Why it is asked although the tool may run: `always` does not answer it for later calls",
        }),
      ),
      others: Type.Optional(
        Type.Array(ToolCall, {
          description: "More calls of this tool in the same answer: one decision is for all",
        }),
      ),
      steps: Type.Optional(
        Type.Array(PlannedStep, {
          description: "The calls that are planned: one decision is for all, and for nothing else",
        }),
      ),
      offer: Type.Optional(RuleOffer),
      fingerprint,
      /** A digest of the tools that a yes reaches, as they were when it was asked. */
      covers: Type.Optional(hidden(Type.String())),
    }),
    Type.Object({
      type: Type.Literal("authentication"),
      ...opened,
      secret: Type.String(),
      message: Type.String(),
      fingerprint,
    }),
    Type.Object({
      type: Type.Literal("question"),
      ...opened,
      server: Type.String({ description: "Who asks" }),
      questions: Type.Array(Question),
      /** For the host alone: with the replies it goes on with the call. */
      resume: hidden(Type.String()),
      fingerprint,
    }),
  ],
  { $id: "Gate" },
);
export type Gate = Declared<typeof Gate>;
