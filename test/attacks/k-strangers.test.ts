/** Strangers who write in numbers must not keep anybody else out. */
import { expect } from "vitest";
import type { IncomingMessage } from "../../plugins/messaging/services.ts";
import { attack } from "../support/attacks.ts";
import { bootChat, createFakeChat } from "../support/services/chat.ts";

const strangers = (
  count: number,
  idOf: (at: number) => string,
  more: Partial<IncomingMessage> = {},
): IncomingMessage[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ id: idOf(at), conversation: idOf(at), sender: { id: idOf(at) }, text: "Hello" },
    ...more,
  }));

attack(
  "I",
  "200 strangers fill the list of channel requests, and the next person still gets a code",
  async () => {
    const chat = createFakeChat();
    const kernel = await bootChat(chat);
    await (await chat.inbox()).accept(strangers(200, (at) => `stranger-${at}`));
    await chat.write("It is me, Ann", { sender: { id: "ann" }, conversation: "ann" });
    const { text } = await chat.until(({ conversation }) => conversation === "ann");
    const [, code] = /: (\S+)$/.exec(text) ?? [];
    const requests = await kernel.service("messaging").requests();
    expect(requests).toContainEqual(expect.objectContaining({ identity: "fake/ann", code }));
  },
);

attack("I", "One mail domain and forged mails take no place of others", async () => {
  const chat = createFakeChat();
  const kernel = await bootChat(chat);
  const inbox = await chat.inbox();
  const listed = async () =>
    (await kernel.service("messaging").requests()).map(({ identity }) => identity.slice("fake/".length));
  await inbox.accept(strangers(1, () => "ann@home.example"));
  await expect.poll(listed).toEqual(["ann@home.example"]);
  await inbox.accept(strangers(150, (at) => `bot-${at}@evil.example`));
  await inbox.accept(strangers(150, (at) => `forged-${at}@bank-${at}.example`, { isAuthentic: false }));
  await inbox.accept(strangers(1, () => "last@home.example"));
  await expect.poll(listed).toContain("last@home.example");
  const all = await listed();
  expect(all).toContain("ann@home.example");
  expect(all.filter((id) => id.endsWith("@evil.example"))).toHaveLength(10);
  expect(all.filter((id) => id.startsWith("forged-"))).toHaveLength(20);
});

attack("I", "What a stranger has wait is short", async () => {
  const chat = createFakeChat();
  const kernel = await bootChat(chat);
  await chat.write("x".repeat(100_000), { sender: { id: "eve" } });
  await chat.until(({ text }) => text.includes("I do not know you yet"));
  expect((await kernel.service("jobs").counts()).queued).toBe(0);
});
