import { type Declared, nullable, Time, Type } from "../../kernel/kit/schema.ts";

/** A sender of the webhook channel with a secret of its own, which speaks for one user. */
export const Integration = Type.Object(
  {
    name: Type.String({ description: "It posts to /webhook/<name>" }),
    user: Type.String({ description: "An account, or webhook/<user_id>" }),
    message: nullable(
      Type.String({
        description: "The template that makes a message of its events; without one it posts messages itself",
      }),
    ),
    createdAt: Time,
    lastUsedAt: nullable(Time),
  },
  { $id: "Integration" },
);
export type Integration = Declared<typeof Integration>;
