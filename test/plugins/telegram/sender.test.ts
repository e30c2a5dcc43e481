/** What is said to people in Telegram, and how sending fails. */
import { expect, test } from "vitest";
import type { OutgoingMessage } from "../../../plugins/messaging/services.ts";
import { freePort } from "../../support/servers/port.ts";
import type { Failing } from "../../support/servers/telegram.ts";
import { telegramUnderTest } from "../../support/services/telegram.ts";

const HELLO: OutgoingMessage = { key: "k-0", conversation: "42", text: "Hello, <b>Ada</b> &amp; all" };
const PICTURE = { name: "map.png", mime: "image/png", data: Buffer.from("a picture") };
const NOTES = { name: 'my "notes"; v2.txt', mime: "text/plain", data: Buffer.from("some notes") };

async function sending() {
  const under = await telegramUnderTest();
  under.telegram.person(42, "Ada");
  const send = (over: Partial<OutgoingMessage> = {}) =>
    under.service.send({ ...HELLO, ...over }, under.signal);
  return { ...under, send };
}

test("a text goes as HTML, without a preview that would fetch its links", async () => {
  const { send, telegram } = await sending();
  expect(await send()).toEqual({ id: '{"chat":42,"message":1}' });
  expect(telegram.shown).toMatchObject([{ chat: 42, text: "Hello, Ada & all", buttons: [] }]);
  expect(telegram.calls.at(-1)?.payload).toMatchObject({ link_preview_options: { is_disabled: true } });
});

test("in a group it replies to the question, in its topic, and what follows does not", async () => {
  const { send, telegram } = await sending();
  telegram.group(-200, "forum");
  const place = { conversation: "-200:7", reply: { message: 5 } };
  await send(place);
  await send({ ...place, isContinued: true });
  expect(telegram.shown.map(({ chat, topic, replyTo }) => [chat, topic, replyTo])).toEqual([
    [-200, 7, 5],
    [-200, 7, undefined],
  ]);
});

test("buttons share a row while they fit", async () => {
  const { send, telegram } = await sending();
  const button = (text: string) => ({ text, value: `g1:${text}`.slice(0, 64) });
  await send({ buttons: [button("Allow once"), button("Always"), button("Deny")] });
  await send({ buttons: [button("Allow it for the rest of this conversation"), button("Deny")] });
  const rows = telegram.calls
    .filter(({ method }) => method === "sendMessage")
    .map(({ payload }) => (payload["reply_markup"] as { inline_keyboard: unknown[][] }).inline_keyboard);
  expect(rows.map((keyboard) => keyboard.map((row) => row.length))).toEqual([[3], [1, 1]]);
  expect(telegram.shown[0]?.buttons[2]).toEqual({ text: "Deny", data: "g1:Deny" });
});

test("a picture is shown as one, another file is a document, and the words stand below it", async () => {
  const { send, telegram } = await sending();
  await send({ files: [PICTURE] });
  await send({ files: [NOTES], text: "" });
  expect(telegram.shown.map(({ text, files }) => [text, files])).toEqual([
    ["Hello, Ada & all", [{ kind: "photo", name: "map.png", data: PICTURE.data }]],
    ["", [{ kind: "document", name: "my _notes__ v2.txt", data: NOTES.data }]],
  ]);
});

test("several files go in one request, and long words before them", async () => {
  const { send, telegram } = await sending();
  await send({ files: [NOTES, PICTURE], text: "word ".repeat(300) });
  expect(telegram.calls.map(({ method }) => method)).toEqual(["sendMessage", "sendMediaGroup"]);
  expect(telegram.shown.map(({ files }) => files.map(({ kind }) => kind))).toEqual([
    [],
    ["document"],
    ["document"],
  ]);
});

test("where the second of two requests fails, the next try does not repeat the first", async () => {
  const { send, telegram } = await sending();
  const long = { key: "k-7", files: [NOTES], text: "word ".repeat(300) };
  telegram.fails("sendDocument", { status: 429, retryAfter: 3 });
  expect(await send(long)).toEqual({ message: "Telegram asks to send more slowly.", retryMillis: 3000 });
  expect(await send(long)).toEqual({ id: '{"chat":42,"message":1}' });
  expect(telegram.shown.map(({ files }) => files.length)).toEqual([0, 1]);
});

test("an edit replaces words and buttons, and one that changes nothing is done", async () => {
  const { send, service, signal, telegram } = await sending();
  const [text, caption] = [
    await send({ buttons: [{ text: "Allow", value: "a" }] }),
    await send({ files: [PICTURE] }),
  ];
  if (text.id === undefined || caption.id === undefined) throw new Error("not sent");
  for (const sent of [text, caption])
    for (let time = 0; time < 2; time++)
      await service.edit?.(sent, { ...HELLO, text: "<i>Allowed.</i>" }, signal);
  expect(telegram.shown.map(({ text: shown, buttons, edits }) => [shown, buttons.length, edits])).toEqual([
    ["Allowed.", 0, 1],
    ["Allowed.", 0, 1],
  ]);
  telegram.fails("editMessageText", { status: 429, retryAfter: 3 });
  await expect(service.edit?.(text, HELLO, signal)).rejects.toThrow(/429/);
});

test("that an answer is written is shown in its topic", async () => {
  const { service, signal, telegram } = await sending();
  telegram.group(-200, "forum");
  await service.showTyping?.("-200:7", signal);
  expect(telegram.calls.at(-1)).toEqual({
    method: "sendChatAction",
    payload: { chat_id: -200, action: "typing", message_thread_id: 7 },
  });
});

test.each<[string, Failing, object]>([
  ["a limit with a time", { status: 429, retryAfter: 7 }, { retryMillis: 7000 }],
  ["a limit without a time", { status: 429 }, { message: "Telegram asks to send more slowly." }],
  [
    "a refusal",
    { status: 400, description: "Bad Request: TOPIC_CLOSED" },
    { isFinal: true, message: "Telegram refused it: Bad Request: TOPIC_CLOSED" },
  ],
  [
    "a revoked token, which another can replace",
    { status: 401, description: "Unauthorized" },
    { message: expect.stringContaining("refuses the token") },
  ],
])("%s was certainly not sent", async (_, failing, outcome) => {
  const { send, telegram } = await sending();
  telegram.fails("sendMessage", failing);
  const told = await send();
  expect(told).toMatchObject(outcome);
  expect(told.id).toBeUndefined();
  expect("retryMillis" in told).toBe("retryMillis" in outcome);
  expect("isFinal" in told).toBe("isFinal" in outcome);
});

test.each<[string, Failing]>([
  ["a proxy's failure after the message was taken", { status: 502, isTaken: true }],
  ["a connection that dies before the answer", { isCut: true, isTaken: true }],
  ["a connection that dies before the message was taken", { isCut: true }],
])("%s leaves it unknown", async (_, failing) => {
  const { send, telegram } = await sending();
  telegram.fails("sendMessage", failing);
  await expect(send()).rejects.toMatchObject({ code: "telegram_unreachable" });
  expect(telegram.shown.length).toBe(failing.isTaken ? 1 : 0);
});

test("nobody there, a person who blocked the bot, a chat that is gone: not sent, the last two for good", async () => {
  const { send, telegram } = await sending();
  telegram.blockedBy(42);
  expect(await send()).toMatchObject({ isFinal: true, message: expect.stringContaining("blocked") });
  expect(await send({ conversation: "77" })).toMatchObject({ isFinal: true });
  const apiUrl = `http://127.0.0.1:${await freePort()}`;
  const away = await telegramUnderTest({ apiUrl });
  const told = await away.service.send(HELLO, away.signal);
  expect(told).toEqual({ message: expect.stringContaining("ECONNREFUSED") });
});

test("a group that became a supergroup is followed", async () => {
  const { send, telegram } = await sending();
  telegram.group(-1001);
  telegram.fails("sendMessage", {
    status: 400,
    description: "Bad Request: group chat was upgraded to a supergroup chat",
    movedTo: -1001,
  });
  expect(await send()).toEqual({ id: '{"chat":-1001,"message":1}' });
});

test("a stop ends what is being sent", async () => {
  const { telegram, service } = await sending();
  telegram.fails("sendMessage", { isStalled: true });
  const stop = new AbortController();
  const sent = service.send(HELLO, stop.signal);
  await telegram.until(() => telegram.calls.length === 1);
  stop.abort();
  await expect(sent).rejects.toThrow();
});

test("nothing that is said of a failure has the token in it", async () => {
  const { send, telegram, service, signal, logged } = await sending();
  const said: string[] = [];
  for (const failing of [{ isCut: true }, { status: 502 }, { status: 400 }, { status: 401 }]) {
    telegram.fails("sendMessage", failing);
    said.push(
      JSON.stringify(await send().catch((error: Error) => [error.message, error.stack, String(error.cause)])),
    );
  }
  telegram.revoke();
  said.push(await service.check(signal).then(String, (error: Error) => `${error.message} ${error.stack}`));
  expect(`${said} ${logged}`).not.toContain(telegram.token.split(":")[1]);
});
