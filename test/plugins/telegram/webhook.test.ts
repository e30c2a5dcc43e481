/** Telegram posts to us instead of being asked. */
import { expect, test } from "vitest";
import { freePort } from "../../support/servers/port.ts";
import { telegramUnderTest } from "../../support/services/telegram.ts";

async function hooked() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/telegram`;
  const under = await telegramUnderTest({ webhook: { url, host: "127.0.0.1", port } });
  return { ...under, url, receiving: under.receive() };
}

test("updates are taken as they are posted, also doubled, and nobody polls", async () => {
  const { telegram, accepted, repeats, reports, url } = await hooked();
  telegram.disturb({ doubled: true });
  telegram.person(42).says("hello");
  await telegram.until(() => telegram.webhook !== undefined && telegram.waiting() === 0);
  expect([...accepted.values()].map(({ text }) => text)).toEqual(["hello"]);
  expect(repeats()).toBe(1);
  expect(reports).toEqual([{ isConnected: true, detail: `@postern_test_bot at ${url}` }]);
  expect(telegram.calls.map(({ method }) => method)).toEqual(["getMe", "setMyCommands", "setWebhook"]);
});

test("what the inbox could not take is posted again", async () => {
  const { telegram, accepted, breakInbox } = await hooked();
  breakInbox();
  telegram.person(42).says("hello");
  await telegram.until(() => accepted.size === 1 && telegram.waiting() === 0);
});

test("a post without Telegram's secret, or too large, is refused", async () => {
  const { telegram, accepted, url } = await hooked();
  await telegram.until(() => telegram.webhook !== undefined);
  const secret = telegram.webhook?.secret ?? "";
  const post = async (given: string, body: string) => {
    const headers = { "x-telegram-bot-api-secret-token": given, connection: "close" };
    return (await fetch(url, { method: "POST", headers, body })).status;
  };
  const update = JSON.stringify({
    update_id: 1,
    message: {
      message_id: 1,
      date: 1,
      chat: { id: 1, type: "private" },
      from: { id: 1, is_bot: false, first_name: "x" },
      text: "x",
    },
  });
  expect(await post("", update)).toBe(401);
  expect(await post(secret.replace(/^./, "x"), update)).toBe(401);
  expect(await post(secret, " ".repeat(2 ** 20) + update)).toBe(500);
  expect(accepted.size).toBe(0);
  expect(await post(secret, update)).toBe(200);
  expect(accepted.size).toBe(1);
});

test("who goes back to polling takes the webhook away", async () => {
  const { telegram, accepted, receiving, signal, service } = await hooked();
  await telegram.until(() => telegram.webhook !== undefined);
  receiving.stop();
  await receiving.ended;
  const { createTelegram } = await import("../../../plugins/telegram/telegram.ts");
  expect(await service.check(signal)).toMatchObject({ link: expect.any(String) });
  const log = { debug() {}, warn() {} } as never;
  const polling = createTelegram({
    config: { token: telegram.token, apiUrl: telegram.url },
    log,
    announce() {},
  });
  const stop = new AbortController();
  const texts: string[] = [];
  const ended = polling.receive(
    {
      position: async () => undefined,
      commands: [],
      report() {},
      accept: async (messages) => void texts.push(...messages.map(({ text }) => text)),
    },
    stop.signal,
  );
  await telegram.until(() => telegram.calls.some(({ method }) => method === "getUpdates"));
  telegram.person(42).says("hello");
  await telegram.until(() => telegram.waiting() === 0);
  stop.abort();
  await ended;
  expect([texts, accepted.size, telegram.webhook]).toEqual([["hello"], 0, undefined]);
});
