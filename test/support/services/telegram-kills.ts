/** Telegram for the kills: four people, each in a chat of their own. */
import type { ChatUnderKills } from "../processes/chat-kills.ts";
import { startTelegram } from "../servers/telegram.ts";

export async function telegramUnderKills(): Promise<ChatUnderKills> {
  const telegram = await startTelegram();
  // Some are killed after Telegram took a message and before it said so.
  telegram.slows(100);
  const people = new Map(
    Array.from({ length: 4 }, (_, at) => [String(100 + at), telegram.person(100 + at)] as const),
  );
  return {
    name: "telegram",
    settings: { TELEGRAM_API_URL: telegram.url, TELEGRAM_BOT_TOKEN: telegram.token },
    people: [...people.keys()],
    say: (person, text) => void people.get(person)?.says(text),
    shown: (person) => telegram.shown.filter(({ chat }) => chat === Number(person)).map(({ text }) => text),
    close: telegram.close,
  };
}
