/** Declarations that only the gateway's own routes use. Tests check every response against its declaration. */
import { User } from "../../../kernel/kit/people.ts";
import { Time, Type } from "../../../kernel/kit/schema.ts";
import { ModelName } from "../../../kernel/kit/turns.ts";

export const Session = Type.Object({
  user: User,
  expiresAt: Type.Optional({ ...Time, description: "When this sign-in ends; only within 7 days of it" }),
});

export const Status = Type.Object({
  version: Type.String(),
  uptimeSecs: Type.Integer(),
  channels: Type.Array(Type.Object({ name: Type.String(), on: Type.Boolean(), detail: Type.String() })),
  model: ModelName,
  isModelMissing: Type.Boolean({
    description: "True while nobody has set up a model, so that the built-in one answers",
  }),
  tools: Type.Array(Type.String()),
  usersOnline: Type.Integer(),
  jobs: Type.Object({ queued: Type.Integer(), running: Type.Integer() }),
  nodes: Type.Array(
    Type.Object({
      id: Type.String(),
      version: Type.String(),
      startedAt: Type.String(),
      lastSeenAt: Type.String(),
    }),
  ),
  store: Type.Union([Type.Object({ detail: Type.String(), isFilling: Type.Boolean() }), Type.Null()], {
    description: "How large the store is, how fast it grows and how much disk is left: for the operator",
  }),
});
