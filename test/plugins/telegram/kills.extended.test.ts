/** The service is killed with `kill -9` while people write to the bot. `npm run test:kills -- telegram` does it more often. */
import { expect, test } from "vitest";
import { describeKills, killRounds } from "../../support/processes/chat-kills.ts";
import { telegramUnderKills } from "../../support/services/telegram-kills.ts";

test("killed ten times, every message is answered, and in order", async () => {
  const counted = await killRounds(await telegramUnderKills(), 10);
  expect([counted.lost, counted.disordered, counted.strange], describeKills(counted)).toEqual([[], 0, []]);
  // Telegram cannot tell whether it took a message, so some may be there twice, but at most one for each kill and chat.
  expect(counted.repeated + counted.begun).toBeLessThanOrEqual(counted.kills * 4);
});
