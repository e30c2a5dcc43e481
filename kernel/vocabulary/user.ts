/** Who is talking to the agent. */
import { type Declared, hidden, maybe, nullable } from "../schema/declare.ts";
import { Time, Type } from "../schema/type.ts";

const Role = Type.Enum(["operator", "user"]);

/** The limits of a token. An absent field sets no limit. */
export const TokenScope = Type.Object(
  {
    token: Type.String({ description: "The id of the token" }),
    /** The agent's own tools count too. None where it is empty. */
    tools: Type.Optional(Type.Array(Type.String())),
    /** Names of models, with or without their provider: `gpt-5-mini`, `openai/gpt-5-mini`. */
    models: Type.Optional(Type.Array(Type.String())),
    perDayUsd: Type.Optional(Type.Number({ description: "US dollars for models on one day (UTC)" })),
  },
  { $id: "TokenScope" },
);
export type TokenScope = Declared<typeof TokenScope>;

export const User = Type.Object(
  {
    id: Type.String(),
    role: Role,
    /** Shown in place of the id: the e-mail address that an identity provider has verified. */
    name: Type.Optional(Type.String()),
    /** The scope of the token that was presented, or that the browser signed in with. A channel passes it on with every turn. */
    scope: Type.Optional(hidden(TokenScope)),
  },
  { $id: "User" },
);
export type User = Declared<typeof User>;

/** The person who runs this Postern: whoever is at its terminal, with the same threads as in the browser. */
export const OPERATOR = "operator";

/**
 * Somebody whom a channel names: `webhook/ann`, `telegram/42`. Not an account, though the name may be the same: whoever holds
 * the webhook's secret may name anybody. An account's id has no slash, or begins with `oidc:`.
 */
export const identityOf = (channel: string, user: string): string => `${channel}/${user}`;

export const isIdentity = (user: string): boolean => /^[\w.-]+\/./s.test(user);

/** Somebody whom a channel names, and the account that an operator has said it is. */
export const Identity = Type.Object(
  {
    id: Type.String({ description: "<channel>/<user>, such as webhook/ann" }),
    account: nullable(Type.String({ description: "The account it is paired with" })),
    pairedAt: nullable(Time),
    held: Type.Integer({ description: "How many of its messages wait until it is paired" }),
  },
  { $id: "Identity" },
);
export type Identity = Declared<typeof Identity>;

export const Account = Type.Object({ ...User.properties, createdAt: Time }, { $id: "Account" });
export type Account = Declared<typeof Account>;

export const SessionInfo = Type.Object(
  {
    id: Type.String(),
    user: Type.String(),
    via: Type.Enum(["token", "operator_token", "identity_provider", "invitation"], {
      description:
        "The credential it was signed in with; the session ends with it, unless it was an invitation",
    }),
    browser: nullable(Type.String({ description: "The browser's own name for itself" })),
    createdAt: Time,
    lastUsedAt: nullable(Time),
    expiresAt: Time,
  },
  { $id: "BrowserSession" },
);
export type SessionInfo = Declared<typeof SessionInfo>;

/** A link by which somebody signs in once. */
export const InvitationInfo = Type.Object(
  { id: Type.String(), user: Type.String(), createdAt: Time, expiresAt: Time },
  { $id: "Invitation" },
);
export type InvitationInfo = Declared<typeof InvitationInfo>;

export const TokenInfo = Type.Object(
  {
    id: Type.String(),
    user: Type.String(),
    name: Type.String(),
    createdAt: Time,
    tools: nullable(
      Type.Array(Type.String(), { description: "The tools it may use; none where empty, null for all" }),
    ),
    models: nullable(Type.Array(Type.String(), { description: "The models it may use; null for all" })),
    perDayUsd: nullable(Type.Number({ description: "US dollars a day (UTC); null for no limit" })),
    expiresAt: nullable(Time),
    lastUsedAt: nullable(Time),
    revokedAt: nullable(Time),
  },
  { $id: "Token" },
);
export type TokenInfo = Declared<typeof TokenInfo>;

const MAX_TOOLS = 100;
const MAX_MODELS = 50;

const ToolName = Type.String({
  pattern: "^[A-Za-z0-9_-]{1,64}$",
  refusal: "must be the name of a tool: 1 to 64 letters, digits, - and _",
});
const NameOfModel = Type.String({
  pattern: "^[!-~]{1,200}$",
  refusal: "must be the name of a model: 1 to 200 printable characters without blanks",
});

/** The options of a new token. Absent and null mean no limit. */
export const NewToken = Type.Object({
  tools: Type.Optional(
    Type.Union(
      [
        Type.Array(ToolName, {
          maxItems: MAX_TOOLS,
          refusal: `must have at most ${MAX_TOOLS} names of tools`,
        }),
        Type.Enum(["all", "none"]),
        Type.Null(),
      ],
      { description: "The tools its turns may use, the agent's own included; none where empty" },
    ),
  ),
  models: maybe(
    Type.Array(NameOfModel, {
      minItems: 1,
      maxItems: MAX_MODELS,
      refusal: `must have 1 to ${MAX_MODELS} names of models`,
      description: "The models its turns may use, with or without the provider: `openai/gpt-5-mini`",
    }),
  ),
  perDayUsd: maybe(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1_000_000,
      refusal: "must be US dollars above 0, up to 1000000",
      description: "US dollars its turns may spend on models per day (UTC)",
    }),
  ),
  expiresInDays: maybe(
    Type.Number({ exclusiveMinimum: 0, maximum: 36_500, refusal: "must be days above 0, up to 36500" }),
  ),
});
export type NewToken = Declared<typeof NewToken>;
