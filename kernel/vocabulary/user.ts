/** Who is talking to the agent. */
import type { Declared } from "./wire/form.ts";
import { Type } from "./wire/type.ts";

const Role = Type.Enum(["operator", "user"]);

export const User = Type.Object({ id: Type.String(), role: Role }, { $id: "User" });
export type User = Declared<typeof User>;

/** The person who runs this Postern: whoever is at its terminal, with the same threads as in the browser. */
export const OPERATOR = "operator";
