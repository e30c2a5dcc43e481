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

const WEBHOOK = "webhook/";

/**
 * Somebody whom the webhook's senders name. Not an account, though the name may be the same: whoever holds the
 * secret may name anybody. An account's id has no slash.
 */
export const webhookIdentity = (name: string): string => `${WEBHOOK}${name}`;
