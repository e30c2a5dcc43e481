/** `postern channel` and `postern messages`, beside a service that runs and follows them. */
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { postern, startPostern } from "../../support/processes/postern.ts";
import { posternInTerminal } from "../../support/processes/terminal.ts";
import { APP_TOKEN, BOT_TOKEN, directOf, startSlack } from "../../support/servers/slack.ts";
import { startTelegram } from "../../support/servers/telegram.ts";

const ANN = "U0ANN";

test("a channel is set up, lets somebody in and is removed, while the service runs", async () => {
  const slack = await startSlack();
  const env = {
    POSTERN_HOME: temporaryFolder(),
    SLACK_API_URL: slack.url,
    GATEWAY_PORT: "0",
    MODEL_PROVIDER: "builtin",
    MEMORY_VECTORS: "false",
  };
  const run = (words: string, input?: string) =>
    postern(words.split(" "), { env, ...(input !== undefined && { input }) });
  const channels = async () => JSON.parse((await run("channel list --json")).stdout).channels;
  const service = startPostern(["serve"], { env });
  await service.printed("ready in");
  expect(service.stdout()).toContain('SLACK_APP_TOKEN is not set: run "postern channel add slack"');

  const lines = (bot: string) => `SLACK_APP_TOKEN=${APP_TOKEN}\nSLACK_BOT_TOKEN=${bot}\n`;
  expect(await run("channel add slack", lines(BOT_TOKEN))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--stdin"),
  });
  expect(await run("channel add nothing --stdin", "A=b")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("slack"),
  });
  const strange = await run("channel add slack --stdin", "SLACK_TOKEN=very-secret");
  expect(strange).toMatchObject({ code: 2, stderr: expect.not.stringContaining("very-secret") });
  const wrong = await run("channel add slack --stdin", lines("xoxb-wrong-and-secret"));
  expect(wrong).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("SLACK_BOT_TOKEN is not accepted"),
  });
  expect(wrong.stderr).not.toContain("xoxb-wrong-and-secret");
  expect((await channels()).find(({ name }: { name: string }) => name === "slack").missing).not.toBeNull();

  const added = await run("channel add slack --stdin", lines(BOT_TOKEN));
  expect(added.stdout).toContain("Open: https://slack.com/app_redirect?app=A0POSTERN&team=T0TEAM");
  expect(added.stdout).toContain("The running service opens Slack now.");
  await slack.connected();
  expect((await run("channel test slack")).stdout).toContain("@postern in The Team");
  const inColour = await postern(["channel", "list"], { env: { ...env, FORCE_COLOR: "1" } });
  expect(inColour.stdout).toContain("\u001b[32mconnected");
  expect((await run("channel list")).stdout).not.toContain("\u001b");
  expect((await run("config")).stdout).not.toContain(BOT_TOKEN);

  slack.say(ANN, "let me in");
  const told = await slack.until(() => slack.answers(directOf(ANN))[0]);
  const { requests } = JSON.parse((await run("channel requests --json")).stdout);
  expect(requests).toMatchObject([{ identity: "slack/T0TEAM.U0ANN", text: "let me in" }]);
  expect(told.text).toContain(requests[0].code);
  expect((await run(`channel pair ${requests[0].code} operator`)).stdout).toContain(
    "Paired slack/T0TEAM.U0ANN",
  );
  slack.spoil("chat.postMessage", ...Array.from({ length: 3 }, () => ({ error: "is_archived" })));
  await slack.until(() => slack.calls.filter(({ method }) => method === "chat.postMessage").length >= 3);
  await expect
    .poll(async () => JSON.parse((await run("messages list --status dead --json")).stdout).messages.length)
    .toBeGreaterThan(0);
  const [dead] = JSON.parse((await run("messages list --json")).stdout).messages;
  expect((await run(`messages drop ${dead.id.slice(0, 18)}`)).stdout).toBe("1 message is dropped.\n");
  expect(await run("messages retry 0000000000")).toMatchObject({ code: 1 });

  expect((await run("channel remove slack")).stdout).toBe("Slack is removed.\n");
  await slack.until(() => !slack.isConnected());
  service.kill("SIGTERM");
  expect(await service.ended).toBe(0);
});

test("a mistyped token is asked for again, and nothing of it is kept", async () => {
  const telegram = await startTelegram();
  onTestFinished(telegram.close);
  const cwd = temporaryFolder();
  const env = { POSTERN_HOME: cwd, TELEGRAM_API_URL: telegram.url, MEMORY_VECTORS: "false" };
  const typed = posternInTerminal(["channel", "add", "telegram"], { env, cwd });
  const wrong = `1:${"x".repeat(35)}`;
  const answer = async (token: string) => {
    typed.type(token);
    await typed.shows("▪".repeat(token.length));
    typed.type("\r");
  };
  await typed.shows("Token of the Telegram bot");
  await answer(wrong);
  await typed.shows("Try again, or stop with Ctrl+C.");
  expect((await postern(["config", "get", "TELEGRAM_BOT_TOKEN"], { env })).code).toBe(1);
  await answer(telegram.token);
  await typed.shows("telegram: @");
  expect(await typed.ended).toBe(0);
  expect(typed.text()).not.toContain(wrong);
  expect((await postern(["config", "get", "TELEGRAM_BOT_TOKEN"], { env })).stdout).toBe("(set, hidden)\n");
});
