/** What the agent says of threads, here and on the wire. */
import { type Declared, named, Time, Type } from "../../kernel/kit/schema.ts";
import { ModelName, ThreadSummary } from "../../kernel/kit/turns.ts";

const Tokens = Type.Integer({ minimum: 0, description: "Tokens, by estimate" });

/** The window of a thread's model. */
export const ContextUse = Type.Object(
  {
    model: ModelName,
    window: Tokens,
    total: Tokens,
    instructions: Tokens,
    tools: Tokens,
    memory: Tokens,
    conversation: Tokens,
    files: Tokens,
    isSummarised: Type.Boolean(),
    cost: Type.String({
      description: 'US dollars for reading all of it once; "0" if the price is not known',
    }),
    spent: Type.Number({ description: "US dollars that the thread has cost so far" }),
    saved: Type.Number({ description: "US dollars that caching has saved in the thread so far" }),
  },
  { $id: "ContextUse" },
);
export type ContextUse = Declared<typeof ContextUse>;

/** A thread in the bin. */
const { match: _, ...binned } = ThreadSummary.properties;
export const BinnedThread = Type.Object(
  {
    ...binned,
    binnedAt: Time,
    expiresAt: Type.String({ format: "date-time", description: "When it is deleted for good" }),
  },
  { $id: "BinnedThread" },
);
export type BinnedThread = Declared<typeof BinnedThread>;

/** Turns that go on from the same one: a message that was edited, an answer that was asked for again. */
export const TurnVersions = Type.Object(
  {
    turn: named("turn_id", Type.String({ description: "The one on this path" })),
    versions: Type.Array(
      Type.Object({
        id: Type.String(),
        message: Type.Integer({ description: "Versions with the same number have the same message" }),
      }),
      { description: "Oldest first, the turn itself included" },
    ),
  },
  { $id: "TurnVersions" },
);
export type TurnVersions = Declared<typeof TurnVersions>;
