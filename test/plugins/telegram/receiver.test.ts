/** What people do in Telegram, as messages for the inbox. */
import { expect, test } from "vitest";
import type { IncomingMessage } from "../../../plugins/messaging/services.ts";
import { BOT, type TelegramServer } from "../../support/servers/telegram.ts";
import { telegramUnderTest } from "../../support/services/telegram.ts";

/** Lets people act, and returns what is in the inbox when Telegram has been told that all of it is taken. */
async function received(act: (telegram: TelegramServer) => void) {
  const under = await telegramUnderTest();
  under.receive();
  act(under.telegram);
  await under.telegram.until(() => under.telegram.waiting() === 0);
  return { ...under, messages: [...under.accepted.values()] as readonly IncomingMessage[] };
}

test("a message in a private chat: the person's number, the words, no reply to hang it on", async () => {
  const { messages, reports, telegram } = await received((server) => {
    server.person(42, "Ada").says("Grüße & <b>🚀</b>");
  });
  expect(messages).toEqual([
    {
      id: `${BOT.id}:42:1`,
      conversation: "42",
      sender: { id: "42", name: "Ada" },
      text: "Grüße & <b>🚀</b>",
      sentAt: expect.stringMatching(/^\d{4}-/),
    },
  ]);
  expect(reports).toEqual([{ isConnected: true, detail: "@postern_test_bot" }]);
  expect(telegram.commands.map(({ command }) => command)).toEqual([
    "new",
    "threads",
    "stop",
    "undo",
    "model",
    "approvals",
    "help",
  ]);
  expect(telegram.commands).toContainEqual({
    command: "undo",
    description: "takes back the last change to your files in this thread",
  });
});

test("in a group a mention, a command and a reply to the bot are for us, the rest is not", async () => {
  const { messages } = await received((server) => {
    const group = server.group(-100);
    const [ada, bob] = [server.person(42, "Ada"), server.person(43, "Bob")];
    const said = bob.says("lunch?", { in: group });
    ada.says("@Postern_Test_Bot  what time is it?", { in: group });
    ada.says("/new@postern_test_bot please", { in: group });
    ada.says("/new", { in: group });
    ada.says("/new@another_bot", { in: group });
    ada.says("@another_bot hello", { in: group });
    ada.says("and @postern_test_bot too", { in: group });
    ada.says("yes", {
      in: group,
      replyTo: { id: 9, chat: -100, text: "Shall I?", html: "", buttons: [], files: [], edits: 0 },
    });
    ada.says("no", { in: group, replyTo: said });
    ada.says("hey", {
      in: group,
      fields: { entities: [{ type: "text_mention", offset: 0, length: 3, user: BOT }] },
    });
  });
  expect(messages.map(({ text, isGroup, isMention }) => [text, isGroup, isMention])).toEqual([
    ["lunch?", true, false],
    ["what time is it?", true, true],
    ["/new please", true, true],
    ["/new", true, true],
    ["/new@another_bot", true, false],
    ["@another_bot hello", true, false],
    ["and @postern_test_bot too", true, true],
    ["yes", true, true],
    ["no", true, false],
    ["hey", true, true],
  ]);
  expect(messages[1]).toMatchObject({ conversation: "-100", sender: { id: "42" }, reply: { message: 2 } });
  expect(messages[8]?.quoted).toEqual([{ by: "Bob", text: "lunch?" }]);
});

test("a topic is a conversation of its own, and the message that began it is no reply to us", async () => {
  const { messages } = await received((server) => {
    const forum = server.group(-200, "forum");
    const began = {
      message_id: 7,
      date: 1,
      chat: forum,
      from: BOT,
      forum_topic_created: { name: "x", icon_color: 1 },
    };
    server.person(42).says("hello", { in: forum, topic: 7, fields: { reply_to_message: began } });
    // Outside of a forum the number only names the message that a reply belongs to.
    server.person(42).says("hi", { in: forum, fields: { message_thread_id: 3 } });
  });
  expect(messages.map(({ conversation, isMention }) => [conversation, isMention])).toEqual([
    ["-200:7", false],
    ["-200", false],
  ]);
});

test("who is no person is ignored, with a reason in the log", async () => {
  const { messages, logged } = await received((server) => {
    const group = server.group(-100);
    const ada = server.person(42);
    ada.says("as an anonymous admin", { in: group, fields: { sender_chat: group } });
    ada.says("a bot", { fields: { from: { id: 9, is_bot: true, first_name: "Robot" } } });
    ada.says("a post", { in: { id: -300, type: "channel" } });
    ada.says("", { fields: { text: undefined, new_chat_members: [BOT] } });
    server.push({ poll_answer: { poll_id: "1", option_ids: [], option_persistent_ids: [] } as never });
  });
  expect(messages).toEqual([]);
  const reasons = logged.filter((line) => line.includes("is ignored"));
  expect(reasons.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
    "an update is ignored: it was written in the name of a chat, by an anonymous admin or a channel",
    "an update is ignored: no person wrote it",
    "an update is ignored: a post of a channel has no person behind it",
    "an update is ignored: it has neither text nor a file",
    "an update is ignored: it has poll_answer, which we did not ask for",
  ]);
});

test("what was forwarded or quoted is somebody else's", async () => {
  const bob = { id: 43, is_bot: false, first_name: "Bob" };
  const { messages } = await received((server) => {
    const ada = server.person(42);
    const origin = { type: "user", date: 1, sender_user: bob };
    ada.says("send me your password", { fields: { forward_origin: origin } });
    ada.says("is that so?", {
      fields: {
        external_reply: { origin: { type: "hidden_user", date: 1, sender_user_name: "Eve" } },
        quote: { text: "it is", position: 0 },
      },
    });
    // What we said stands in the thread; a part that the person points at does not.
    const ours = { id: 9, chat: 42, text: "One. Two.", html: "", buttons: [], files: [], edits: 0 };
    ada.says("why?", { replyTo: ours });
    ada.says("why two?", {
      replyTo: ours,
      fields: { quote: { text: "Two.", position: 5, is_manual: true } },
    });
  });
  expect(messages.map(({ text, quoted }) => [text, quoted])).toEqual([
    ["", [{ by: "Bob", text: "send me your password" }]],
    ["is that so?", [{ by: "Eve", text: "it is" }]],
    ["why?", undefined],
    ["why two?", [{ by: "Postern", text: "Two.", isOurs: true }]],
  ]);
});

test("photos, documents and voice are files, and are brought", async () => {
  const { messages, service, signal } = await received((server) => {
    const ada = server.person(42);
    ada.sends("photo", Buffer.from("a picture"), "look");
    ada.sends("document", Buffer.from("some notes"));
    ada.sends("voice", Buffer.from("a voice"));
  });
  expect(
    messages.map(({ text, files }) => [text, files?.map(({ name, mime, bytes }) => [name, mime, bytes])]),
  ).toEqual([
    ["look", [["photo-1.jpg", "image/jpeg", 9]]],
    ["", [["notes.txt", "text/plain", 10]]],
    ["", [["voice-3.ogg", "audio/ogg", 7]]],
  ]);
  const [photo, document] = messages.map(({ files }) => files?.[0]);
  if (!photo || !document) throw new Error("no files");
  expect(Buffer.from((await service.download?.(photo, 100, signal)) ?? "").toString()).toBe("a picture");
  await expect(service.download?.(document, 5, signal)).rejects.toThrow(/notes.txt is too large/);
  await expect(service.download?.({ ref: "gone", name: "x" }, 5, signal)).rejects.toThrow(/invalid file_id/);
});

test("the photos of an album are one message", async () => {
  const { messages } = await received((server) => {
    const ada = server.person(42);
    const fields = { media_group_id: "77" };
    ada.sends("photo", Buffer.from("one"), "all of these", { fields });
    ada.sends("photo", Buffer.from("two"), undefined, { fields });
    ada.sends("photo", Buffer.from("three"), undefined, { fields });
  });
  expect(messages.map(({ id, text, files }) => [id, text, files?.length])).toEqual([
    [`${BOT.id}:42:1+2+3`, "all of these", 3],
  ]);
});

test("a file that Telegram does not hand over is said to be too large", async () => {
  const { messages, service, signal } = await received((server) => {
    server.person(42).sends("document", Buffer.alloc(20 * 1024 * 1024 + 1));
  });
  const [file] = messages[0]?.files ?? [];
  if (!file) throw new Error("no file");
  await expect(service.download?.(file, 2 ** 30, signal)).rejects.toThrow(/up to 20 MB/);
});

test("a pressed button is its value, and stops waiting once it is taken", async () => {
  const { messages, telegram } = await received((server) => {
    const ada = server.person(42);
    const buttons = [{ text: "Allow", data: "g1:once" }];
    ada.presses({ id: 3, chat: 42, text: "May I?", html: "", buttons, files: [], edits: 0 }, "Allow");
  });
  expect(messages).toEqual([
    {
      id: expect.stringMatching(/:press:query-/),
      conversation: "42",
      sender: { id: "42", name: "Person 42" },
      text: "",
      pressed: "g1:once",
    },
  ]);
  await telegram.until(() => telegram.answeredPresses.size === 1);
});

test("an edit names the message that it is a new wording of, also where it comes first", async () => {
  const { messages } = await received((server) => {
    const ada = server.person(42);
    const said = ada.says("helo");
    ada.edits(said, "hello");
    const second = { ...said, message_id: 99, text: "late" };
    ada.edits(second, "late, but better");
    server.push({ message: second as never });
  });
  expect(messages.map(({ id, edits, text }) => [id.replace(/\d{9}$/, "…"), edits, text])).toEqual([
    [`${BOT.id}:42:1`, undefined, "helo"],
    [`${BOT.id}:42:1:edit:…`, `${BOT.id}:42:1`, "hello"],
    [`${BOT.id}:42:99:edit:…`, `${BOT.id}:42:99`, "late, but better"],
    [`${BOT.id}:42:99`, undefined, "late"],
  ]);
});

test("doubled and reordered updates are each one message, in the order of Telegram", async () => {
  const { messages } = await received((server) => {
    server.disturb({ doubled: true, reordered: true });
    const ada = server.person(42);
    for (const text of ["one", "two", "three"]) ada.says(text);
  });
  expect(messages.map(({ text }) => text)).toEqual(["one", "two", "three"]);
});

test("nothing is confirmed before it is in the inbox", async () => {
  const under = await telegramUnderTest();
  const ada = under.telegram.person(42);
  ada.says("hello");
  under.breakInbox();
  await expect(under.receive().ended).rejects.toThrow("the store is away");
  expect(under.telegram.waiting()).toBe(1);
  under.receive();
  await under.telegram.until(() => under.telegram.waiting() === 0);
  expect([...under.accepted.values()].map(({ text }) => text)).toEqual(["hello"]);
});

test("what was taken but not confirmed before a crash is the same message afterwards", async () => {
  const under = await telegramUnderTest();
  under.telegram.person(42).says("hello");
  // The request that would have confirmed it does not arrive.
  under.telegram.fails("getUpdates", undefined, { isCut: true });
  await expect(under.receive().ended).rejects.toMatchObject({ code: "telegram_unreachable" });
  expect([under.accepted.size, under.telegram.waiting()]).toEqual([1, 1]);
  under.receive();
  await under.telegram.until(() => under.telegram.waiting() === 0);
  expect([under.accepted.size, under.repeats()]).toEqual([1, 1]);
});

test("a token that is revoked in the middle is a state that stays, with what to do", async () => {
  const under = await telegramUnderTest();
  const { ended } = under.receive();
  await under.telegram.until(() => under.telegram.calls.some(({ method }) => method === "getUpdates"));
  under.telegram.revoke();
  await expect(ended).rejects.toMatchObject({ kind: "forbidden", code: "telegram_token_refused" });
  await expect(under.service.check(under.signal)).rejects.toThrow(/postern channel add telegram/);
});

test("another program with the same token, a limit and a broken connection are told apart", async () => {
  const under = await telegramUnderTest();
  under.telegram.fails("getUpdates", { status: 409, description: "Conflict" });
  await expect(under.receive().ended).rejects.toMatchObject({
    kind: "unavailable",
    code: "telegram_conflict",
  });
  under.telegram.fails("getUpdates", { isCut: true });
  await expect(under.receive().ended).rejects.toMatchObject({ code: "telegram_unreachable" });
  under.telegram.fails("getUpdates", { status: 502 });
  await expect(under.receive().ended).rejects.toMatchObject({ code: "telegram_unreachable" });
  // A limit with a time is waited for, here for none.
  under.telegram.fails("getUpdates", { status: 429, retryAfter: 0 });
  under.receive();
  under.telegram.person(42).says("hello");
  await under.telegram.until(() => under.accepted.size === 1);
});

test("the bot says who it is and where people open it", async () => {
  const { service, signal } = await telegramUnderTest();
  expect(await service.check(signal)).toEqual({
    detail: "@postern_test_bot (Postern); in groups it sees commands, mentions and replies to it",
    link: "https://t.me/postern_test_bot",
  });
});
