/** How updates come in: asked for by long polling, or posted to us. Either way Telegram forgets one only after it is in the inbox. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage as Request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { GrammyError } from "grammy";
import type { Update } from "grammy/types";
import { listen, parseJson } from "../../kernel/kit/http.ts";
import { type Log, reason } from "../../kernel/plugin.ts";
import type { Inbox } from "../messaging/services.ts";
import type { BotApi } from "./bot-api.ts";
import type { TelegramConfig, WebhookPlace } from "./settings.ts";
import { type Bot, KINDS, readUpdates } from "./updates.ts";

export interface Receiving {
  readonly bot: Bot;
  readonly botApi: BotApi;
  readonly inbox: Inbox;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const POLL_SECS = 30;
const MAX_BODY_BYTES = 1024 * 1024;
const STOP_TIMEOUT_MS = 3000;
/** The photos of an album are updates of their own, and come within a moment. */
const ALBUM_MS = 500;

/** Takes updates into the inbox and confirms them by asking for what follows. One that comes again is the same row. */
export async function poll(receiving: Receiving): Promise<void> {
  const { botApi, signal } = receiving;
  let offset: number | undefined;
  let isAlbum = false;
  while (!signal.aborted) {
    const updates = await getUpdates(botApi, offset, signal);
    // One more look, without confirming anything, for the rest of it.
    isAlbum = !isAlbum && updates.at(-1)?.message?.media_group_id !== undefined;
    if (isAlbum) await wait(ALBUM_MS, undefined, { signal });
    else if (updates.length > 0) {
      await take(updates, receiving);
      offset = Math.max(...updates.map((update) => update.update_id)) + 1;
    }
  }
}

async function getUpdates(
  botApi: BotApi,
  offset: number | undefined,
  signal: AbortSignal,
): Promise<Update[]> {
  try {
    const asked = { timeout: POLL_SECS, allowed_updates: KINDS, ...(offset !== undefined && { offset }) };
    return await botApi.call("getUpdates", asked, signal);
  } catch (error) {
    const pause = error instanceof GrammyError ? error.parameters.retry_after : undefined;
    if (pause === undefined) throw error;
    await wait(pause * 1000, undefined, { signal });
    return [];
  }
}

/** Telegram posts to us, one after another so that they come in order, and again until we answer 200. */
export async function listenForUpdates(
  receiving: Receiving,
  config: TelegramConfig,
  place: WebhookPlace,
): Promise<void> {
  const { botApi, signal } = receiving;
  const secret = secretOf(config);
  const { host, port, url } = place;
  const listener = await listen(
    (request, response) => {
      void answer(request, secret, receiving).then((status) => response.writeHead(status).end());
    },
    { host, port, hostVariable: "TELEGRAM_WEBHOOK_HOST", portVariable: "TELEGRAM_WEBHOOK_PORT" },
  );
  try {
    const hook = { url, secret_token: secret, max_connections: 1, allowed_updates: KINDS };
    await botApi.call("setWebhook", hook, signal);
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  } finally {
    await listener.close(STOP_TIMEOUT_MS);
  }
}

/** Both ends know the token, so that nobody has to choose another secret. */
function secretOf({ token }: TelegramConfig): string {
  return createHmac("sha256", token).update("postern telegram webhook").digest("hex");
}

async function answer(request: Request, secret: string, receiving: Receiving): Promise<number> {
  const given = Buffer.from(String(request.headers["x-telegram-bot-api-secret-token"] ?? ""));
  const expected = Buffer.from(secret);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 401;
  try {
    await take([parseJson(await readText(request)) as Update], receiving);
    return 200;
  } catch (error) {
    receiving.log.warn(`an update was not taken, Telegram will post it again: ${reason(error)}`);
    return 500;
  }
}

async function readText(request: Request): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error("it is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

async function take(
  updates: readonly Update[],
  { bot, botApi, inbox, log, signal }: Receiving,
): Promise<void> {
  const { messages, ignored } = readUpdates(updates, bot);
  for (const why of ignored) log.debug(`an update is ignored: ${why}`);
  await inbox.accept(messages);
  // The button stops to show that it waits. Whether it counts, the message says that follows.
  for (const { callback_query: press } of updates)
    if (press) botApi.call("answerCallbackQuery", { callback_query_id: press.id }, signal).catch(() => {});
}
