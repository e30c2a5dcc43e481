/** The whole way: a person in Telegram, messaging, the agent, and back, while Telegram fails. */
import { expect, test } from "vitest";
import { createCharts } from "../../../components/run-code/chart.ts";
import { sniffImage } from "../../../kernel/kit/files.ts";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import messaging from "../../../plugins/messaging/plugin.ts";
import store from "../../../plugins/store/plugin.ts";
import telegramPlugin from "../../../plugins/telegram/plugin.ts";
import telemetry from "../../../plugins/telemetry/plugin.ts";
import { BOT_TOKEN, type Shown, startTelegram } from "../../support/servers/telegram.ts";
import { scriptedModel, toolsPlugin } from "../../support/services/agent.ts";
import { agentPlugins } from "../../support/services/agent-plugins.ts";
import { bootKernel } from "../../support/services/kernel.ts";
import { afterThisTest } from "../../support/undo.ts";

async function bootTelegram(settings: object = {}, more: readonly AnyPlugin[] = []) {
  const telegram = await startTelegram();
  afterThisTest(telegram.close);
  const model = await scriptedModel();
  const plugins = [store, telemetry, ...more, ...agentPlugins, messaging, telegramPlugin];
  const kernel = await bootKernel(plugins as readonly AnyPlugin[], {
    MODEL_BASE_URL: model.url,
    MODEL_NAME: "scripted",
    TELEGRAM_API_URL: telegram.url,
    ...settings,
  });
  await kernel.service("identities").pair("telegram/42", "operator");
  return { telegram, model, kernel, ada: telegram.person(42, "Ada") };
}

test("without a token it says what to run; a stored one opens it at once, sealed and hidden", async () => {
  const { telegram, kernel, ada } = await bootTelegram();
  const detail = () => kernel.states.find(({ name }) => name === "telegram")?.detail;
  expect(detail()).toContain("postern channel add telegram");
  await kernel.service("settings").change({ TELEGRAM_BOT_TOKEN: telegram.token }, "operator");
  ada.says("hello");
  await telegram.until(() => telegram.shown.length === 1);
  expect(telegram.shown[0]?.text).toBe("ok");
  expect(detail()).toBe("@postern_test_bot");
  const listed = await kernel.service("settings").list();
  expect(listed.find(({ name }) => name === "TELEGRAM_BOT_TOKEN")).toMatchObject({
    isSecret: true,
    source: "stored",
  });
  const secret = telegram.token.split(":")[1] as string;
  expect(JSON.stringify(listed) + kernel.logged.join("")).not.toContain(secret);
});

test("whatever Telegram does to a message, it is answered: once where it says so, twice where it keeps it to itself", async () => {
  const { telegram, model, ada } = await bootTelegram({ TELEGRAM_BOT_TOKEN: BOT_TOKEN });
  model.otherwise(({ messages }) => ({ text: `You said: ${String(messages.at(-1)?.content)}` }));
  telegram.disturb({ doubled: true, reordered: true });
  const failings = [
    { status: 429, retryAfter: 0 },
    { status: 429 },
    { isCut: true },
    { status: 502, isTaken: true },
    { isCut: true, isTaken: true },
  ];
  for (const [at, failing] of failings.entries()) {
    const { length } = telegram.shown;
    telegram.fails("sendMessage", failing);
    ada.says(`message ${at}`);
    await telegram.until(() => telegram.shown.length === length + ("isTaken" in failing ? 2 : 1));
  }
  const texts = telegram.shown.map(({ text }) => /message \d/.exec(text)?.[0]);
  expect(texts).toEqual([0, 1, 2, 3, 3, 4, 4].map((at) => `message ${at}`));
});

test("Markdown arrives as Telegram's own marks, and a long answer whole, in messages that Telegram takes", async () => {
  const { telegram, model, ada } = await bootTelegram({ TELEGRAM_BOT_TOKEN: BOT_TOKEN });
  const code = Array.from({ length: 200 }, (_, at) => `const line${at} = "<&>" + ${at};`).join("\n");
  model.script({
    text: `# A *title* & more\n\n- **one** <b>\n- [two](https://example.org/?a=1&b="2")\n\n> quoted\n\n\`\`\`js\n${code}\n\`\`\`\n\nthe end`,
  });
  ada.says("show me");
  await telegram.until(() => telegram.shown.some(({ text }) => text.endsWith("the end")));
  const [first, ...more] = telegram.shown;
  expect(first?.html).toContain("<b>A <i>title</i> &amp; more</b>");
  expect(first?.text).toContain("one <b>");
  expect(more.length).toBeGreaterThan(0);
  const lines = telegram.shown
    .flatMap(({ text }) => text.split("\n"))
    .filter((line) => line.startsWith("const line"));
  expect(lines.join("\n")).toBe(code);
});

test("a chart that a turn drew is shown as a photo below its answer", async () => {
  const { telegram, model, ada } = await bootTelegram({ TELEGRAM_BOT_TOKEN: BOT_TOKEN });
  let text = "";
  createCharts(({ svg }) => {
    text = svg;
  }).bar([{ day: "Monday", visits: 3 }]);
  model.script(
    { calls: [{ name: "workspace_write", arguments: { path: "/output/visits.svg", text } }] },
    { text: "Here is the chart." },
  );
  ada.says("draw my visits");
  await telegram.until(() => telegram.shown.some(({ files }) => files.length > 0));
  expect(
    telegram.shown.map(({ text: said, files }) => [said, files.map(({ kind, name }) => [kind, name])]),
  ).toEqual([
    ["Here is the chart.", []],
    ["", [["photo", "visits.png"]]],
  ]);
  expect(sniffImage(telegram.shown[1]?.files[0]?.data ?? Buffer.alloc(0))).toBe("image/png");
});

test("a revoked token is the channel's state, until it is taken away", async () => {
  const { telegram, kernel, ada } = await bootTelegram();
  const { change } = kernel.service("settings");
  await change({ TELEGRAM_BOT_TOKEN: telegram.token }, "operator");
  ada.says("hello");
  await telegram.until(() => telegram.shown.length === 1);
  telegram.revoke();
  const state = async () =>
    (await kernel.service("messaging").channels()).find(({ name }) => name === "telegram");
  await expect
    .poll(state)
    .toMatchObject({ isConnected: false, detail: expect.stringContaining("refuses the token") });
  await change({ TELEGRAM_BOT_TOKEN: null }, "operator");
  await expect.poll(state).toMatchObject({ missing: "TELEGRAM_BOT_TOKEN is not set" });
});

test("what a delegated task asks comes to the chat with the tasks that led there, and counts once and only from the person asked", async () => {
  const mailed: unknown[] = [];
  const tools = toolsPlugin({
    mail: {
      writes: true,
      grants: ["send to mail.example"],
      run(params) {
        mailed.push(params);
        return { status: "ok", output: "sent" };
      },
    },
  });
  const settings = { TELEGRAM_BOT_TOKEN: BOT_TOKEN, JOBS_CONCURRENCY: "1" };
  const { telegram, model, kernel, ada } = await bootTelegram(settings, [tools]);
  await kernel.service("accounts").addUser("eve", "user");
  await kernel.service("identities").pair("telegram/43", "eve");
  const eve = telegram.person(43, "Eve");
  const delegate = (task: string) => ({ calls: [{ name: "task_delegate", arguments: { task } }] });
  model.otherwise(({ messages }) => {
    const said = JSON.stringify(messages);
    const isTold = messages.some(({ role }) => role === "tool");
    if (said.includes("Invite them"))
      return isTold ? { text: "All are invited." } : delegate("Write to them");
    if (said.includes("Write to them")) return isTold ? { text: "Written." } : delegate("Send the mail");
    return isTold ? { text: "Sent it." } : { calls: [{ name: "mail", arguments: { to: "bob" } }] };
  });
  ada.says("Invite them");
  await telegram.until(() => telegram.shown.some(({ text }) => text.includes("May mail run?")));
  const asked = telegram.shown.find(({ text }) => text.includes("May mail run?")) as Shown;
  expect(asked.chat).toBe(42);
  expect(asked.text).toContain("A delegated task asks this: Write to them › Send the mail");
  eve.presses(asked, "Allow once");
  await telegram.until(() =>
    telegram.shown.some(({ text }) => text.includes("Only the person who was asked")),
  );
  expect(mailed).toEqual([]);
  ada.presses(asked, "Allow once");
  ada.presses(asked, "Allow once");
  await telegram.until(() => telegram.shown.some(({ text }) => text === "All are invited."));
  await telegram.until(() => telegram.shown.some(({ text }) => text === "This was answered already."));
  await expect.poll(() => asked.text).toContain("✓ Allow once");
  expect(mailed).toEqual([{ to: "bob" }]);
  // What a task answers is for whoever delegated it.
  const said = telegram.shown.map(({ text }) => text).join("\n");
  expect(said).not.toContain("Sent it.");
  expect(said).not.toContain("Written.");
});
