/** Slack keeps the contract of all channels. */
import { beforeAll, describe, test } from "vitest";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import messaging from "../../../plugins/messaging/plugin.ts";
import slackPlugin from "../../../plugins/slack/plugin.ts";
import { channelContract } from "../../channel-contract/channel-contract.ts";
import {
  APP_TOKEN,
  BOT_TOKEN,
  directOf,
  type FakeSlack,
  startSlack,
  TEAM,
} from "../../support/servers/slack.ts";
import { afterThisFile } from "../../support/undo.ts";

describe("the channel contract", () => {
  const later = afterThisFile();
  let slack: FakeSlack;
  beforeAll(async () => {
    slack = await startSlack(later);
  });
  let people = 0;
  const clauses = channelContract({
    plugin: slackPlugin as AnyPlugin,
    companions: [messaging as AnyPlugin],
    settings: {
      SLACK_APP_TOKEN: APP_TOKEN,
      SLACK_BOT_TOKEN: BOT_TOKEN,
      get SLACK_API_URL() {
        return slack.url;
      },
    },
    off: { SLACK_ENABLED: "false" },
    async connect({ running }) {
      const user = `U0PERSON${++people}`;
      await running.service("identities").pair(`slack/${TEAM}.${user}`, "operator");
      await slack.connected();
      return {
        async say(text) {
          const before = slack.answers(directOf(user)).length;
          slack.say(user, text);
          const answers = await slack.until(() => {
            const [answer] = slack.answers(directOf(user)).slice(before);
            return answer?.text ?? (slack.isConnected() ? undefined : "gone");
          });
          return answers.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
        },
        close: () => {},
      };
    },
  });
  for (const { title, run } of clauses) test(title, run);
});
