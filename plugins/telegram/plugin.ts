/** The Telegram channel: people talk to the agent through a bot. Everything but the Bot API itself is messaging's. */
import { definePlugin, type Finding, Off } from "../../kernel/plugin.ts";
import { readSettings, TOKEN } from "./settings.ts";

const GUIDE = `A bot of Telegram is made in Telegram itself:
  1. Open https://t.me/BotFather and send /newbot.
  2. Give it a name, and a user name that ends in "bot".
  3. Copy the token that @BotFather answers with.`;

export default definePlugin({
  name: "telegram",
  kind: "channel",
  needs: ["messaging"],
  extends: ["messaging"],
  configure: (env) =>
    env.flag("TELEGRAM_ENABLED", true, "Enable the Telegram channel, where it has a token")
      ? { telegram: readSettings(env) }
      : new Off("TELEGRAM_ENABLED=false"),
  async start({ use, log, onStop, announce }) {
    onStop(
      await use.messaging.offer(
        {
          name: "telegram",
          title: "Telegram",
          guide: GUIDE,
          settings: [{ name: TOKEN, example: "123456789:AAH…" }],
          read: readSettings,
          async create(config, announce) {
            // The bot's name is known once it is connected, which start-up does not wait for.
            announce(`bot ${config.token.split(":", 1)[0]}`);
            return (await import("./telegram.ts")).createTelegram({ config, log, announce });
          },
        },
        announce,
      ),
    );
  },
  operations: {
    live: readSettings,
    async diagnose({ config: { telegram } }): Promise<readonly Finding[]> {
      if (telegram instanceof Off) return [];
      return [await (await import("./diagnosis.ts")).examineBot(telegram)];
    },
  },
});
