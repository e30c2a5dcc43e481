/** Telegram as messaging sees it. */
import { GrammyError } from "grammy";
import { Fault, type Log } from "../../kernel/plugin.ts";
import type { ChatService } from "../messaging/services.ts";
import { type BotApi, createBotApi, explain, notSent } from "./bot-api.ts";
import { listenForUpdates, poll } from "./receiver.ts";
import { createSender, editMessage, targetOf } from "./sender.ts";
import type { TelegramConfig } from "./settings.ts";

const MAX_UPLOAD_BYTES = 50 * 1024 * 1024;

export interface TelegramParts {
  readonly config: TelegramConfig;
  readonly log: Log;
  announce(detail: string): void;
}

export function createTelegram({ config, log, announce }: TelegramParts): ChatService {
  const botApi = createBotApi(config);
  const sendMessage = createSender(botApi);
  const explained = (error: unknown): never => {
    throw explain(error);
  };

  return {
    name: "telegram",
    format: "telegram",
    limits: {
      characters: 4096,
      fileBytes: MAX_UPLOAD_BYTES,
      buttons: 8,
      perSecond: { conversation: 1, all: 30 },
      editMillis: 1500,
    },
    async receive(inbox, signal) {
      const { webhook } = config;
      try {
        const bot = await botApi.me(signal);
        const commands = inbox.commands.map(({ name, about }) => ({ command: name, description: about }));
        await botApi.call("setMyCommands", { commands }, signal);
        if (!webhook) await botApi.call("deleteWebhook", {}, signal);
        const detail = `@${bot.username}${webhook ? ` at ${webhook.url}` : ""}`;
        inbox.report({ isConnected: true, detail });
        announce(detail);
        const receiving = { bot, botApi, inbox, log, signal };
        await (webhook ? listenForUpdates(receiving, config, webhook) : poll(receiving));
      } catch (error) {
        if (!signal.aborted) explained(error);
      }
    },
    async send(message, signal) {
      try {
        return await sendMessage(message, signal);
      } catch (error) {
        return notSent(error) ?? explained(error);
      }
    },
    edit: (sent, message, signal) => editMessage(botApi, sent, message, signal).catch(explained),
    async showTyping(conversation, signal) {
      const { chat, options } = targetOf(conversation);
      await botApi
        .call("sendChatAction", { chat_id: chat, action: "typing", ...options }, signal)
        .catch(explained);
    },
    async download({ ref, name, bytes = 0 }, most, signal) {
      if (bytes > most) throw tooLarge(name);
      const { file_path: path } = await botApi
        .call("getFile", { file_id: ref }, signal)
        .catch((error: unknown) => {
          throw isTooBig(error) ? tooLarge(name) : explain(error);
        });
      return await botApi.download(path ?? "", most, signal);
    },
    check: (signal) => checkBot(botApi, signal),
  };
}

/** Says who the bot is and where people open it. */
export async function checkBot(botApi: BotApi, signal: AbortSignal): ReturnType<ChatService["check"]> {
  try {
    const { username, first_name: name, can_read_all_group_messages: seesAll } = await botApi.me(signal);
    const groups = seesAll ? "" : "; in groups it sees commands, mentions and replies to it";
    return { detail: `@${username} (${name})${groups}`, link: `https://t.me/${username}` };
  } catch (error) {
    throw explain(error);
  }
}

function tooLarge(name: string): Fault {
  return new Fault(
    "invalid",
    "file_too_large",
    `${name} is too large: Telegram hands files of up to 20 MB to a bot. Send a smaller one, or upload it on the page.`,
  );
}

function isTooBig(error: unknown): boolean {
  return error instanceof GrammyError && error.description.includes("file is too big");
}
