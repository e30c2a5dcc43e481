/**
 * Messaging as channels use it: a chat service such as Telegram hands over what people wrote and sends what is to be said to them.
 * Everything between is done here once for all of them: the inbox, who somebody is, turns, gates, the outbox and its failures.
 */

import type { Env, Off } from "../../kernel/plugin.ts";
import type { ChannelState, OutboxEntry, OutboxStatus, PairingRequest } from "./wire.ts";

export type { ChannelState, OutboxEntry, OutboxStatus, PairingRequest };

/**
 * A channel that an operator can set up, as its plugin offers it with `messaging.offer`. Its settings may come from the environment or, by
 * `postern channel add`, sealed from the store: the plugin names `read` as its `operations.live` too, is on without them, and is opened,
 * opened anew or closed as they change.
 */
export interface Channel<Config = unknown> {
  /** As the service has it, the plugin that reads the settings, and what people type: `postern channel add slack`. */
  readonly name: string;
  /** As people write it: `Slack`. */
  readonly title: string;
  /** Printed before anything is asked: where the answers come from, step by step. */
  readonly guide: string;
  /** What `postern channel add` asks for, in this order. What each means, and whether it is a secret, is said where it is read. */
  readonly settings: readonly ChannelSetting[];
  /** Reads them, and says what is missing where the channel is not set up. */
  read(env: Env): Config | Off;
  /**
   * Makes the service. It is not connected before `receive` is called; `check` works on its own, also with settings that are only tried:
   * what such a service announces is dropped.
   */
  create(config: Config, announce: (detail: string) => void): ChatService | Promise<ChatService>;
}

export interface ChannelSetting {
  readonly name: string;
  /** An example that shows its form: `xoxb-…`. */
  readonly example?: string;
  /** True where Enter leaves it out. */
  readonly isOptional?: boolean;
}

/** A chat service, as `messaging.open` gets it. */
export interface ChatService {
  /** The name of the channel, and the first half of its identities: `telegram/42`. */
  readonly name: string;
  readonly limits: ChatLimits;
  /** How Markdown is written for this service. */
  readonly format: TextFormat;
  /** True where a stranger gets no answer at all, not even a pairing code, since it could reach somebody else. They are listed for the owner. */
  readonly isSilentToStrangers?: boolean;
  /**
   * Holds the connection and hands over what comes in, until the signal aborts. Only the node that holds the channel's lease runs it.
   * Where it rejects it is called again, after a pause that grows; a `Fault` of the kind `forbidden` (a token that was revoked) stays as the channel's state.
   */
  receive(inbox: Inbox, signal: AbortSignal): Promise<void>;
  /** Sends one message. Where it rejects, it is unknown whether the service has taken it. */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<SentMessage | NotSent>;
  /** True where the service ignores a message whose `key` it has seen before. */
  readonly hasKeys?: boolean;
  /** Finds a message whose sending ended in an unknown way. Absent where the service cannot tell. */
  lookUp?(message: OutgoingMessage, signal: AbortSignal): Promise<SentMessage | undefined>;
  /** Replaces the text and the buttons of a message that was sent. Absent where that cannot be done. */
  edit?(sent: SentMessage, message: OutgoingMessage, signal: AbortSignal): Promise<void>;
  /** Shows that an answer is being written. Called every few seconds while a turn runs. */
  showTyping?(conversation: string, signal: AbortSignal): Promise<void>;
  /** Brings the bytes of a file that came with a message; `most` is the largest that is wanted. */
  download?(file: IncomingFile, most: number, signal: AbortSignal): Promise<Uint8Array>;
  /** Asks the service who we are there. Rejects with a `Fault` that says what to do. */
  check(signal: AbortSignal): Promise<{ readonly detail: string; readonly link?: string }>;
}

export interface ChatLimits {
  /** Of one message's text as `format` writes it. */
  readonly characters: number;
  readonly fileBytes: number;
  /** Buttons under one message; 0 where answers are numbers that people type. */
  readonly buttons: number;
  /** How many messages a second, to one conversation and in all. */
  readonly perSecond: { readonly conversation: number; readonly all: number };
  /** The least pause between two edits while an answer is written; absent where it is not shown before it is whole. */
  readonly editMillis?: number;
}

/** `plain` has no marks at all; `mail` is both a plain text and HTML. */
export type TextFormat = "telegram" | "slack" | "mail" | "plain";

export interface Inbox {
  /** Where the last committed `accept` left off: an offset or UID in the service's own words. */
  position(): Promise<string | undefined>;
  /**
   * Resolves when these messages and the position are on disk, in one commit. A message that was accepted before is the same row and does
   * nothing again. Acknowledge to the service only afterwards.
   */
  accept(messages: readonly IncomingMessage[], position?: string): Promise<void>;
  /** What people can type, for the service's menu. */
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  /** The channel is connected, or waits to be: what `postern channel list` and the page say of it. */
  report(state: { readonly isConnected: boolean; readonly detail?: string }): void;
}

/** What somebody else said, or what we said before. */
export interface QuotedText {
  readonly by: string;
  readonly text: string;
  /** True for what we sent: a model wrote it, so it gives no link to trust. */
  readonly isOurs?: boolean;
}

export interface IncomingMessage {
  /** The service's own id: what has the same one is the same message. */
  readonly id: string;
  /** The chat, with its topic or thread; each is a thread of ours. */
  readonly conversation: string;
  /** `id` is the second half of the identity. Never a name that people choose for themselves. */
  readonly sender: { readonly id: string; readonly name?: string };
  /** In a group only those who mention us are answered. */
  readonly isGroup?: boolean;
  readonly isMention?: boolean;
  /** False where the service does not vouch for the sender (mail that did not pass authentication): it can be neither paired nor answered. */
  readonly isAuthentic?: boolean;
  readonly text: string;
  /** Parts that others wrote: a forwarded message, a quoted mail, what was said in a group before. They are a stranger's for the gate. */
  readonly quoted?: readonly QuotedText[];
  readonly files?: readonly IncomingFile[];
  /** A button that was pressed, by the `value` that it was sent with; `text` is empty then. */
  readonly pressed?: string;
  /** The id of the message that this is a new wording of. */
  readonly edits?: string;
  /** What an answer needs to stand in its place: a message id to reply to, headers of a mail. As JSON, handed back with what is sent. */
  readonly reply?: unknown;
  readonly sentAt?: string;
}

export interface IncomingFile {
  /** What `download` needs to bring it. */
  readonly ref: string;
  readonly name: string;
  readonly mime?: string;
  readonly bytes?: number;
}

/** One message of ours, already cut to the service's limits. */
export interface OutgoingMessage {
  /** The same for every try of this message, and for no other. */
  readonly key: string;
  readonly conversation: string;
  /** As `format` asks for; in `mail` the plain text. */
  readonly text: string;
  readonly html?: string;
  readonly buttons?: readonly { readonly text: string; readonly value: string }[];
  readonly files?: readonly { readonly name: string; readonly mime: string; readonly data: Uint8Array }[];
  /** As the message that it answers had it. */
  readonly reply?: unknown;
  /** True for one that goes on after another of the same answer. */
  readonly isContinued?: boolean;
}

/** The service's own id of a message that was sent, as JSON. */
export interface SentMessage {
  readonly id: string;
}

/** The service has certainly not taken the message. */
export interface NotSent {
  readonly id?: undefined;
  readonly message: string;
  /** As long as the service asks to wait. */
  readonly retryMillis?: number;
  /** True where no further try can help: the person blocked us, the chat is gone. It goes to the dead letters at once. */
  readonly isFinal?: boolean;
}

export interface Messaging {
  /**
   * Offers a channel, and opens its service whenever its settings are there. Returns the undo. `announce` is told why it is not open,
   * for the start-up table; the service itself says there how it is connected.
   */
  offer<Config>(
    channel: Channel<Config>,
    announce: (detail: string | Off) => void,
  ): Promise<() => Promise<void>>;
  /** The channels that plugins offer, also those that are not set up. */
  offered(): readonly OfferedChannel[];
  /** Registers a service and begins to receive where this node gets the lease. Returns the undo, which waits for what is being sent. */
  open(service: ChatService): Promise<() => Promise<void>>;
  /** All that are offered, also those that are not set up, and those of which something is still kept. */
  channels(): Promise<readonly ChannelState[]>;
  /** Returns a chart of run-code, which is an SVG, as PNG; undefined for any other. */
  draw(svg: string): Promise<Uint8Array | undefined>;
  /** What waits to be sent or could not be, oldest first. */
  list(query?: {
    readonly channel?: string;
    readonly status?: OutboxStatus;
    readonly limit?: number;
    readonly after?: string;
  }): Promise<readonly OutboxEntry[]>;
  /** False where there is no such message or it waits for nothing. */
  retry(id: string): Promise<boolean>;
  drop(id: string): Promise<boolean>;
  /** The senders that wait to be paired, each with its code. */
  requests(): Promise<readonly PairingRequest[]>;
  /** Sentences, one for each list of senders that is full. */
  fullLists(): Promise<readonly string[]>;
  /** Pairs the sender behind a code with an account. A `Fault` where no request has it. */
  pair(code: string, account: string): Promise<PairingRequest>;
  deny(code: string): Promise<boolean>;
}

export interface OfferedChannel {
  readonly channel: Pick<Channel, "name" | "title" | "guide" | "settings">;
  /** Asks the service who we are there, with these values in place of those in use. Rejects with a `Fault` that says what to do. */
  check(values: Readonly<Record<string, string>>, signal: AbortSignal): ReturnType<ChatService["check"]>;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    messaging: Messaging;
  }
}
