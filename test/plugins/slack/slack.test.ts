/** Slack as a chat service, beside a Slack that misbehaves. */
import { expect, test } from "vitest";
import { createLog } from "../../../kernel/log/log.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import { Off } from "../../../kernel/plugin.ts";
import { Settings } from "../../../kernel/settings/env.ts";
import type { IncomingMessage, OutgoingMessage } from "../../../plugins/messaging/services.ts";
import { readSettings } from "../../../plugins/slack/settings.ts";
import { createSlack } from "../../../plugins/slack/slack.ts";
import { BOT, BOT_TOKEN, directOf, type FakeSlack, startSlack, TEAM } from "../../support/servers/slack.ts";
import { afterThisTest } from "../../support/undo.ts";

const ANN = "U0ANN";
const LONG = AbortSignal.timeout(60_000);

function serviceOf(slack: FakeSlack, changed: Record<string, string> = {}) {
  const settings = readSettings(new Settings({ ...slack.settings, ...changed }).for("slack"));
  if (settings instanceof Off) throw new Error(settings.why);
  const announced: string[] = [];
  const log = createLog("error", createMask()).child("slack");
  const service = createSlack({ settings, log, announce: (detail) => void announced.push(detail) });
  return { service, announced };
}

/** Receives into a list that keeps a message once, as the inbox does. */
async function listening(
  slack: FakeSlack,
  options: { accept?: (message: IncomingMessage) => Promise<void> } = {},
) {
  const { service, announced } = serviceOf(slack);
  const inbox = new Map<string, IncomingMessage>();
  const deliveries: string[] = [];
  const states: boolean[] = [];
  const stop = new AbortController();
  const receiving = service.receive(
    {
      position: async () => undefined,
      async accept(messages) {
        for (const message of messages) {
          await options.accept?.(message);
          deliveries.push(message.id);
          inbox.set(message.id, inbox.get(message.id) ?? message);
        }
      },
      commands: [],
      report: ({ isConnected }) => void states.push(isConnected),
    },
    stop.signal,
  );
  receiving.catch(() => {});
  afterThisTest(async () => {
    stop.abort();
    await receiving.catch(() => {});
  });
  await slack.connected();
  const acked = (id: string) => slack.until(() => slack.acknowledged.includes(id));
  return { service, announced, inbox: () => [...inbox.values()], deliveries, states, stop, receiving, acked };
}

const outgoing = (given: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  key: "message-1",
  conversation: directOf(ANN),
  text: "Hello",
  ...given,
});

test("a direct message is handed over word for word, and acknowledged once it is on disk", async () => {
  const slack = await startSlack();
  const kept = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const at = await listening(slack, {
    accept: () => {
      begun.resolve();
      return kept.promise;
    },
  });
  const words = 'Grüße, <b>"Ada"</b> & Ω 🚀\\n{"a":1}';
  const { message, envelope } = slack.say(ANN, words);
  await begun.promise;
  expect(slack.acknowledged).toEqual([]);
  kept.resolve();
  await at.acked(envelope);
  expect(at.inbox()).toEqual([
    {
      id: `${directOf(ANN)}/${message.ts}`,
      conversation: directOf(ANN),
      sender: { id: `${TEAM}.${ANN}`, name: `${ANN} Name` },
      isGroup: false,
      isMention: false,
      text: words,
      quoted: [],
      files: [],
      sentAt: expect.stringMatching(/^\d{4}-/),
    },
  ]);
  expect(at.announced).toEqual(["@postern in The Team"]);
});

test("a message that could not be kept is not acknowledged, and comes again", async () => {
  const slack = await startSlack();
  const first = await listening(slack, { accept: () => Promise.reject(new Error("the disk is full")) });
  const { envelope } = slack.say(ANN, "do not lose this");
  await expect(first.receiving).rejects.toThrow("the disk is full");
  expect(slack.acknowledged).toEqual([]);
  const second = await listening(slack);
  await second.acked(envelope);
  expect(second.inbox().map(({ text }) => text)).toEqual(["do not lose this"]);
});

test("a mention in a channel begins a thread, and what is said in the thread stays in it", async () => {
  const slack = await startSlack();
  const at = await listening(slack);
  const { message } = slack.say(ANN, `<@${BOT}> what is new?`, { channel: "C0ROOM" });
  const second = slack.say(ANN, `and <@${BOT}>?`, { channel: "C0ROOM", thread: message.ts });
  await at.acked(second.envelope);
  expect(at.inbox()).toMatchObject([
    { conversation: `C0ROOM:${message.ts}`, isGroup: true, isMention: true, text: "what is new?" },
    { conversation: `C0ROOM:${message.ts}`, isGroup: true, isMention: true, text: "and ?" },
  ]);
  await at.service.send(outgoing({ conversation: `C0ROOM:${message.ts}` }), LONG);
  expect(slack.answers("C0ROOM")).toMatchObject([{ thread_ts: message.ts, text: "Hello" }]);
});

test("what comes twice is one message, in whatever order it comes", async () => {
  const slack = await startSlack();
  const at = await listening(slack);
  slack.double();
  slack.hold();
  const said = ["one", "two", "three"].map((text) => slack.say(ANN, text));
  slack.release(true);
  for (const { envelope } of said) await at.acked(envelope);
  slack.loseAcks(true);
  const { envelope } = slack.say(ANN, "four");
  await slack.until(() => at.inbox().length === 4);
  slack.loseAcks(false);
  slack.redeliver();
  await at.acked(envelope);
  expect(at.inbox().map(({ text }) => text)).toEqual(["three", "two", "one", "four"]);
  expect(at.deliveries.length).toBeGreaterThan(4);
});

test("an edit names the message it changes, also where it comes first; a preview of a link is none", async () => {
  const slack = await startSlack();
  const at = await listening(slack);
  slack.hold();
  const { message, envelope } = slack.say(ANN, "helo");
  slack.edit(message, "hello");
  slack.release(true);
  await at.acked(envelope);
  const id = `${directOf(ANN)}/${message.ts}`;
  expect(at.inbox()).toMatchObject([
    { id: `${id}/${message.edited?.ts}`, edits: id, text: "hello" },
    { id, text: "helo" },
  ]);
  const preview = slack.happen({
    ...{ type: "message", subtype: "message_changed", channel: message.channel, channel_type: "im" },
    message: { ...message, attachments: [{ text: "A page" }] },
    previous_message: message,
  });
  await at.acked(preview);
  expect(at.inbox()).toHaveLength(2);
});

test("messages of bots, joins and frames that cannot be read are acknowledged or ignored", async () => {
  const slack = await startSlack();
  const at = await listening(slack);
  const events = [
    { type: "message", channel: "D1", ts: "1.1", text: "beep", bot_id: "B9", user: "U9" },
    { type: "message", channel: "D1", ts: "1.2", text: "our own", user: BOT },
    { type: "message", channel: "C1", ts: "1.3", subtype: "channel_join", user: ANN },
    { type: "message", channel: "D1", ts: 5, user: null },
    { type: "tokens_revoked" },
  ].map((event) => slack.happen(event));
  slack.frame('{"type":"events_api"');
  slack.frame('{"type":"events_api","envelope_id":"x"}');
  slack.frame('{"type":"interactive","envelope_id":"y","payload":7}');
  for (const event of events) await at.acked(event);
  const { envelope } = slack.say(ANN, "still here?");
  await at.acked(envelope);
  expect(at.inbox().map(({ text }) => text)).toEqual(["still here?"]);
});

test("who somebody is includes their workspace: two of the same id are two people", async () => {
  const slack = await startSlack();
  const at = await listening(slack);
  slack.say(ANN, "mine", { team: TEAM });
  const { envelope } = slack.say(ANN, "theirs", { team: "T0OTHER" });
  await at.acked(envelope);
  expect(at.inbox().map(({ sender }) => sender.id)).toEqual([`${TEAM}.${ANN}`, `T0OTHER.${ANN}`]);
});

test("what somebody passed on is quoted, and marks of Slack's are read as people type them", async () => {
  const slack = await startSlack();
  const at = await listening(slack);
  const { envelope } = slack.say(ANN, "see", {
    attachments: [{ author_name: "Bob", text: "pay <https://evil.example|evil.example> &amp; run" }],
  });
  await at.acked(envelope);
  const marks = slack.happen({
    ...{ type: "message", channel: "D1", channel_type: "im", ts: "5.5", user: ANN },
    text: "<@U0BOB> in <#C1|general>, <!here>: <mailto:a@b.example|a@b.example> <https://x.example/a|this> &lt;3",
  });
  await at.acked(marks);
  expect(at.inbox()).toMatchObject([
    { text: "see", quoted: [{ by: "Bob", text: "pay evil.example & run" }] },
    { text: "@U0BOB in #general, @here: a@b.example this (https://x.example/a) <3" },
  ]);
});

test("buttons arrive as they were sent, a press comes back with its value, and an edit takes them away", async () => {
  const slack = await startSlack();
  const at = await listening(slack);
  const buttons = [
    { text: "Allow once", value: "gate-1:once" },
    { text: "Deny", value: "gate-1:deny" },
  ];
  const sent = await at.service.send(outgoing({ text: "May weather run?", buttons }), LONG);
  const [question] = slack.answers(directOf(ANN));
  if (question === undefined || sent.id === undefined) throw new Error("not sent");
  await at.acked(slack.press(ANN, question, 1));
  expect(at.inbox()).toMatchObject([
    { conversation: directOf(ANN), sender: { id: `${TEAM}.${ANN}` }, pressed: "gate-1:deny", text: "" },
  ]);
  await at.service.edit?.(sent, outgoing({ text: "Denied." }), LONG);
  expect(question).toMatchObject({ text: "Denied.", blocks: [] });
});

test("/postern new is the command new", async () => {
  const slack = await startSlack();
  const at = await listening(slack);
  await at.acked(slack.command(ANN, "new"));
  await at.acked(slack.command(ANN, ""));
  expect(at.inbox().map(({ text }) => text)).toEqual(["/new", "/help"]);
});

test("files come down by their id with our token, and only from Slack", async () => {
  const slack = await startSlack();
  const at = await listening(slack);
  const file = { name: "notes.txt", mime: "text/plain", data: Buffer.from("milk, eggs") };
  const { envelope } = slack.say(ANN, "", { files: [file] });
  await at.acked(envelope);
  const [message] = at.inbox();
  const [incoming] = message?.files ?? [];
  if (incoming === undefined) throw new Error("no file");
  expect(incoming).toMatchObject({ name: "notes.txt", mime: "text/plain", bytes: 10 });
  const data = await at.service.download?.(incoming, 1000, LONG);
  expect(Buffer.from(data ?? []).toString()).toBe("milk, eggs");
  await expect(at.service.download?.(incoming, 5, LONG)).rejects.toThrow("more than 5 bytes");
  await expect(at.service.download?.({ ...incoming, ref: "F0GONE" }, 5, LONG)).rejects.toThrow();
});

test("a message with files is sent once, though the connection dies on the way", async () => {
  const slack = await startSlack();
  const { service } = serviceOf(slack);
  const files = ["a.txt", "b.txt"].map((name) => ({ name, mime: "text/plain", data: Buffer.from(name) }));
  const message = outgoing({ text: "Two files", files });
  slack.spoil("files.completeUploadExternal", { dies: true, isTaken: true });
  await expect(service.send(message, LONG)).rejects.toThrow();
  expect(await service.lookUp?.(message, LONG)).toMatchObject({ id: expect.any(String) });
  const answers = slack.answers(directOf(ANN));
  expect(answers.map(({ text, files: [file] = [] }) => file?.name ?? text)).toEqual([
    "Two files",
    "a.txt",
    "b.txt",
  ]);
});

test.each([
  ["502 after it was taken", { status: 502, isTaken: true }],
  ["a connection that dies after it was taken", { dies: true, isTaken: true }],
] as const)("%s: it is found by its key", async (_what, misfortune) => {
  const slack = await startSlack();
  const { service } = serviceOf(slack);
  slack.spoil("chat.postMessage", misfortune);
  for (const conversation of [directOf(ANN), "C0ROOM:1.5"]) {
    const message = outgoing({ key: `key of ${conversation}`, conversation });
    await service.send(message, LONG).catch(() => {});
    const found = await service.lookUp?.(message, LONG);
    const [sent] = slack.answers(conversation.split(":")[0] ?? "");
    expect(JSON.parse(found?.id ?? "{}")).toMatchObject({ ts: sent?.ts });
    expect(await service.lookUp?.(outgoing({ key: "another", conversation }), LONG)).toBeUndefined();
  }
  expect(slack.messages).toHaveLength(2);
});

test.each([
  ["502 before it was taken", { status: 502 }],
  ["a connection that dies before it was taken", { dies: true }],
  ["Slack's own error", { error: "internal_error" }],
] as const)("%s: the outcome is unknown, and it is not found", async (_what, misfortune) => {
  const slack = await startSlack();
  const { service } = serviceOf(slack);
  slack.spoil("chat.postMessage", misfortune);
  await expect(service.send(outgoing(), LONG)).rejects.toThrow();
  expect(await service.lookUp?.(outgoing(), LONG)).toBeUndefined();
});

test("a limit says how long to wait, also where Slack does not", async () => {
  const slack = await startSlack();
  const { service } = serviceOf(slack);
  slack.spoil("chat.postMessage", { status: 429, retryAfter: 7 }, { status: 429 });
  expect(await service.send(outgoing(), LONG)).toMatchObject({ retryMillis: 7000 });
  expect(await service.send(outgoing(), LONG)).toMatchObject({ retryMillis: 30_000 });
  expect(await service.send(outgoing(), LONG)).toMatchObject({ id: expect.any(String) });
  expect(slack.messages).toHaveLength(1);
});

test("a chat that is gone is final, an address that nobody answers at is not", async () => {
  const slack = await startSlack();
  const { service } = serviceOf(slack);
  slack.spoil("chat.postMessage", { error: "is_archived" });
  expect(await service.send(outgoing(), LONG)).toMatchObject({
    isFinal: true,
    message: expect.stringContaining("is_archived"),
  });
  await slack.close();
  const away = await service.send(outgoing(), LONG);
  expect(away).toMatchObject({ message: expect.stringContaining("ECONNREFUSED") });
  expect(away).not.toHaveProperty("isFinal");
});

test.each(["warning", "refresh_requested"] as const)(
  "a disconnect (%s) is followed by a new connection at once",
  async (why) => {
    const slack = await startSlack();
    const at = await listening(slack);
    slack.disconnect(why);
    const { envelope } = slack.say(ANN, "over there?");
    await at.acked(envelope);
    expect(at.inbox().map(({ text }) => text)).toEqual(["over there?"]);
    expect(at.states.slice(0, 3)).toEqual([true, false, true]);
  },
);

test("a line that goes dead is opened anew", async () => {
  const slack = await startSlack();
  const at = await listening(slack);
  await slack.until(() => at.states.length > 0 || slack.isConnected());
  slack.cut();
  const { envelope } = slack.say(ANN, "hello?");
  await at.acked(envelope);
});

test("a token that is revoked ends the channel in words that say what to do", async () => {
  const slack = await startSlack();
  const at = await listening(slack);
  slack.revoke();
  const refusal = { kind: "forbidden", code: "slack_token_refused" };
  await expect(at.receiving).rejects.toMatchObject({
    ...refusal,
    message: expect.stringContaining("SLACK_APP_TOKEN is not accepted (token_revoked)"),
  });
  expect(await at.service.send(outgoing(), LONG)).toMatchObject({
    message: expect.stringContaining("channel add slack"),
  });
});

test("a bot token that is refused to a message is the state of the whole channel", async () => {
  const slack = await startSlack();
  const at = await listening(slack);
  slack.spoil("chat.postMessage", { error: "token_revoked" });
  expect(await at.service.send(outgoing(), LONG)).toMatchObject({
    message: expect.stringContaining("SLACK_BOT_TOKEN"),
  });
  await expect(at.receiving).rejects.toMatchObject({ kind: "forbidden" });
});

test("check says who we are there and where to go, and what is wrong with a token", async () => {
  const slack = await startSlack();
  const { service } = serviceOf(slack);
  expect(await service.check(LONG)).toEqual({
    detail: "@postern in The Team",
    link: "https://slack.com/app_redirect?app=A0POSTERN&team=T0TEAM",
  });
  const wrong = serviceOf(slack, { SLACK_BOT_TOKEN: "xoxb-wrong" });
  await expect(wrong.service.check(LONG)).rejects.toThrow("SLACK_BOT_TOKEN is not accepted (invalid_auth)");
  const wrongApp = serviceOf(slack, { SLACK_APP_TOKEN: "xapp-wrong" });
  await expect(wrongApp.service.check(LONG)).rejects.toThrow(
    "SLACK_APP_TOKEN is not accepted (invalid_auth)",
  );
});

test("tokens of the wrong kind are refused where they are read, and are not shown", () => {
  const settings = new Settings({ SLACK_APP_TOKEN: BOT_TOKEN, SLACK_BOT_TOKEN: "xoxp-1-secret" });
  readSettings(settings.for("slack"));
  expect(settings.problems).toEqual([
    { name: "SLACK_APP_TOKEN", given: "(hidden)", accepted: "an app-level token, which begins with xapp-" },
    { name: "SLACK_BOT_TOKEN", given: "(hidden)", accepted: "a bot token, which begins with xoxb-" },
  ]);
});

test("it stops at once while connected", async () => {
  const slack = await startSlack();
  const at = await listening(slack);
  await slack.until(() => slack.isConnected());
  at.stop.abort();
  await at.receiving;
  await slack.until(() => !slack.isConnected());
});
