/** The origins of the values in a turn's calls, for `postern explain`. */
import { type Declared, named, Time, Type } from "../../kernel/kit/schema.ts";
import { Doubt, Origin } from "../../kernel/kit/turns.ts";
import { GROUNDS } from "./call/grounds.ts";

const ExplainedValue = Type.Object({
  param: Type.String(),
  role: Type.Enum(["destination", "content", "selector"]),
  value: Type.String({ description: "Shortened" }),
  from: Type.Enum(["person", "others", "model"], {
    description: "`model`: found neither in what the person said nor in what others did",
  }),
  origin: Type.Optional(Origin),
  excerpt: Type.Optional(Type.String({ description: "Where it stands in what others said" })),
  sentence: Type.String(),
  rule: Type.Optional(
    Type.Enum([...GROUNDS, "asks"], {
      description:
        "What decided, by the rules of today: why it needs no question, or `asks`. Absent for calls that are not judged",
    }),
  ),
  allows: Type.Optional(Type.String({ description: "What the person's own `rule` allows, in words" })),
});
export type ExplainedValue = Declared<typeof ExplainedValue>;

const InnerCall = Type.Object({
  tool: Type.String(),
  outcome: Type.String({ description: "ok, or the code of an error" }),
  message: Type.Optional(Type.String()),
  millis: Type.Number(),
  receipt: Type.Optional(Type.String()),
});

const ExplainedCall = Type.Object({
  id: Type.String(),
  tool: Type.String(),
  ran: Type.Enum(["callers", "own", "gated"], {
    description:
      "`callers`: the connected app runs it; `own`: one of the agent's; only `gated` calls are judged",
  }),
  outcome: Type.String({ description: "ok, the code of an error, asked, or none" }),
  values: Type.Array(ExplainedValue),
  calls: Type.Array(InnerCall, {
    description: "Made inside of it, by a tool that calls others; from its receipt, as long as that is kept",
  }),
  doubts: Type.Array(Doubt, { description: "By the rules and the trusted destinations of today" }),
});
export type ExplainedCall = Declared<typeof ExplainedCall>;

export const ExplainedTurn = Type.Object(
  {
    turn: named("turn_id", Type.String()),
    thread: named("thread_id", Type.String()),
    user: named("user_id", Type.String()),
    createdAt: Time,
    calls: Type.Array(ExplainedCall),
  },
  { $id: "ExplainedTurn" },
);
export type ExplainedTurn = Declared<typeof ExplainedTurn>;
