/** The check of `postern doctor`: is the token still good, and can Telegram be reached? */
import { type Finding, reason } from "../../kernel/plugin.ts";
import { createBotApi } from "./bot-api.ts";
import type { TelegramConfig } from "./settings.ts";
import { checkBot } from "./telegram.ts";

const TIMEOUT_MS = 10_000;

export async function examineBot(config: TelegramConfig): Promise<Finding> {
  const name = "telegram bot";
  try {
    const { detail, link } = await checkBot(createBotApi(config), AbortSignal.timeout(TIMEOUT_MS));
    return { name, ok: true, detail: `${detail}, ${link}` };
  } catch (error) {
    return { name, ok: false, detail: reason(error) };
  }
}
