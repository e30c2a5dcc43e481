/** What a thread waits for, why it is asked, and what can be answered. */

import { type Declared, hidden, named } from "../schema/declare.ts";
import { Time, Type } from "../schema/type.ts";
import { ToolCall } from "./tool-call.ts";
import { TokenScope } from "./user.ts";

/** "destination": this time, and to this destination from now on. */
export const ApprovalDecision = Type.Enum(["once", "always", "destination", "deny"]);
export type ApprovalDecision = Declared<typeof ApprovalDecision>;

/** Who said something that the person did not say. */
export const Origin = Type.Object(
  {
    kind: Type.Enum(["tool", "server", "caller", "outside", "file", "memory"]),
    name: Type.String({ description: "Of the tool, the server, the file or the document" }),
  },
  { $id: "Origin" },
);
export type Origin = Declared<typeof Origin>;

const MAX_ORIGINS = 8;

/** The first few of them, without repeats. */
export function distinctOrigins(origins: readonly Origin[]): readonly Origin[] {
  const seen = new Map(origins.map((origin) => [`${origin.kind} ${origin.name}`, origin]));
  return [...seen.values()].slice(0, MAX_ORIGINS);
}

/** Why a call is asked about although its tool may run: a value in it does not come from the person. */
export const Doubt = Type.Object(
  {
    rule: Type.Enum(["destination", "content", "change"], {
      description: "Where it goes, what leaves with it, or what it changes",
    }),
    param: Type.String(),
    value: Type.String({ description: "Shortened" }),
    origin: Type.Optional(Origin),
    excerpt: Type.Optional(Type.String({ description: "Where it stands in what they said" })),
    sentence: Type.String({ description: "For the person who is asked" }),
    source: Type.Optional(Type.String({ description: "Who the sentence names, in its words" })),
  },
  { $id: "Doubt" },
);
export type Doubt = Declared<typeof Doubt>;

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
  /** The tools of that turn: a name must not become another tool's while somebody is asked. */
  callersToolsWin: Type.Optional(hidden(Type.Boolean())),
};

/** What the server behind a tool asks a person in the middle of a call. Its words are a stranger's. */
export const Question = Type.Object(
  {
    key: Type.String({ description: "What the answer is told apart by" }),
    message: Type.String(),
    schema: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "Of the answer: an object whose properties are texts, numbers, booleans or choices",
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

/** Where another tool has taken the name since, the answer does not count. */
const fingerprint = Type.Optional(Type.String({ description: "Of the tool that the question is about" }));

/** What a thread waits for. It survives a restart. */
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
      fingerprint,
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
