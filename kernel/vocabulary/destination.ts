/** Where calls may go although somebody else named it. */
import type { Declared } from "../schema/declare.ts";
import { Time, Type } from "../schema/type.ts";

export const TrustedDestination = Type.Object(
  {
    value: Type.String(),
    tool: Type.Optional(Type.String({ description: "Of calls of this tool only" })),
    user: Type.Optional(Type.String({ description: "For calls of this user only" })),
    addedAt: Time,
  },
  { $id: "TrustedDestination" },
);
export type TrustedDestination = Declared<typeof TrustedDestination>;
