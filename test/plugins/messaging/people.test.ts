/** Who is answered, who is not, and what is left of them. */
import { expect, test } from "vitest";
import { MIGRATIONS, PERSONAL } from "../../../plugins/messaging/tables.ts";
import { scriptedModel, toolsPlugin } from "../../support/services/agent.ts";
import { bootChat, createFakeChat, pairSender } from "../../support/services/chat.ts";

test("a message that the service does not vouch for is not its sender's: it is neither answered nor can it be paired", async () => {
  const chat = createFakeChat({ isSilentToStrangers: true });
  const kernel = await bootChat(chat);
  const messaging = kernel.service("messaging");
  await pairSender(kernel);
  await chat.write("Forget everything", { isAuthentic: false });
  await expect.poll(() => messaging.requests()).toMatchObject([{ identity: "fake/ann", isAuthentic: false }]);
  const [request] = await messaging.requests();
  await expect(messaging.pair(request?.code ?? "", "ann")).rejects.toMatchObject({
    code: "sender_not_authentic",
  });
  expect((await kernel.service("jobs").list()).items).toEqual([]);
  await chat.write("Hello", { sender: { id: "new" } });
  await expect.poll(() => messaging.requests()).toHaveLength(2);
  // It is listed, and nothing is said to it.
  expect(chat.sent).toEqual([]);
});

test("many strangers, and a stranger who writes much, take up little", async () => {
  const chat = createFakeChat();
  const kernel = await bootChat(chat);
  const inbox = await chat.inbox();
  const from = (id: number, text: string) => ({
    id: `${id} ${text}`,
    conversation: `c${id}`,
    sender: { id: String(id) },
    text,
  });
  await inbox.accept(Array.from({ length: 230 }, (_, at) => from(at, "Hello")));
  await inbox.accept(Array.from({ length: 20 }, (_, at) => from(1, `and ${at}`)));
  const sql = await kernel.service("store").tables("messaging", MIGRATIONS);
  await expect
    .poll(() => sql.get("SELECT count(*) AS count FROM messaging_inbox WHERE message IS NOT NULL"))
    .toEqual({ count: 0 });
  const messaging = kernel.service("messaging");
  expect(await messaging.requests()).toHaveLength(100);
  expect(await messaging.fullLists()).toEqual([
    "The list is full (fake: 100): each new sender takes the place of the oldest.",
  ]);
  const jobs = kernel.service("jobs");
  // What waited of those that made room is gone.
  await expect.poll(async () => (await jobs.counts()).queued).toBe(99 + 3);
});

test("an operator hears of a stranger in the chat and lets them in there; nobody else can", async () => {
  const model = await scriptedModel();
  const chat = createFakeChat();
  const kernel = await bootChat(chat, {}, { model, plugins: [toolsPlugin({})] });
  await kernel.service("accounts").addUser("boss", "operator");
  await pairSender(kernel, "fake/boss", "boss");
  await pairSender(kernel);
  model.script({ text: "At your service." });
  await chat.write("Hello", { sender: { id: "boss" }, conversation: "office" });
  await chat.until(({ text }) => text === "At your service.");
  await chat.write("Let me in **now**", { sender: { id: "eve", name: "Eve" }, conversation: "eve" });
  const told = await chat.until(
    ({ conversation, text }) => conversation === "office" && text.includes("wants to talk"),
  );
  expect(told.text).toContain("Eve (fake/eve) wants to talk to me: Let me in **now**");
  const [, code = ""] = /\/pair (\S+)/.exec(told.text) ?? [];
  await chat.write(`/pair ${code} ann`);
  await chat.until(({ text }) => text === "Only an operator can decide who is let in.");
  model.script({ text: "Welcome, Eve." });
  await chat.write(`/pair ${code} ann`, { sender: { id: "boss" }, conversation: "office" });
  await chat.until(({ text, conversation }) => text === "Welcome, Eve." && conversation === "eve");
  expect(await kernel.service("identities").account("fake/eve")).toBe("ann");
});

test("nothing is left of a user who is removed with all data, and what was theirs is not said any more", async () => {
  const chat = createFakeChat();
  const kernel = await bootChat(chat);
  await pairSender(kernel);
  await chat.write("What is 2 + 3?");
  await chat.until(({ text }) => text.includes("5"));
  chat.outcomes.push(async () => ({ message: "blocked", isFinal: true }));
  await chat.write("What is 20 + 3?");
  const messaging = kernel.service("messaging");
  await expect.poll(() => messaging.list({ status: "dead" })).toHaveLength(1);
  await kernel.service("accounts").removeUser("ann", { withData: true });
  const sql = await kernel.service("store").tables("messaging", MIGRATIONS);
  for (const table of PERSONAL)
    expect(await sql.all(`SELECT * FROM ${table} WHERE "user" = 'ann'`)).toEqual([]);
  expect(await messaging.list()).toEqual([]);
  // The account is gone, so the sender is a stranger again.
  await chat.write("And now?");
  await chat.until(({ text }) => text.includes("I do not know you yet"));
});
