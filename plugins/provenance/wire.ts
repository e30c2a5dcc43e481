/** A destination as the API shows it. */
import { type Declared, Time, Type } from "../../kernel/kit/schema.ts";
import { ParamRule } from "../../kernel/kit/turns.ts";

export const TrustedDestination = Type.Object(
  {
    value: Type.String({ description: "Of a rule, what it allows in words" }),
    tool: Type.Optional(Type.String({ description: "Only figures of calls of this tool" })),
    user: Type.Optional(Type.String({ description: "For calls of this user only" })),
    rule: Type.Optional(ParamRule),
    addedAt: Time,
  },
  { $id: "TrustedDestination" },
);
export type TrustedDestination = Declared<typeof TrustedDestination>;
