/** The operator's routes for chat channels, on the real messaging. */
import { expect, test } from "vitest";
import type { AnyPlugin } from "../../../../kernel/plugin.ts";
import messaging from "../../../../plugins/messaging/plugin.ts";
import slackPlugin from "../../../../plugins/slack/plugin.ts";
import { directOf, startSlack } from "../../../support/servers/slack.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { openGateway } from "../../../support/services/gateway.ts";

const PLUGINS = [messaging, slackPlugin] as readonly AnyPlugin[];
const ANN = "U0ANN";

test("channels are listed with their state, also those that are not set up", async () => {
  const gateway = await openGateway({ plugins: PLUGINS });
  expect((await gateway.ask("/api/channels")).body.channels).toMatchObject([
    { name: "slack", title: "Slack", missing: "SLACK_APP_TOKEN is not set", is_connected: false, waiting: 0 },
  ]);
  const { channels } = (await gateway.ask("/api/status")).body;
  expect(channels).toContainEqual({
    name: "slack",
    on: false,
    detail: 'SLACK_APP_TOKEN is not set: run "postern channel add slack"',
  });
});

test("a sender waits with a code until the operator says who it is, and then is answered", async () => {
  const slack = await startSlack();
  const model = await scriptedModel();
  model.otherwise({ text: "Hello Ann." });
  const gateway = await openGateway({ model, plugins: PLUGINS, variables: slack.settings });
  await gateway.addUser("ann");
  await slack.connected();
  slack.say(ANN, "let me in");
  const told = await slack.until(() => slack.answers(directOf(ANN))[0]);
  const [request] = (await gateway.ask("/api/pairings")).body.requests;
  expect(request).toMatchObject({ identity: "slack/T0TEAM.U0ANN", name: "U0ANN Name", text: "let me in" });
  expect(told.text).toContain(request.code);
  // The same question is an approval of the operator's.
  const { pending } = (await gateway.ask("/api/approvals")).body;
  expect(pending).toMatchObject([{ type: "pairing", identity: "slack/T0TEAM.U0ANN" }]);
  expect((await gateway.ask("/api/channels")).body.channels).toMatchObject([
    { is_connected: true, requests: 1 },
  ]);

  const pair = (code: string) =>
    gateway.ask(`/api/pairings/${code}`, { method: "POST", body: { account: "ann" } });
  expect(await pair("NONE-SUCH")).toMatchObject({
    status: 404,
    body: { error: { code: "no_pairing_request" } },
  });
  expect(await pair(request.code)).toMatchObject({ status: 200, body: { identity: "slack/T0TEAM.U0ANN" } });
  await slack.until(() => slack.answers(directOf(ANN)).some(({ text }) => text === "Hello Ann."));
  expect((await gateway.ask("/api/pairings")).body.requests).toEqual([]);
  expect((await gateway.ask("/api/approvals")).body.pending).toEqual([]);
});

test("a sender that is denied waits no longer, and hears nothing more", async () => {
  const slack = await startSlack();
  const gateway = await openGateway({ plugins: PLUGINS, variables: slack.settings });
  await slack.connected();
  slack.say(ANN, "let me in");
  await slack.until(() => slack.answers(directOf(ANN))[0]);
  const [{ code }] = (await gateway.ask("/api/pairings")).body.requests;
  const deny = () => gateway.ask(`/api/pairings/${code}`, { method: "DELETE" });
  expect((await deny()).status).toBe(204);
  expect((await deny()).status).toBe(404);
  expect((await gateway.ask("/api/approvals")).body.pending).toEqual([]);
});

test("a message that cannot be sent is listed, sent again, or dropped", async () => {
  const slack = await startSlack();
  const model = await scriptedModel();
  model.otherwise({ text: "Here." });
  const gateway = await openGateway({ model, plugins: PLUGINS, variables: slack.settings });
  await gateway.service.service("identities").pair("slack/T0TEAM.U0ANN", "operator");
  await slack.connected();
  const dead = async () => (await gateway.ask("/api/messages?status=dead&channel=slack")).body;
  const fail = async () => {
    slack.spoil("chat.postMessage", { error: "is_archived" });
    slack.say(ANN, "hello");
    return await expect.poll(async () => (await dead()).messages[0]).toBeDefined();
  };
  await fail();
  const { messages, next } = await dead();
  expect(messages).toMatchObject([
    {
      channel: "slack",
      user: "operator",
      text: "Here.",
      status: "dead",
      message: expect.stringContaining("is_archived"),
    },
  ]);
  expect(next).toBeNull();
  const [{ id }] = messages;
  expect((await gateway.ask(`/api/messages/${id}/retry`, { method: "POST" })).status).toBe(204);
  await slack.until(() => slack.answers(directOf(ANN)).some(({ text }) => text === "Here."));
  expect((await gateway.ask(`/api/messages/${id}/retry`, { method: "POST" })).status).toBe(404);

  await fail();
  const [second] = (await dead()).messages;
  expect((await gateway.ask(`/api/messages/${second.id}`, { method: "DELETE" })).status).toBe(204);
  expect((await dead()).messages).toEqual([]);
});

test("they are for operators alone, and say so where no chat channel can be", async () => {
  const gateway = await openGateway();
  const ann = await gateway.addUser("ann");
  for (const path of ["/api/channels", "/api/messages", "/api/pairings"]) {
    expect((await gateway.ask(path, { token: ann })).status).toBe(403);
    expect(await gateway.ask(path)).toMatchObject({
      status: 503,
      body: { error: { code: "messaging_off" } },
    });
  }
});
