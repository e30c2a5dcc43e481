/** The settings of the channel, from the environment or stored. */
import { type Env, Off } from "../../kernel/plugin.ts";

export const TOKEN = "TELEGRAM_BOT_TOKEN";

export interface TelegramConfig {
  readonly token: string;
  /** Where the Bot API is, without a slash at its end. */
  readonly apiUrl: string;
  /** Set where Telegram calls us instead of being asked. */
  readonly webhook?: WebhookPlace;
}

export interface WebhookPlace {
  /** As Telegram reaches it. */
  readonly url: string;
  /** Where we listen behind it. */
  readonly host: string;
  readonly port: number;
}

// The id of the bot and 35 characters; a test server may have longer ones.
const TOKEN_FORM = /^\d{1,20}:[\w-]{30,100}$/;
const TELEGRAM = "https://api.telegram.org";

export function readSettings(env: Env): TelegramConfig | Off {
  const token = env.secret(TOKEN, "Token of the Telegram bot, from @BotFather");
  const apiUrl = env.url(
    "TELEGRAM_API_URL",
    TELEGRAM,
    "The Bot API; another where you run a server of it yourself",
  );
  const url = env.url(
    "TELEGRAM_WEBHOOK_URL",
    undefined,
    "The https address that Telegram posts to, in place of polling",
  );
  const host = env.text(
    "TELEGRAM_WEBHOOK_HOST",
    "127.0.0.1",
    "Host that listens behind TELEGRAM_WEBHOOK_URL",
  );
  const port = env.port("TELEGRAM_WEBHOOK_PORT", 8081, "Port that listens behind TELEGRAM_WEBHOOK_URL");
  env.sends(TOKEN, "TELEGRAM_API_URL");
  if (token === undefined) return new Off(`${TOKEN} is not set`);
  if (!TOKEN_FORM.test(token)) env.refuse(TOKEN, "a token as @BotFather gives it, such as 123456789:AAH…");
  return {
    token,
    apiUrl: (apiUrl ?? TELEGRAM).replace(/\/$/, ""),
    ...(url !== undefined && { webhook: { url, host, port } }),
  };
}
