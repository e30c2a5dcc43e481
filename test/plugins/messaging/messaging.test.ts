import { expect, test } from "vitest";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import { MIGRATIONS } from "../../../plugins/messaging/tables.ts";
import telegram from "../../../plugins/telegram/plugin.ts";
import { bootChat, createFakeChat, pairSender } from "../../support/services/chat.ts";

test("a message of a paired sender is answered in its conversation, and a repeat of it is not", async () => {
  const chat = createFakeChat();
  const kernel = await bootChat(chat);
  await pairSender(kernel);
  await chat.write("Remember that my bike is red", { reply: { to: 7 } });
  const first = await chat.until(({ text }) => text.includes("remember"));
  expect(first).toMatchObject({ conversation: "c1", reply: { to: 7 } });
  await chat.write("Remember that my bike is red", { id: "m1" });
  await chat.write("What colour is my bike?");
  await chat.until(({ text }) => text.includes("red") && text !== first.text);
  expect(chat.sent).toHaveLength(2);
  expect(new Set(chat.sent.map(({ key }) => key)).size).toBe(2);
  // Both are of one thread.
  expect((await kernel.service("threads").list("ann")).items).toMatchObject([{ turns: 2 }]);
  const inbox = await chat.inbox();
  expect(await inbox.position()).toBe("3");
  await expect
    .poll(() => kernel.service("messaging").channels())
    .toMatchObject([
      {
        name: "fake",
        isConnected: true,
        detail: "@fake",
        waiting: 0,
        dead: 0,
        requests: 0,
        node: expect.any(String),
      },
    ]);
});

test("a stranger gets one code and nothing else, and its message is answered when somebody lets it in", async () => {
  const chat = createFakeChat();
  const kernel = await bootChat(chat);
  const messaging = kernel.service("messaging");
  await chat.write("What is 6 times 7?", { sender: { id: "42", name: "Eve" } });
  const { text } = await chat.until(({ text }) => text.includes("code"));
  const [request] = await messaging.requests();
  expect(request).toMatchObject({
    identity: "fake/42",
    name: "Eve",
    text: "What is 6 times 7?",
    isAuthentic: true,
  });
  expect(text).toContain(request?.code);
  await chat.write("Hello?", { sender: { id: "42", name: "Eve" } });
  expect(await kernel.service("identities").pending()).toMatchObject([{ identity: "fake/42" }]);
  await expect(messaging.pair("AAAA-AAAA", "ann")).rejects.toMatchObject({ code: "no_pairing_request" });
  await kernel.service("accounts").addUser("eve", "user");
  await messaging.pair(request?.code as string, "eve");
  await chat.until(({ text }) => text.includes("42"));
  await expect.poll(() => chat.sent.length).toBe(4);
  expect(await messaging.requests()).toEqual([]);
});

test("a stranger whom somebody turns away is not answered", async () => {
  const chat = createFakeChat();
  const kernel = await bootChat(chat);
  const messaging = kernel.service("messaging");
  await chat.write("Hello");
  await chat.until(({ text }) => text.includes("code"));
  const [request] = await messaging.requests();
  expect(await messaging.deny(request?.code as string)).toBe(true);
  expect(await messaging.deny(request?.code as string)).toBe(false);
  const sql = await kernel.service("store").tables("messaging", MIGRATIONS);
  await expect.poll(() => sql.all("SELECT status FROM messaging_outbox")).toEqual([]);
  expect(chat.sent).toHaveLength(1);
});

test("settings that are only tried change nothing of what a channel says of itself", async () => {
  const plugins = [telegram as AnyPlugin];
  const kernel = await bootChat(createFakeChat(), { TELEGRAM_API_URL: "http://127.0.0.1:1" }, { plugins });
  const state = () =>
    kernel
      .service("kernel")
      .plugins()
      .find(({ name }) => name === "telegram");
  const before = state();
  expect(before?.detail).toContain("TELEGRAM_BOT_TOKEN is not set");
  const offered = kernel
    .service("messaging")
    .offered()
    .find(({ channel }) => channel.name === "telegram");
  const tried = offered?.check({ TELEGRAM_BOT_TOKEN: `1:${"a".repeat(35)}` }, AbortSignal.timeout(60_000));
  await expect(tried).rejects.toThrow(expect.objectContaining({ code: "telegram_unreachable" }));
  expect(state()).toEqual(before);
});
