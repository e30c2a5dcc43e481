/** Who is talking to the agent. */
import type { Declared } from "./wire/form.ts";
import { Type } from "./wire/type.ts";

const Role = Type.Enum(["operator", "user"]);

export const User = Type.Object(
  {
    id: Type.String(),
    role: Role,
    /** Shown in place of the id: the e-mail address that an identity provider has verified. */
    name: Type.Optional(Type.String()),
  },
  { $id: "User" },
);
export type User = Declared<typeof User>;

/** The person who runs this Postern: whoever is at its terminal, with the same threads as in the browser. */
export const OPERATOR = "operator";
