/** A conversation as lists show it. */
import { Gate } from "./tools/gate.ts";
import type { Declared } from "./wire/form.ts";
import { Time, Type } from "./wire/type.ts";

export const ThreadSummary = Type.Object(
  {
    id: Type.String(),
    title: Type.String(),
    createdAt: Time,
    updatedAt: Time,
    turns: Type.Integer(),
    gate: Type.Optional(Gate),
  },
  { $id: "Thread" },
);
export type ThreadSummary = Declared<typeof ThreadSummary>;
