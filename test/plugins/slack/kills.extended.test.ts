/** The service is killed with `kill -9` while people write to it in Slack. `npm run test:kills -- slack` does it more often. */
import { expect, test } from "vitest";
import { describeKills, killRounds } from "../../support/processes/chat-kills.ts";
import { slackUnderKills } from "../../support/services/slack-kills.ts";

test("killed ten times, every message is answered once, and in order", async () => {
  const counted = await killRounds(await slackUnderKills(), 10);
  const none = { lost: [], repeated: 0, begun: 0, disordered: 0, strange: [] };
  expect(counted, describeKills(counted)).toMatchObject(none);
});
