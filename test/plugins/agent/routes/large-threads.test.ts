import { expect, test } from "vitest";
import { openGateway } from "../../../support/services/gateway.ts";

test("a page of turns is bounded in bytes too, and leads to the rest", async () => {
  const gateway = await openGateway();
  const send = (message: string, thread?: string) =>
    gateway.ask("/api/chat", { method: "POST", body: { message, thread_id: thread } });
  const { body: first } = await send(`first ${"x".repeat(1_000_000)}`);
  const thread = first.thread_id;
  for (const name of ["second", "third", "fourth"]) await send(`${name} ${"x".repeat(1_000_000)}`, thread);
  const page = async (query = "") => {
    const { body } = await gateway.ask(`/api/threads/${thread}${query}`);
    const names = body.turns.map(({ input }: { input: { text: string } }) => input.text.split(" ")[0]);
    return { names, next: body.next };
  };
  const newest = await page();
  expect(newest.names).toEqual(["third", "fourth"]);
  const older = await page(`?before=${newest.next}`);
  expect(older).toEqual({ names: ["first", "second"], next: null });
});

test("a message that no model could read is refused before it is stored", async () => {
  const gateway = await openGateway();
  const answer = await gateway.ask("/api/chat/send", {
    method: "POST",
    body: { message: "x".repeat(4_000_001) },
  });
  expect([answer.status, answer.body.error.code]).toEqual([413, "message_too_long"]);
  expect((await gateway.ask("/api/threads")).body.threads).toEqual([]);
  const input = { type: "message", text: "Hi" } as const;
  const instructions = "x".repeat(4_000_000);
  await expect(
    gateway.service.service("agent").run({ user: "ann", channel: "test", input, preamble: { instructions } }),
  ).rejects.toMatchObject({ code: "message_too_long" });
});
