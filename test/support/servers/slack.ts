/** A Slack of the test's own, after its published documentation, which misbehaves as the test asks. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type WebSocket, WebSocketServer } from "ws";
import { SCOPES } from "../../../plugins/slack/manifest.ts";
import { afterThisTest, type Later } from "../undo.ts";

export const APP_TOKEN = "xapp-1-A0POSTERN-1234567890-abcdefabcdefabcdef";
export const BOT_TOKEN = "xoxb-1234567890-1234567890-AbCdEfGhIjKlMnOp";
export const TEAM = "T0TEAM";
export const BOT = "U0BOT";
const APP = "A0POSTERN";

/** `taken`: the request was carried out before it went wrong. */
export type Misfortune =
  | { readonly status: number; readonly retryAfter?: number; readonly isTaken?: boolean }
  | { readonly dies: true; readonly isTaken?: boolean }
  | { readonly error: string };

export interface SlackMessage {
  readonly channel: string;
  readonly ts: string;
  readonly user: string;
  text: string;
  readonly thread_ts?: string;
  readonly bot_id?: string;
  blocks?: readonly { readonly type: string; readonly elements?: readonly SlackButton[] }[];
  metadata?: { readonly event_type: string; readonly event_payload: Readonly<Record<string, unknown>> };
  readonly files?: readonly SlackFile[];
  edited?: { readonly user: string; readonly ts: string };
}

export interface SlackButton {
  readonly action_id: string;
  readonly value: string;
  readonly text: { readonly text: string };
}

export interface SlackFile {
  readonly id: string;
  readonly name: string;
  readonly mimetype: string;
  readonly data: Buffer;
}

export interface SayOptions {
  /** A direct message to us unless said otherwise. */
  readonly channel?: string;
  readonly thread?: string;
  readonly files?: readonly { readonly name: string; readonly mime: string; readonly data: Buffer }[];
  readonly attachments?: readonly object[];
  readonly team?: string;
}

interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly payload: object;
  tries: number;
}

type Arguments = Readonly<Record<string, string>>;

export type FakeSlack = Awaited<ReturnType<typeof startSlack>>;

const escapeText = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

export const directOf = (user: string) => `D${user.slice(1)}`;

export async function startSlack(later: Later = afterThisTest) {
  const messages: SlackMessage[] = [];
  const files = new Map<string, SlackFile>();
  const uploads = new Map<string, { readonly name: string; data?: Buffer }>();
  const calls: { readonly method: string; readonly args: Arguments }[] = [];
  const misfortunes = new Map<string, Misfortune[]>();
  const waiting = new Map<string, Envelope>();
  const acknowledged: string[] = [];
  const watchers = new Set<() => void>();
  const sockets = new Set<WebSocket>();
  let replyMillis = 0;
  let isRevoked = false;
  let isHeld = false;
  let isDoubled = false;
  let acks = true;
  let sequence = 0;

  const changed = () => {
    for (const watcher of watchers) watcher();
  };
  const nextTs = () => `${Math.floor(Date.now() / 1000)}.${String(++sequence).padStart(6, "0")}`;

  /** Resolves with what `look` finds, as soon as it finds something. */
  const until = <Found>(look: () => Found | undefined | false): Promise<Found> =>
    new Promise((resolve) => {
      const watcher = () => {
        const found = look();
        if (found === undefined || found === false) return;
        watchers.delete(watcher);
        resolve(found);
      };
      watchers.add(watcher);
      watcher();
    });

  const deliver = (envelope: Envelope, isAgain = false) => {
    const [socket] = [...sockets].slice(-1);
    if (socket === undefined || isHeld) return;
    const retry = envelope.tries === 0 ? {} : { retry_attempt: envelope.tries, retry_reason: "timeout" };
    envelope.tries++;
    const { id, type, payload } = envelope;
    const frame = { envelope_id: id, type, payload, accepts_response_payload: false, ...retry };
    socket.send(JSON.stringify(frame));
    if (isDoubled && !isAgain) deliver(envelope, true);
  };
  const enqueue = (type: string, payload: object) => {
    const envelope: Envelope = { id: randomUUID(), type, payload, tries: 0 };
    waiting.set(envelope.id, envelope);
    deliver(envelope);
    return envelope.id;
  };
  const happen = (event: object) =>
    enqueue("events_api", {
      type: "event_callback",
      team_id: TEAM,
      api_app_id: APP,
      event_id: `Ev${randomUUID()}`,
      event,
    });

  const kindOf = (channel: string) => (channel.startsWith("D") ? "im" : "channel");
  const fileObject = ({ id, name, mimetype, data }: SlackFile) => ({
    ...{ id, name, title: name, mimetype, size: data.length, mode: "hosted", is_external: false },
    url_private_download: `${base}/files/${id}/${encodeURIComponent(name)}`,
  });
  const wireMessage = (message: SlackMessage, withMetadata = true) => ({
    type: "message",
    ...message,
    files: message.files?.map(fileObject),
    metadata: withMetadata ? message.metadata : undefined,
  });

  const methods: Record<string, (args: Arguments) => object> = {
    "auth.test": () => ({
      ...{ url: "https://team.slack.com/", team: "The Team", user: "postern" },
      ...{ team_id: TEAM, user_id: BOT, bot_id: "B0BOT" },
    }),
    "apps.connections.open": () => ({ url: `${base.replace("http", "ws")}/link?ticket=${randomUUID()}` }),
    "users.info": ({ user = "" }) => ({
      user: { id: user, name: user.toLowerCase(), profile: { display_name: `${user} Name` } },
    }),
    "bots.info": () => ({ bot: { id: "B0BOT", app_id: APP } }),
    "chat.postMessage"({ channel = "", text = "", thread_ts, blocks, metadata }) {
      if (text === "") return { error: "no_text" };
      const message: SlackMessage = {
        ...{ channel, text, ts: nextTs(), user: BOT, bot_id: "B0BOT" },
        ...(thread_ts !== undefined && { thread_ts }),
        ...(blocks !== undefined && { blocks: JSON.parse(blocks) }),
        ...(metadata !== undefined && { metadata: JSON.parse(metadata) }),
      };
      messages.push(message);
      return { channel, ts: message.ts, message: wireMessage(message) };
    },
    "chat.update"({ channel, ts, text = "", blocks, metadata }) {
      const message = messages.find((one) => one.channel === channel && one.ts === ts);
      if (message === undefined) return { error: "message_not_found" };
      message.text = text;
      message.edited = { user: BOT, ts: nextTs() };
      if (blocks !== undefined) message.blocks = JSON.parse(blocks);
      if (metadata !== undefined) message.metadata = JSON.parse(metadata);
      return { channel, ts, text };
    },
    "conversations.history": (args) =>
      history(
        args,
        messages
          .filter(
            ({ channel, thread_ts, ts }) =>
              channel === args["channel"] && (thread_ts === undefined || thread_ts === ts),
          )
          .toReversed(),
      ),
    "conversations.replies": (args) =>
      history(
        args,
        messages.filter(
          ({ channel, thread_ts, ts }) =>
            channel === args["channel"] && (thread_ts === args["ts"] || ts === args["ts"]),
        ),
      ),
    "files.getUploadURLExternal"({ filename = "" }) {
      const id = `F${randomUUID().slice(0, 8)}`;
      uploads.set(id, { name: filename });
      return { upload_url: `${base}/upload/${id}`, file_id: id };
    },
    "files.completeUploadExternal"({ files: given = "[]", channel_id = "", thread_ts }) {
      const shared = (JSON.parse(given) as { id: string }[]).map(({ id }): SlackFile => {
        const { name, data = Buffer.alloc(0) } = uploads.get(id) ?? { name: "" };
        return { id, name, mimetype: "application/octet-stream", data };
      });
      for (const file of shared) files.set(file.id, file);
      messages.push({
        ...{ channel: channel_id, text: "", ts: nextTs(), user: BOT, bot_id: "B0BOT", files: shared },
        ...(thread_ts !== undefined && { thread_ts }),
      });
      return { files: shared.map(fileObject) };
    },
    "files.info": ({ file = "" }) => {
      const found = files.get(file);
      return found === undefined ? { error: "file_not_found" } : { file: fileObject(found) };
    },
  };

  function history(
    { oldest = "0", limit = "100", cursor = "0", include_all_metadata }: Arguments,
    found: SlackMessage[],
  ) {
    const from = Number(cursor);
    const fresh = found.filter(({ ts }) => Number(ts) > Number(oldest));
    const page = fresh.slice(from, from + Number(limit));
    const next = from + page.length < fresh.length ? String(from + page.length) : "";
    const wire = page.map((message) => wireMessage(message, include_all_metadata === "true"));
    return { messages: wire, has_more: next !== "", response_metadata: { next_cursor: next } };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const [, room = "", name = ""] = (request.url ?? "").split("/");
    if (room === "upload") {
      const upload = uploads.get(name);
      if (upload) upload.data = body;
      response.writeHead(upload ? 200 : 404).end("OK");
      return changed();
    }
    if (room === "files") {
      const isOurs = request.headers.authorization === `Bearer ${BOT_TOKEN}`;
      const file = files.get(name);
      if (!isOurs)
        return void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Sign in</h1>");
      return void response
        .writeHead(file ? 200 : 404, { "content-type": file?.mimetype ?? "text/plain" })
        .end(file?.data);
    }
    const args = Object.fromEntries(new URLSearchParams(body.toString()));
    calls.push({ method: name, args });
    const misfortune = misfortunes.get(name)?.shift();
    const needed = name === "apps.connections.open" ? APP_TOKEN : BOT_TOKEN;
    const isSignedIn = request.headers.authorization === `Bearer ${needed}`;
    const work = () => {
      if (isRevoked) return { error: "token_revoked" };
      if (!isSignedIn) return { error: "invalid_auth" };
      return methods[name]?.(args) ?? { error: "unknown_method" };
    };
    if (misfortune && "error" in misfortune) reply(response, { error: misfortune.error });
    else if (misfortune && "dies" in misfortune) {
      if (misfortune.isTaken) work();
      response.socket?.destroy();
    } else if (misfortune) {
      if (misfortune.isTaken) work();
      const { status, retryAfter } = misfortune;
      response.writeHead(status, retryAfter === undefined ? {} : { "retry-after": String(retryAfter) });
      response.end(status === 429 ? "" : "<html>Bad gateway</html>");
    } else {
      const result = work();
      if (name === "chat.postMessage") await sleep(replyMillis);
      reply(response, result);
    }
    changed();
  }

  function reply(response: ServerResponse, result: object): void {
    response.writeHead(200, { "content-type": "application/json", "x-oauth-scopes": SCOPES.join(",") });
    response.end(JSON.stringify({ ok: !("error" in result), ...result }));
  }

  const server = createServer((request, response) => void answer(request, response));
  const upgrades = new WebSocketServer({ server });
  upgrades.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => {
      sockets.delete(socket);
      changed();
    });
    socket.on("message", (data) => {
      const { envelope_id } = JSON.parse(String(data)) as { envelope_id: string };
      if (acks && waiting.delete(envelope_id)) acknowledged.push(envelope_id);
      changed();
    });
    socket.send(
      JSON.stringify({ type: "hello", num_connections: sockets.size, connection_info: { app_id: APP } }),
    );
    for (const envelope of waiting.values()) deliver(envelope);
    changed();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    for (const socket of upgrades.clients) socket.terminate();
    upgrades.close();
    server.closeAllConnections();
    server.close();
  };
  later(close);

  return {
    url: `${base}/api/`,
    settings: { SLACK_APP_TOKEN: APP_TOKEN, SLACK_BOT_TOKEN: BOT_TOKEN, SLACK_API_URL: `${base}/api/` },
    messages,
    calls,
    acknowledged,
    waiting,
    until,
    close,
    /** Messages of ours in a chat, oldest first. */
    answers: (channel: string) => messages.filter((one) => one.channel === channel && one.user === BOT),
    isConnected: () => sockets.size > 0,
    connected: () => until(() => sockets.size > 0),
    /** A person writes. `<@U0BOT>` in the text mentions us; everything else is escaped as Slack does. */
    say(
      user: string,
      text: string,
      { channel = directOf(user), thread, attachments, team, ...options }: SayOptions = {},
    ) {
      const written = escapeText(text).replaceAll(`&lt;@${BOT}&gt;`, `<@${BOT}>`);
      const shared = options.files?.map(({ name, mime, data }): SlackFile => {
        const file = { id: `F${randomUUID().slice(0, 8)}`, name, mimetype: mime, data };
        files.set(file.id, file);
        return file;
      });
      const message: SlackMessage = {
        ...{ channel, ts: nextTs(), user, text: written },
        ...(thread !== undefined && { thread_ts: thread }),
        ...(shared && { files: shared }),
      };
      messages.push(message);
      const isMention = kindOf(channel) !== "im" && written.includes(`<@${BOT}>`);
      const event = {
        ...wireMessage(message),
        ...(shared && { subtype: "file_share" }),
        ...(attachments && { attachments }),
        ...(isMention ? { type: "app_mention" } : { channel_type: kindOf(channel) }),
        client_msg_id: randomUUID(),
        team: team ?? TEAM,
        event_ts: message.ts,
      };
      return { message, envelope: happen(event) };
    },
    edit(message: SlackMessage, text: string) {
      const previous = { ...message };
      message.text = escapeText(text);
      message.edited = { user: message.user, ts: nextTs() };
      return happen({
        ...{ type: "message", subtype: "message_changed", hidden: true, channel: message.channel },
        ...{ channel_type: kindOf(message.channel), ts: nextTs() },
        message: { ...wireMessage(message), team: TEAM },
        previous_message: wireMessage(previous),
      });
    },
    press(user: string, message: SlackMessage, at = 0) {
      const buttons = message.blocks?.flatMap(({ elements = [] }) => elements) ?? [];
      const { action_id, value } = buttons[at] as SlackButton;
      return enqueue("interactive", {
        ...{ type: "block_actions", team: { id: TEAM }, api_app_id: APP, trigger_id: randomUUID() },
        user: { id: user, username: user.toLowerCase(), team_id: TEAM },
        channel: { id: message.channel, name: "directmessage" },
        container: { type: "message", message_ts: message.ts, channel_id: message.channel },
        message: wireMessage(message),
        actions: [{ type: "button", action_id, block_id: "b", value, action_ts: nextTs() }],
      });
    },
    command(user: string, text: string, channel = directOf(user)) {
      const who = { user_id: user, user_name: user.toLowerCase(), team_id: TEAM };
      return enqueue("slash_commands", {
        ...{ ...who, command: "/postern", text, channel_id: channel, trigger_id: randomUUID() },
      });
    },
    happen,
    /** Sends a frame as it is. */
    frame(text: string) {
      for (const socket of sockets) socket.send(text);
    },
    /** What goes wrong with the next calls of a method, one after the other. */
    spoil(method: string, ...given: readonly Misfortune[]) {
      misfortunes.set(method, [...(misfortunes.get(method) ?? []), ...given]);
    },
    /** From now on it takes so long to say that it took a message. */
    slows(millis: number) {
      replyMillis = millis;
    },
    /** Sends every event twice from now on. */
    double() {
      isDoubled = true;
    },
    /** Keeps what happens back until it is released, in any order. */
    hold() {
      isHeld = true;
    },
    release(reversed = false) {
      isHeld = false;
      const kept = [...waiting.values()];
      for (const envelope of reversed ? kept.toReversed() : kept) deliver(envelope);
    },
    /** Loses acknowledgements from now on, or no longer. */
    loseAcks(isLost: boolean) {
      acks = !isLost;
    },
    redeliver() {
      for (const envelope of waiting.values()) deliver(envelope);
    },
    /** As Slack ends a connection: `warning` comes ten seconds before it would. */
    disconnect(why: "warning" | "refresh_requested" | "link_disabled") {
      for (const socket of sockets)
        socket.send(JSON.stringify({ type: "disconnect", reason: why, debug_info: { host: "applink" } }));
    },
    /** The line goes dead without a word. */
    cut() {
      for (const socket of sockets) socket.terminate();
    },
    revoke() {
      isRevoked = true;
      this.disconnect("link_disabled");
    },
  };
}
