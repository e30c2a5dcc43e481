/** Our messages as requests to the Bot API. */
import { GrammyError, InputFile } from "grammy";
import type { InlineKeyboardMarkup, Message, ReplyParameters } from "grammy/types";
import { LRUCache } from "lru-cache";
import { cleanFileName } from "../../kernel/kit/files.ts";
import type { OutgoingMessage, SentMessage } from "../messaging/services.ts";
import type { BotApi } from "./bot-api.ts";

const MAX_CAPTION_LENGTH = 1024;
const MAX_PHOTO_BYTES = 10 * 1024 * 1024;
const PHOTO_TYPES = new Set(["image/jpeg", "image/png", "image/webp"]);
const MAX_BEGUN = 1000;
/** Buttons share a row while their words fit on a telephone. */
const MAX_ROW_LENGTH = 30;

type File = NonNullable<OutgoingMessage["files"]>[number];

interface ChatTarget {
  readonly chat: number;
  readonly options: { readonly message_thread_id?: number; readonly reply_parameters?: ReplyParameters };
}

/** Where a message stands, as `send` returned it. */
interface Sent {
  readonly chat: number;
  readonly message: number;
  /** Its text belongs to a file. */
  readonly isCaption?: boolean;
}

export function targetOf(conversation: string, reply?: unknown): ChatTarget {
  const [chat, topic] = conversation.split(":").map(Number);
  const { message } = Object(reply) as { readonly message?: unknown };
  return {
    chat: chat as number,
    options: {
      ...(topic !== undefined && { message_thread_id: topic }),
      ...(typeof message === "number" && {
        // Somebody may have deleted the question.
        reply_parameters: { message_id: message, allow_sending_without_reply: true },
      }),
    },
  };
}

/** Returns a function that sends one message. If the second of its two requests fails, the next try goes on with that. */
export function createSender({
  call,
}: BotApi): (message: OutgoingMessage, signal: AbortSignal) => Promise<SentMessage> {
  const begun = new LRUCache<string, Sent>({ max: MAX_BEGUN });

  async function deliver(message: OutgoingMessage, chat: number, signal: AbortSignal): Promise<Sent> {
    const { key, text, files = [], isContinued, reply } = message;
    const { options } = targetOf(message.conversation, isContinued ? undefined : reply);
    const markup = markupOf(message);
    const isCaption =
      files.length > 0 && text.length <= MAX_CAPTION_LENGTH && (files.length === 1 || !markup);
    const caption = isCaption && text !== "" ? { caption: text, parse_mode: "HTML" as const } : {};
    let first = begun.get(key);
    if (!isCaption && text !== "" && first === undefined) {
      first = sentAs(
        await call("sendMessage", { chat_id: chat, text, ...options, ...HTML, ...markup }, signal),
      );
      if (files.length > 0) begun.set(key, first);
    }
    if (files.length === 0) return first as Sent;
    const at = { ...options, ...caption, ...(isCaption && markup) };
    const last = await sendFiles(chat, files, at, signal);
    begun.delete(key);
    return first ?? { ...sentAs(last), isCaption: true };
  }

  async function sendFiles(
    chat: number,
    files: readonly File[],
    options: ChatTarget["options"] & {
      readonly caption?: string;
      readonly parse_mode?: "HTML";
      readonly reply_markup?: InlineKeyboardMarkup;
    },
    signal: AbortSignal,
  ): Promise<Message> {
    const [file] = files as [File];
    const to = { chat_id: chat, ...options };
    if (files.length === 1)
      return isPhoto(file)
        ? call("sendPhoto", { ...to, photo: inputOf(file) }, signal)
        : call("sendDocument", { ...to, document: inputOf(file) }, signal);
    const { caption, parse_mode, ...rest } = to;
    const media = files.map((one, at) => ({
      type: "document" as const,
      media: inputOf(one),
      ...(at === 0 && caption !== undefined && { caption, parse_mode: parse_mode ?? "HTML" }),
    }));
    // One request for all of them: they arrive together or not at all.
    const [sent] = await call("sendMediaGroup", { ...rest, media }, signal);
    return sent as Message;
  }

  return async (message, signal) => {
    const { chat } = targetOf(message.conversation);
    const sent = await deliver(message, chat, signal).catch((error: unknown) => {
      // A group that has grown has another number from then on.
      const moved = error instanceof GrammyError ? error.parameters.migrate_to_chat_id : undefined;
      if (moved === undefined) throw error;
      return deliver(message, moved, signal);
    });
    return { id: JSON.stringify(sent) };
  };
}

/** Replaces the text and the buttons. One that has them already counts as done. */
export async function editMessage(
  { call }: BotApi,
  { id }: SentMessage,
  message: OutgoingMessage,
  signal: AbortSignal,
): Promise<void> {
  const { chat, message: number, isCaption } = JSON.parse(id) as Sent;
  const at = { chat_id: chat, message_id: number, ...markupOf(message) };
  try {
    if (isCaption)
      await call("editMessageCaption", { ...at, caption: message.text, parse_mode: "HTML" }, signal);
    else await call("editMessageText", { ...at, text: message.text, ...HTML }, signal);
  } catch (error) {
    if (!(error instanceof GrammyError && error.description.includes("message is not modified"))) throw error;
  }
}

/** Telegram would fetch each address in a text to show a preview: what the model wrote there would leave without a click. */
const HTML = { parse_mode: "HTML", link_preview_options: { is_disabled: true } } as const;

function markupOf({ buttons = [] }: OutgoingMessage): { readonly reply_markup?: InlineKeyboardMarkup } {
  if (buttons.length === 0) return {};
  const all = buttons.map(({ text, value }) => ({ text, callback_data: value }));
  const isShort = all.reduce((sum, { text }) => sum + text.length, 0) <= MAX_ROW_LENGTH;
  return { reply_markup: { inline_keyboard: isShort ? [all] : all.map((button) => [button]) } };
}

function sentAs({ chat, message_id }: Message): Sent {
  return { chat: chat.id, message: message_id };
}

function isPhoto({ mime, data }: File): boolean {
  return PHOTO_TYPES.has(mime) && data.length <= MAX_PHOTO_BYTES;
}

function inputOf({ name, data }: File): InputFile {
  // The package writes the name into a header as it is.
  return new InputFile(data, cleanFileName(name).replace(/[;"\\]/g, "_"));
}
