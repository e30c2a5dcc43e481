/**
 * Telegram's Bot API on a loopback port, written from its documentation: a bot, people, groups with topics, what they are shown. It fails
 * as Telegram can, when the test says so.
 *
 *   const telegram = await startTelegram();
 *   const ada = telegram.person(42, "Ada");
 *   ada.says("hello");
 *   telegram.fails("sendMessage", { status: 502, isTaken: true });
 *   // TELEGRAM_API_URL=telegram.url TELEGRAM_BOT_TOKEN=telegram.token
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Message, MessageEntity, Update } from "grammy/types";
import { parseTelegramHtml } from "./telegram-html.ts";

export const BOT = {
  id: 7_000_000_001,
  is_bot: true,
  first_name: "Postern",
  username: "postern_test_bot",
} as const;
export const BOT_TOKEN = `${BOT.id}:AAF-a-token-that-only-the-tests-know`;

export interface Shown {
  readonly id: number;
  readonly chat: number;
  readonly topic?: number;
  /** As people read it, without marks. */
  text: string;
  /** As it was sent. */
  html: string;
  buttons: readonly { readonly text: string; readonly data: string }[];
  readonly files: readonly { readonly kind: string; readonly name: string; readonly data: Buffer }[];
  readonly replyTo?: number;
  edits: number;
}

export interface Call {
  readonly method: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** How the next call of a method fails. */
export interface Failing {
  /** 502 and the like with a page of HTML, as a proxy gives it; 4xx with Telegram's own words. */
  readonly status?: number;
  readonly description?: string;
  readonly retryAfter?: number;
  /** The connection dies in place of a reply. */
  readonly isCut?: boolean;
  /** No reply comes at all. */
  readonly isStalled?: boolean;
  /** The number that the group has now. */
  readonly movedTo?: number;
  /** What was asked is done all the same. */
  readonly isTaken?: boolean;
}

export interface Chat {
  readonly id: number;
  readonly type: "private" | "group" | "supergroup" | "channel";
  readonly title?: string;
  readonly is_forum?: true;
}

export interface Saying {
  readonly in?: Chat;
  readonly topic?: number;
  readonly replyTo?: Message | Shown;
  /** Telegram's own fields, such as `forward_origin` or `sender_chat`. */
  readonly fields?: object;
}

export interface Person {
  readonly id: number;
  says(text: string, saying?: Saying): Message;
  /** Sends a file, by the field that Telegram has it in. */
  sends(kind: "photo" | "document" | "voice", data: Buffer, caption?: string, saying?: Saying): Message;
  edits(message: Message, text: string): void;
  /** Presses a button by its words. */
  presses(shown: Shown, words: string): void;
}

export interface TelegramServer {
  readonly url: string;
  readonly token: string;
  readonly calls: readonly Call[];
  /** Everything that the bot sent and Telegram took, oldest first. */
  readonly shown: readonly Shown[];
  /** The calls of `answerCallbackQuery`, by the id of the query. */
  readonly answeredPresses: ReadonlySet<string>;
  readonly commands: readonly { readonly command: string; readonly description: string }[];
  readonly webhook: { readonly url: string; readonly secret: string } | undefined;
  person(id: number, name?: string): Person;
  group(id: number, kind?: "group" | "supergroup" | "forum"): Chat;
  /** Puts an update into the queue as it is. */
  push(update: Omit<Update, "update_id">): number;
  /** The next calls of the method fail so, one after another; an undefined one succeeds. */
  fails(method: string, ...failings: readonly (Failing | undefined)[]): void;
  /** A share of all messages fails in one of these ways. */
  failsSometimes(share: number, ...failings: readonly Failing[]): void;
  /** Deliver each update twice, or a batch in another order. */
  disturb(how: { readonly doubled?: boolean; readonly reordered?: boolean }): void;
  /** Each reply comes up to so many milliseconds after what was asked is done. */
  slows(millis: number): void;
  revoke(): void;
  blockedBy(person: number): void;
  /** The bot went away while it waited for updates. */
  isLeft(): boolean;
  /** Updates that are not confirmed. */
  waiting(): number;
  /** Resolves when it is so, looked at after each call. */
  until(isSo: () => boolean): Promise<void>;
  close(): Promise<void>;
}

const MAX_UPDATES = 100;
const MAX_TEXT = 4096;
const MAX_CAPTION = 1024;
const MAX_DOWNLOAD = 20 * 1024 * 1024;

export async function startTelegram(port = 0): Promise<TelegramServer> {
  const calls: Call[] = [];
  const shown: Shown[] = [];
  const answeredPresses = new Set<string>();
  const chats = new Map<number, Chat>();
  const blocked = new Set<number>();
  const files = new Map<string, Buffer>();
  const failings = new Map<string, (Failing | undefined)[]>();
  const watchers = new Set<() => void>();
  let commands: TelegramServer["commands"] = [];
  let webhook: TelegramServer["webhook"];
  let sometimes: { readonly share: number; readonly ways: readonly Failing[] } = { share: 0, ways: [] };
  let disturbance: { readonly doubled?: boolean; readonly reordered?: boolean } = {};
  let slowness = 0;
  let isLeft = false;
  let isRevoked = false;
  let isClosed = false;
  let queue: Update[] = [];
  let doubles: Update[] = [];
  let nextUpdate = 500_000_000;
  let nextMessage = 1;
  /** The request that waits for updates. */
  let held: { end(isOver: boolean): void } | undefined;

  const wake = () => {
    for (const watcher of watchers) watcher();
  };

  function push(update: Omit<Update, "update_id">): number {
    const whole = { update_id: nextUpdate++, ...update } as Update;
    queue.push(whole);
    if (disturbance.doubled) doubles.push(whole);
    held?.end(false);
    if (webhook) void postAll();
    return whole.update_id;
  }

  let isPosting = false;
  async function postAll(): Promise<void> {
    if (isPosting) return;
    isPosting = true;
    for (let [update] = queue; update && webhook && !isClosed; [update] = queue) {
      const headers = {
        "content-type": "application/json",
        "x-telegram-bot-api-secret-token": webhook.secret,
        connection: "close",
      };
      const times = disturbance.doubled ? 2 : 1;
      let isTaken = false;
      for (let time = 0; time < times; time++)
        isTaken = await fetch(webhook.url, { method: "POST", headers, body: JSON.stringify(update) }).then(
          ({ ok }) => ok,
          () => false,
        );
      if (isTaken) queue.shift();
      else await sleep(20);
      wake();
    }
    isPosting = false;
  }

  /** A newer request ends the one that waits. */
  async function getUpdates(payload: Record<string, unknown>): Promise<Update[]> {
    if (isRevoked) throw new Refusal(401, "Unauthorized");
    if (webhook) throw new Refusal(409, "Conflict: can't use getUpdates method while webhook is active");
    const { offset = 0, limit = MAX_UPDATES, timeout = 0 } = payload as Record<string, number>;
    held?.end(true);
    const confirmed = queue.filter(({ update_id }) => update_id < offset);
    queue = queue.filter(({ update_id }) => update_id >= offset);
    if (confirmed.length > 0) wake();
    // Telegram has been seen to hand out what was confirmed.
    const again = doubles.filter(({ update_id }) => update_id < offset);
    doubles = doubles.filter(({ update_id }) => update_id >= offset);
    if (queue.length + again.length === 0 && timeout > 0) {
      const waiting = Promise.withResolvers<boolean>();
      const mine = { end: (isOver: boolean) => waiting.resolve(isOver) };
      held = mine;
      const timer = setTimeout(() => mine.end(false), timeout * 1000).unref();
      const isOver = await waiting.promise;
      clearTimeout(timer);
      if (held === mine) held = undefined;
      if (isRevoked) throw new Refusal(401, "Unauthorized");
      if (isOver)
        throw new Refusal(
          409,
          "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
        );
    }
    const batch = [...again, ...queue].slice(0, limit);
    return disturbance.reordered ? batch.toReversed() : batch;
  }

  function chatOf(payload: Record<string, unknown>): number {
    const chat = Number(payload["chat_id"]);
    if (!chats.has(chat)) throw new Refusal(400, "Bad Request: chat not found");
    if (blocked.has(chat)) throw new Refusal(403, "Forbidden: bot was blocked by the user");
    return chat;
  }

  function textOf(
    payload: Record<string, unknown>,
    field: "text" | "caption",
  ): { text: string; html: string } {
    const html = String(payload[field] ?? "");
    const most = field === "text" ? MAX_TEXT : MAX_CAPTION;
    const parsed = payload["parse_mode"] === "HTML" ? parseTelegramHtml(html) : html;
    if (typeof parsed !== "string")
      throw new Refusal(400, `Bad Request: can't parse entities: ${parsed.problem}`);
    const text = parsed.trim();
    if (field === "text" && text === "") throw new Refusal(400, "Bad Request: message text is empty");
    if (text.length > most)
      throw new Refusal(400, `Bad Request: ${field === "text" ? "message" : "message caption"} is too long`);
    return { text, html };
  }

  function buttonsOf(payload: Record<string, unknown>): Shown["buttons"] {
    const markup = payload["reply_markup"] as
      | {
          readonly inline_keyboard: readonly (readonly {
            readonly text: string;
            readonly callback_data: string;
          }[])[];
        }
      | undefined;
    return (markup?.inline_keyboard ?? []).flat().map(({ text, callback_data: data }) => {
      const size = Buffer.byteLength(data);
      if (size < 1 || size > 64) throw new Refusal(400, "Bad Request: BUTTON_DATA_INVALID");
      return { text, data };
    });
  }

  function show(
    payload: Record<string, unknown>,
    words: { text: string; html: string },
    sent: Shown["files"] = [],
  ): Message {
    const chat = chatOf(payload);
    const topic = payload["message_thread_id"] as number | undefined;
    const reply = payload["reply_parameters"] as { readonly message_id: number } | undefined;
    const one: Shown = {
      id: nextMessage++,
      chat,
      ...(topic !== undefined && { topic }),
      ...words,
      buttons: buttonsOf(payload),
      files: sent,
      ...(reply && { replyTo: reply.message_id }),
      edits: 0,
    };
    shown.push(one);
    return {
      message_id: one.id,
      date: now(),
      chat: chats.get(chat),
      from: BOT,
      text: one.text,
    } as unknown as Message;
  }

  const filesOf = (payload: Record<string, unknown>, kind: string): Shown["files"] => {
    const { name, data } = payload[kind] as Upload;
    return [{ kind, name, data }];
  };

  const methods: Record<string, (payload: Record<string, unknown>) => unknown> = {
    getMe: () => ({
      ...BOT,
      can_join_groups: true,
      can_read_all_group_messages: false,
      supports_inline_queries: false,
    }),
    setMyCommands(payload) {
      commands = payload["commands"] as TelegramServer["commands"];
      return true;
    },
    deleteWebhook() {
      webhook = undefined;
      return true;
    },
    setWebhook({ url, secret_token: secret }) {
      webhook = { url: String(url), secret: String(secret) };
      void postAll();
      return true;
    },
    getUpdates,
    sendMessage: (payload) => show(payload, textOf(payload, "text")),
    sendPhoto: (payload) => show(payload, textOf(payload, "caption"), filesOf(payload, "photo")),
    sendDocument: (payload) => show(payload, textOf(payload, "caption"), filesOf(payload, "document")),
    sendMediaGroup(payload) {
      const media = payload["media"] as readonly {
        readonly media: Upload;
        readonly caption?: string;
        readonly parse_mode?: string;
      }[];
      return media.map(({ media: { name, data }, caption, parse_mode }) => {
        const words = textOf({ caption, parse_mode }, "caption");
        return show(payload, words, [{ kind: "document", name, data }]);
      });
    },
    sendChatAction: (payload) => chatOf(payload) !== 0,
    editMessageText: (payload) => edit(payload, textOf(payload, "text")),
    editMessageCaption: (payload) => edit(payload, textOf(payload, "caption")),
    answerCallbackQuery({ callback_query_id: id }) {
      answeredPresses.add(String(id));
      return true;
    },
    getFile({ file_id: id }) {
      const data = files.get(String(id));
      if (data === undefined) throw new Refusal(400, "Bad Request: invalid file_id");
      if (data.length > MAX_DOWNLOAD) throw new Refusal(400, "Bad Request: file is too big");
      return { file_id: id, file_unique_id: id, file_size: data.length, file_path: `files/${id}` };
    },
  };

  function edit(payload: Record<string, unknown>, words: { text: string; html: string }): unknown {
    const chat = chatOf(payload);
    const found = shown.find((one) => one.chat === chat && one.id === payload["message_id"]);
    if (!found) throw new Refusal(400, "Bad Request: message to edit not found");
    const buttons = buttonsOf(payload);
    if (found.html === words.html && JSON.stringify(found.buttons) === JSON.stringify(buttons))
      throw new Refusal(
        400,
        "Bad Request: message is not modified: specified new message content is the same",
      );
    Object.assign(found, words, { buttons, edits: found.edits + 1 });
    return true;
  }

  function nextFailing(method: string): Failing | undefined {
    const planned = failings.get(method);
    if (planned?.length) return planned.shift();
    if (!method.startsWith("send") || method === "sendChatAction") return undefined;
    const { share, ways } = sometimes;
    return Math.random() < share ? ways[Math.trunc(Math.random() * ways.length)] : undefined;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, isFile, token, rest = ""] = /^\/(file\/)?bot([^/]+)\/(.+)$/.exec(request.url ?? "") ?? [];
    const body = await readBody(request);
    if (token === undefined)
      return reply(response, 404, { ok: false, error_code: 404, description: "Not Found" });
    if (token !== BOT_TOKEN || isRevoked)
      return reply(response, 401, { ok: false, error_code: 401, description: "Unauthorized" });
    if (isFile) {
      const data = files.get(rest.replace("files/", ""));
      response.writeHead(data ? 200 : 404).end(data);
      return;
    }
    const run = methods[rest];
    if (!run)
      return reply(response, 404, { ok: false, error_code: 404, description: "Not Found: method not found" });
    const payload = readPayload(request, body);
    calls.push({ method: rest, payload });
    wake();
    if (rest === "getUpdates") {
      isLeft = false;
      response.once("close", () => {
        isLeft = !response.writableFinished;
        wake();
      });
    }
    const failing = nextFailing(rest);
    try {
      const result = failing && !failing.isTaken ? undefined : await run(payload);
      if (slowness > 0) await sleep(Math.random() * slowness);
      if (failing?.isStalled) return;
      if (failing?.isCut) {
        response.destroy();
        return;
      }
      if (failing) fail(response, failing);
      // A bot that has gone away in the meantime has not been told.
      else reply(response, 200, { ok: true, result });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status, message } = error;
      reply(response, status, { ok: false, error_code: status, description: message });
    } finally {
      wake();
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => {
      reply(response, 500, { ok: false, error_code: 500, description: error.stack });
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));

  function person(id: number, name = `Person ${id}`): Person {
    const home: Chat = { id, type: "private" };
    chats.set(id, home);
    const from = { id, is_bot: false, first_name: name };
    const message = ({ in: chat = home, topic, replyTo, fields }: Saying, content: object): Message =>
      ({
        message_id: nextMessage++,
        date: now(),
        chat,
        from,
        ...(topic !== undefined && { message_thread_id: topic, is_topic_message: true }),
        ...(replyTo && { reply_to_message: repliedOf(replyTo, chat) }),
        ...content,
        ...fields,
      }) as unknown as Message;
    return {
      id,
      says(text, saying = {}) {
        const said = message(saying, { text, entities: entitiesOf(text) });
        push({ message: said as never });
        return said;
      },
      sends(kind, data, caption, saying = {}) {
        const file_id = `file-${files.size + 1}`;
        files.set(file_id, data);
        const file = { file_id, file_unique_id: file_id, file_size: data.length };
        const named = { ...file, file_name: "notes.txt", mime_type: "text/plain" };
        const content =
          kind === "photo"
            ? {
                photo: [
                  { ...file, file_id: `${file_id}-small`, width: 9, height: 9 },
                  { ...file, width: 90, height: 90 },
                ],
              }
            : { [kind]: kind === "document" ? named : { ...file, mime_type: "audio/ogg", duration: 1 } };
        const sent = message(saying, {
          ...content,
          ...(caption !== undefined && { caption, caption_entities: entitiesOf(caption) }),
        });
        push({ message: sent as never });
        return sent;
      },
      edits(said, text) {
        push({ edited_message: { ...said, text, entities: entitiesOf(text), edit_date: now() } as never });
      },
      presses(one, words) {
        const button = one.buttons.find(({ text }) => text === words);
        if (!button)
          throw new Error(`no button "${words}" among ${one.buttons.map(({ text }) => text).join(", ")}`);
        const chat = chats.get(one.chat);
        const topic = one.topic === undefined ? {} : { message_thread_id: one.topic, is_topic_message: true };
        const under = { message_id: one.id, date: now(), chat, from: BOT, text: one.text, ...topic };
        const query = {
          id: `query-${nextUpdate}`,
          from,
          chat_instance: "1",
          data: button.data,
          message: under,
        };
        push({ callback_query: query as never });
      },
    };
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: BOT_TOKEN,
    calls,
    shown,
    answeredPresses,
    get commands() {
      return commands;
    },
    get webhook() {
      return webhook;
    },
    person,
    group(id, kind = "supergroup") {
      const chat: Chat = {
        id,
        type: kind === "forum" ? "supergroup" : kind,
        title: `Group ${-id}`,
        ...(kind === "forum" && { is_forum: true as const }),
      };
      chats.set(id, chat);
      return chat;
    },
    push,
    fails: (method, ...given) => void failings.set(method, [...(failings.get(method) ?? []), ...given]),
    failsSometimes(share, ...ways) {
      sometimes = { share, ways };
    },
    disturb(how) {
      disturbance = how;
    },
    slows(millis) {
      slowness = millis;
    },
    revoke() {
      isRevoked = true;
      held?.end(true);
    },
    blockedBy: (id) => void blocked.add(id),
    isLeft: () => isLeft,
    waiting: () => queue.length,
    until: (isSo) =>
      new Promise((resolve) => {
        const look = () => {
          if (!isSo()) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    close: () =>
      new Promise((resolve) => {
        isClosed = true;
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const now = () => Math.trunc(Date.now() / 1000);

/** Telegram marks commands and names in a text itself. */
function entitiesOf(text: string): MessageEntity[] {
  const found = (pattern: RegExp, type: "mention" | "bot_command") =>
    [...text.matchAll(pattern)].map(({ index, 0: { length } }) => ({ type, offset: index, length }));
  return [...found(/(?<!\S)@\w+/g, "mention"), ...found(/(?<!\S)\/\w+(@\w+)?/g, "bot_command")];
}

function repliedOf(replied: Message | Shown, chat: Chat): object {
  if ("message_id" in replied) return replied;
  return { message_id: replied.id, date: now(), chat, from: BOT, text: replied.text };
}

function fail(response: ServerResponse, { status = 500, description, retryAfter, movedTo }: Failing): void {
  if (status >= 500) {
    response.writeHead(status, { "content-type": "text/html" });
    response.end(`<html><body><h1>${status} Bad Gateway</h1></body></html>`);
    return;
  }
  const words =
    description ??
    (status === 429 ? `Too Many Requests: retry after ${retryAfter ?? "a while"}` : "Bad Request");
  reply(response, status, {
    ok: false,
    error_code: status,
    description: words,
    ...(retryAfter !== undefined && { parameters: { retry_after: retryAfter } }),
    ...(movedTo !== undefined && { parameters: { migrate_to_chat_id: movedTo } }),
  });
}

function reply(response: ServerResponse, status: number, body: object): void {
  if (response.destroyed) return;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

interface Upload {
  readonly name: string;
  readonly data: Buffer;
}

/** JSON, or a form whose fields are JSON where they are not plain; `attach://` names a file of the form. */
function readPayload(request: IncomingMessage, body: Buffer): Record<string, unknown> {
  const type = request.headers["content-type"] ?? "";
  if (type.startsWith("application/json")) return JSON.parse(body.toString()) as Record<string, unknown>;
  const boundary = /boundary=(\S+)/.exec(type)?.[1];
  if (boundary === undefined) return {};
  const fields: Record<string, unknown> = {};
  const uploads = new Map<string, Upload>();
  const parts = body.toString("latin1").split(`--${boundary}`).slice(1, -1);
  for (const part of parts) {
    const end = part.indexOf("\r\n\r\n");
    const head = Buffer.from(part.slice(0, end), "latin1").toString();
    const data = Buffer.from(part.slice(end + 4, -2), "latin1");
    const name = /\bname="([^"]*)"/.exec(head)?.[1] ?? "";
    const file = /\bfilename=("?)([^"\r\n;]*)\1/.exec(head)?.[2];
    if (file === undefined) fields[name] = data.toString();
    else uploads.set(name, { name: file, data });
  }
  const attach = (text: string) => uploads.get(text.replace("attach://", "")) ?? text;
  for (const [name, text] of Object.entries(fields) as [string, string][])
    fields[name] = text.startsWith("attach://") ? attach(text) : readField(name, text, attach);
  return fields;
}

const TEXTS = new Set(["text", "caption", "parse_mode"]);

function readField(name: string, text: string, attach: (text: string) => unknown): unknown {
  if (TEXTS.has(name)) return text;
  try {
    return JSON.parse(text, (key, value: unknown) =>
      key === "media" && typeof value === "string" ? attach(value) : value,
    );
  } catch {
    return text;
  }
}
