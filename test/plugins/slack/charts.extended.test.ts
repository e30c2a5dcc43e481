/** A chart of a turn on its way to Slack, from the file that the code wrote. */
import { expect, test } from "vitest";
import { createCharts } from "../../../components/run-code/chart.ts";
import { sniffImage } from "../../../kernel/kit/files.ts";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import messaging from "../../../plugins/messaging/plugin.ts";
import slackPlugin from "../../../plugins/slack/plugin.ts";
import store from "../../../plugins/store/plugin.ts";
import telemetry from "../../../plugins/telemetry/plugin.ts";
import { APP_TOKEN, BOT_TOKEN, directOf, startSlack, TEAM } from "../../support/servers/slack.ts";
import { scriptedModel } from "../../support/services/agent.ts";
import { agentPlugins } from "../../support/services/agent-plugins.ts";
import { bootKernel } from "../../support/services/kernel.ts";
import { afterThisTest } from "../../support/undo.ts";

test("a chart that a turn drew is shared as a picture below its answer", async () => {
  const slack = await startSlack(afterThisTest);
  const model = await scriptedModel();
  const plugins = [store, telemetry, ...agentPlugins, messaging, slackPlugin] as readonly AnyPlugin[];
  const kernel = await bootKernel(plugins, {
    MODEL_BASE_URL: model.url,
    MODEL_NAME: "scripted",
    SLACK_APP_TOKEN: APP_TOKEN,
    SLACK_BOT_TOKEN: BOT_TOKEN,
    SLACK_API_URL: slack.url,
  });
  await kernel.service("identities").pair(`slack/${TEAM}.U0ANN`, "operator");
  await slack.connected();
  let text = "";
  createCharts(({ svg }) => {
    text = svg;
  }).area([1, 4, 2]);
  model.script(
    { calls: [{ name: "workspace_write", arguments: { path: "/output/visits.svg", text } }] },
    { text: "Here is the chart." },
  );
  slack.say("U0ANN", "Draw my visits");
  const [shared] = await slack.until(() => {
    const files = slack.answers(directOf("U0ANN")).flatMap((answer) => answer.files ?? []);
    return files.length > 0 ? files : undefined;
  });
  expect(shared?.name).toBe("visits.png");
  expect(sniffImage(shared?.data ?? Buffer.alloc(0))).toBe("image/png");
});
