/** Declarations that only the gateway's own routes use. Tests check every response against its declaration. */
import { User } from "../../../kernel/kit/people.ts";
import { Time, Type } from "../../../kernel/kit/schema.ts";

export const Session = Type.Object({
  user: User,
  expiresAt: Type.Optional({ ...Time, description: "When this sign-in ends; only within 7 days of it" }),
});
