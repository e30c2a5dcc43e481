/** Chat channels, what waits to be sent in them, and who waits to be let in. */
import { type Declared, nullable, Time, Type } from "../../kernel/kit/schema.ts";

export const OutboxStatus = Type.Enum(["waiting", "sending", "unknown", "dead"]);
export type OutboxStatus = Declared<typeof OutboxStatus>;

/** A message to somebody that was not sent yet, or could not be. */
export const OutboxEntry = Type.Object(
  {
    id: Type.String(),
    channel: Type.String(),
    conversation: Type.String({ description: "The chat, as the channel names it" }),
    user: Type.String(),
    text: Type.String({ description: "Its first words" }),
    status: OutboxStatus,
    attempts: Type.Integer(),
    createdAt: Time,
    nextAt: nullable({ ...Time, description: "When it is tried again" }),
    message: nullable(Type.String({ description: "Why it was not sent" })),
  },
  { $id: "OutboxEntry" },
);
export type OutboxEntry = Declared<typeof OutboxEntry>;

export const ChannelState = Type.Object(
  {
    name: Type.String(),
    title: Type.String({ description: "As people write it" }),
    missing: nullable(Type.String({ description: "What is missing where it is not set up" })),
    node: nullable(Type.String({ description: "The node that holds its connection" })),
    isConnected: Type.Boolean(),
    detail: Type.String(),
    lastReceivedAt: nullable(Time),
    lastSentAt: nullable(Time),
    waiting: Type.Integer({ description: "How many messages wait to be sent" }),
    oldestWaitingAt: nullable(Time),
    dead: Type.Integer({ description: "How many could not be sent" }),
    requests: Type.Integer({ description: "How many senders wait to be let in" }),
  },
  { $id: "ChatChannel" },
);
export type ChannelState = Declared<typeof ChannelState>;

/** What is asked for to set a channel up. Values are never in it. */
export const ChannelSetup = Type.Object(
  {
    guide: Type.String({ description: "Where the values come from, step by step" }),
    settings: Type.Array(
      Type.Object({
        name: Type.String(),
        example: Type.Optional(Type.String()),
        about: Type.String(),
        isOptional: Type.Boolean(),
        isSecret: Type.Boolean(),
        isSet: Type.Boolean(),
        isFixed: Type.Boolean({ description: "The environment or .env sets it" }),
      }),
    ),
  },
  { $id: "ChannelSetup" },
);

/** A sender that nobody knows yet. */
export const PairingRequest = Type.Object(
  {
    code: Type.String(),
    identity: Type.String({ description: "<channel>/<id>, such as telegram/42" }),
    name: nullable(Type.String({ description: "As the sender calls itself" })),
    text: Type.String({ description: "The beginning of what they wrote" }),
    isAuthentic: Type.Boolean({
      description: "False where the service does not vouch for the sender: it cannot be paired",
    }),
    askedAt: Time,
  },
  { $id: "PairingRequest" },
);
export type PairingRequest = Declared<typeof PairingRequest>;
