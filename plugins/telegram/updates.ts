/** An update as Telegram tells it, as a message for the inbox; or why it is not for us. */
import type { Chat, Message, MessageEntity, MessageOrigin, Update, User } from "grammy/types";
import type { IncomingFile, IncomingMessage, QuotedText } from "../messaging/services.ts";

/** We ask for these alone. */
export const KINDS = ["message", "edited_message", "callback_query"] as const;

export interface Bot {
  readonly id: number;
  readonly username: string;
}

/** Reads what came together, in its order and each once. The photos of an album are one message. */
export function readUpdates(
  updates: readonly Update[],
  bot: Bot,
): { readonly messages: readonly IncomingMessage[]; readonly ignored: readonly string[] } {
  const messages = new Map<string, IncomingMessage>();
  const albums = new Map<string, string>();
  const ignored: string[] = [];
  for (const update of updates.toSorted((one, other) => one.update_id - other.update_id)) {
    const read = readUpdate(update, bot);
    if ("ignored" in read) {
      ignored.push(read.ignored);
      continue;
    }
    const { message } = read;
    if (messages.has(message.id)) continue;
    const album = update.message?.media_group_id;
    const first = album === undefined ? undefined : albums.get(album);
    if (album !== undefined) albums.set(album, first ?? message.id);
    messages.set(first ?? message.id, join(messages.get(first ?? ""), message));
  }
  return { messages: [...messages.values()], ignored };
}

/** Has an id of all its parts: should a part come alone after a crash, it is answered twice and not lost. */
function join(first: IncomingMessage | undefined, next: IncomingMessage): IncomingMessage {
  if (first === undefined) return next;
  return {
    ...first,
    id: `${first.id}+${next.id.split(":").at(-1)}`,
    text: [first.text, next.text].filter((text) => text !== "").join("\n"),
    files: [...(first.files ?? []), ...(next.files ?? [])],
    ...((first.quoted ?? next.quoted) && { quoted: [...(first.quoted ?? []), ...(next.quoted ?? [])] }),
  };
}

type Read = { readonly message: IncomingMessage } | { readonly ignored: string };

function readUpdate(update: Update, bot: Bot): Read {
  if (update.callback_query) return readPress(update.callback_query, bot);
  const message = update.message ?? update.edited_message;
  if (message === undefined) {
    const kinds = Object.keys(update).filter((field) => field !== "update_id");
    return ignored(`it has ${kinds.join(", ")}, which we did not ask for`);
  }
  return readMessage(message, bot, update.edited_message ? update.update_id : undefined);
}

/** Update ids begin anew at random after a quiet week, so a message is known by its chat and its own number there. */
function messageId(bot: Bot, { chat, message_id }: Pick<Message, "chat" | "message_id">): string {
  return `${bot.id}:${chat.id}:${message_id}`;
}

function conversationOf(message: {
  readonly chat: Pick<Chat, "id">;
  readonly message_thread_id?: number;
  readonly is_topic_message?: boolean;
}): string {
  const { chat, message_thread_id: topic, is_topic_message: isTopic } = message;
  // Without that mark the number only names the message that a reply belongs to.
  return isTopic && topic !== undefined ? `${chat.id}:${topic}` : String(chat.id);
}

function readMessage(message: Message, bot: Bot, edit: number | undefined): Read {
  const { chat, from, sender_chat: behalf } = message;
  if (chat.type === "channel") return ignored("a post of a channel has no person behind it");
  if (behalf) return ignored("it was written in the name of a chat, by an anonymous admin or a channel");
  if (from === undefined || from.is_bot) return ignored("no person wrote it");
  const files = filesOf(message);
  const own = textOf(message);
  if (own === undefined && files.length === 0) return ignored("it has neither text nor a file");
  const isGroup = chat.type !== "private";
  const id = messageId(bot, message);
  const isForwarded = message.forward_origin !== undefined;
  const quoted = quotedIn(message, own ?? "", bot);
  return {
    message: {
      id: edit === undefined ? id : `${id}:edit:${edit}`,
      conversation: conversationOf(message),
      sender: senderOf(from),
      ...(isGroup && { isGroup, isMention: isMention(message, bot), reply: { message: message.message_id } }),
      text: isForwarded ? "" : withoutName(own ?? "", bot),
      ...(quoted.length > 0 && { quoted }),
      ...(files.length > 0 && { files }),
      ...(edit !== undefined && { edits: id }),
      sentAt: new Date((message.edit_date ?? message.date) * 1000).toISOString(),
    },
  };
}

function readPress(query: NonNullable<Update["callback_query"]>, bot: Bot): Read {
  const { id, from, message, data } = query;
  if (message === undefined || data === undefined) return ignored("a button that we did not send");
  const isGroup = message.chat.type !== "private";
  return {
    message: {
      id: `${bot.id}:press:${id}`,
      conversation: conversationOf(message),
      sender: senderOf(from),
      ...(isGroup && { isGroup, isMention: true }),
      text: "",
      pressed: data,
    },
  };
}

function ignored(why: string): Read {
  return { ignored: why };
}

function senderOf({ id, first_name, last_name }: User): IncomingMessage["sender"] {
  return { id: String(id), name: [first_name, last_name].filter(Boolean).join(" ") };
}

function textOf({ text, caption, sticker, location, venue }: Message): string | undefined {
  if (venue)
    return `${venue.title}, ${venue.address} (${venue.location.latitude}, ${venue.location.longitude})`;
  // A live one moves on by edits, which nobody means as messages.
  if (location && location.live_period === undefined) return `${location.latitude}, ${location.longitude}`;
  return text ?? caption ?? sticker?.emoji;
}

/** Telegram has photos and voice messages without a name. */
function filesOf(message: Message): readonly IncomingFile[] {
  const { document, photo, voice, audio, video, video_note: note, message_id: number } = message;
  const file = (
    found: {
      readonly file_id: string;
      readonly file_size?: number;
      readonly mime_type?: string;
      readonly file_name?: string;
    },
    name: string,
    mime: string,
  ): readonly IncomingFile[] => [
    {
      ref: found.file_id,
      name: found.file_name ?? name,
      mime: found.mime_type ?? mime,
      ...(found.file_size !== undefined && { bytes: found.file_size }),
    },
  ];
  // The sizes of one photo, smallest first.
  const largest = photo?.at(-1);
  if (largest) return file(largest, `photo-${number}.jpg`, "image/jpeg");
  if (voice) return file(voice, `voice-${number}.ogg`, "audio/ogg");
  if (audio) return file(audio, `audio-${number}.mp3`, "audio/mpeg");
  const film = video ?? note;
  if (film) return file(film, `video-${number}.mp4`, "video/mp4");
  // An animation comes as a document too.
  if (document) return file(document, `file-${number}`, "application/octet-stream");
  return [];
}

function isMention(message: Message, bot: Bot): boolean {
  const { reply_to_message: replied } = message;
  // In a topic every message replies to the one that began it.
  if (replied?.from?.id === bot.id && replied.forum_topic_created === undefined) return true;
  const text = message.text ?? message.caption ?? "";
  const entities = message.entities ?? message.caption_entities ?? [];
  return entities.some((entity) => {
    if (entity.type === "text_mention") return entity.user.id === bot.id;
    const words = wordsOf(text, entity).toLowerCase();
    if (entity.type === "mention") return words === nameOf(bot);
    // Where several bots are in a group, a command names the one that is meant.
    if (entity.type === "bot_command") return !words.includes("@") || words.endsWith(nameOf(bot));
    return false;
  });
}

const nameOf = ({ username }: Bot) => `@${username.toLowerCase()}`;
const wordsOf = (text: string, { offset, length }: MessageEntity) => text.slice(offset, offset + length);

/** `/new@our_bot` is `/new`, and `@our_bot what time is it` asks what follows. */
function withoutName(text: string, bot: Bot): string {
  const [first = ""] = /^\S+/.exec(text) ?? [];
  if (!first.toLowerCase().endsWith(nameOf(bot))) return text;
  const kept = first.slice(0, -nameOf(bot).length);
  if (kept === "") return text.slice(first.length).trimStart();
  return kept.startsWith("/") ? kept + text.slice(first.length) : text;
}

function quotedIn(message: Message, own: string, bot: Bot): NonNullable<IncomingMessage["quoted"]> {
  const { forward_origin: origin, reply_to_message: replied, external_reply: external, quote } = message;
  const found: QuotedText[] = [];
  const isOurs = (from: User | undefined) => from?.id === bot.id && { isOurs: true };
  const senderIn = (sent: MessageOrigin) => (sent.type === "user" ? sent.sender_user : undefined);
  if (origin && own !== "") found.push({ by: originName(origin), text: own, ...isOurs(senderIn(origin)) });
  if (external && quote)
    found.push({ by: originName(external.origin), text: quote.text, ...isOurs(senderIn(external.origin)) });
  // What we said ourselves stands in the thread, unless the person points at a part of it.
  const text = quote?.text ?? (replied?.from?.id === bot.id ? undefined : replied && textOf(replied));
  if (replied && text !== undefined && text !== "")
    found.push({
      by: replied.sender_chat ? chatName(replied.sender_chat) : personName(replied.from),
      text,
      ...isOurs(replied.from),
    });
  return found;
}

function originName(origin: MessageOrigin): string {
  if (origin.type === "user") return personName(origin.sender_user);
  if (origin.type === "hidden_user") return origin.sender_user_name;
  return chatName(origin.type === "chat" ? origin.sender_chat : origin.chat);
}

const personName = (user: User | undefined) => (user && senderOf(user).name) || "somebody";
const chatName = (chat: Chat) => ("title" in chat && chat.title) || "a chat";
