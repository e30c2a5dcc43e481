/** Who is talking to the agent. */
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
    /** Of the token that was presented, or that the browser signed in with. A channel passes it on with every turn. */
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

/** The people who may sign in. */
export interface Accounts {
  find(id: string): Promise<(User & AccountKey) | undefined>;
}
