/** Who is talking to the agent. */
import type { TSchema } from "typebox";
import { type Declared, hidden, nullable } from "../schema/declare.ts";
import { Time, Type } from "../schema/type.ts";

const Role = Type.Enum(["operator", "user"]);

/** What a token may use, where it may not use everything. Whatever is absent is not limited. */
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

const WEBHOOK = "webhook/";

/**
 * Somebody whom the webhook's senders name. Not an account, though the name may be the same: whoever holds the
 * secret may name anybody. An account's id has no slash.
 */
export const webhookIdentity = (name: string): string => `${WEBHOOK}${name}`;

export const isWebhookIdentity = (user: string): boolean =>
  user.startsWith(WEBHOOK) && user.length > WEBHOOK.length;

/** Somebody whom webhook senders name, and the account that an operator has said it is. */
export const Identity = Type.Object(
  {
    id: Type.String({ description: "webhook/<user_id>" }),
    account: nullable(Type.String({ description: "The account it is paired with" })),
    pairedAt: nullable(Time),
    held: Type.Integer({ description: "How many of its messages wait until it is paired" }),
  },
  { $id: "Identity" },
);
export type Identity = Declared<typeof Identity>;

/** §3.3: what the messages of an identity wait for that is not paired. An operator answers by naming an account. */
export const PairingGate = Type.Object(
  {
    type: Type.Literal("pairing"),
    id: Type.String(),
    identity: Type.String(),
    openedAt: Time,
    message: Type.String({ description: "The first message that waits" }),
  },
  { $id: "PairingGate" },
);
export type PairingGate = Declared<typeof PairingGate>;

/** An account is its id and when it was made: another who gets the same id later is somebody else. */
export const AccountKey = Type.Object({ id: Type.String(), createdAt: Time });
export type AccountKey = Declared<typeof AccountKey>;

export const Account = Type.Object({ ...User.properties, createdAt: Time }, { $id: "Account" });
export type Account = Declared<typeof Account>;

/** A browser that is signed in. */
export const SessionInfo = Type.Object(
  {
    id: Type.String(),
    user: Type.String(),
    via: Type.Enum(["token", "operator_token", "identity_provider"], {
      description: "What it was signed in with; it ends with that",
    }),
    browser: nullable(Type.String({ description: "What the browser calls itself" })),
    createdAt: Time,
    lastUsedAt: nullable(Time),
    expiresAt: Time,
  },
  { $id: "BrowserSession" },
);
export type SessionInfo = Declared<typeof SessionInfo>;

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

const maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));

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

/** Somebody whose credential was checked, in a form that can be checked again without keeping the secret. */
export interface SignedIn {
  readonly user: User;
  /** Names the credential: a session made from it ends with it. */
  readonly source: string;
  /** The digest of the session cookie, if that was presented. */
  readonly session?: string;
  readonly expiresAt?: Date;
}

/** Why a credential was refused. It never says what was wrong with a token. */
export type SignInRefusal =
  | "unknown"
  | "foreign_domain"
  | "unverified_email"
  | "store_unavailable"
  | "provider_unavailable";
