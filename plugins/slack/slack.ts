/** Slack as a chat service: what people write there comes in by a socket, and answers leave by its Web API. */
import type { Block, ConversationsHistoryResponse, WebClient } from "@slack/web-api";
import { isRecord, tryRecord } from "../../kernel/kit/text.ts";
import { Fault, type Log, reason } from "../../kernel/plugin.ts";
import type { ChatService, OutgoingMessage, SentMessage } from "../messaging/services.ts";
import { createClient, tokenFault, whyNotDone } from "./client.ts";
import { holdConnection } from "./connection.ts";
import { readEnvelope, type Self, targetOf } from "./events.ts";
import { SCOPES } from "./manifest.ts";
import { APP_TOKEN, BOT_TOKEN, type SlackSettings } from "./settings.ts";

/** Marks a message of ours with its key, which Slack keeps beside it and people do not see. */
const METADATA = "postern_message";
const PAGE_SIZE = 200;
const MAX_PAGES = 10;
/** What was sent longer ago is not looked for. */
const LOOK_BACK_MS = 7 * 24 * 3600 * 1000;
const MAX_BUTTON_CHARACTERS = 75;
const MAX_FILE_BYTES = 50 * 1024 * 1024;
const TRANSFER_TIMEOUT_MS = 120_000;
const NAME_TIMEOUT_MS = 1500;
const MAX_NAMES = 1000;

type History = NonNullable<ConversationsHistoryResponse["messages"]>;

export interface SlackParts {
  readonly settings: SlackSettings;
  readonly log: Log;
  /** For the start-up table and the status. */
  announce(detail: string): void;
}

export function createSlack({ settings, log, announce }: SlackParts): ChatService {
  const client = createClient(settings, log);
  const { outbound } = client;
  const web = (signal: AbortSignal) => client.as(settings.botToken, signal);
  /** Aborted when Slack refuses our token to a message, so that the connection tells it too. */
  let refused = new AbortController();

  async function signIn(signal: AbortSignal) {
    try {
      const {
        team_id = "",
        user_id = "",
        bot_id = "",
        team,
        user,
        url,
        ...rest
      } = await web(signal).auth.test();
      const scopes = rest.response_metadata?.scopes ?? [];
      return { self: { team: team_id, user: user_id, bot: bot_id }, team, user, url, scopes };
    } catch (error) {
      throw tokenFault(error, BOT_TOKEN) ?? unreachable(error);
    }
  }

  const names = new Map<string, string | undefined>();
  /** A name is for people to read: a message never waits long for one. */
  async function nameOf(user: string, signal: AbortSignal): Promise<string | undefined> {
    if (names.has(user)) return names.get(user);
    if (names.size >= MAX_NAMES) names.clear();
    const limit = AbortSignal.any([signal, AbortSignal.timeout(NAME_TIMEOUT_MS)]);
    const found = await web(limit)
      .users.info({ user })
      .catch((error: unknown) => void log.debug(`the name of a Slack user was not found: ${reason(error)}`));
    const name = found?.user?.profile?.display_name || found?.user?.real_name || found?.user?.name;
    names.set(user, name);
    return name;
  }

  async function receive(...[inbox, signal]: Parameters<ChatService["receive"]>): Promise<void> {
    refused = new AbortController();
    const { self, team, user } = await signIn(signal);
    const tell = (isConnected: boolean, detail: string) => {
      announce(detail);
      inbox.report({ isConnected, detail });
    };
    await holdConnection({
      settings,
      client,
      log,
      signal: AbortSignal.any([signal, refused.signal]),
      onConnected: () => tell(true, `@${user} in ${team}`),
      onDisconnected: () => tell(false, `connecting to ${team} again`),
      async take(type, body) {
        const received = readEnvelope(type, body, self);
        if (received === undefined) return;
        const name = await nameOf(received.user, signal);
        const { message } = received;
        await inbox.accept([{ ...message, sender: { ...message.sender, ...(name && { name }) } }]);
      },
    });
    if (refused.signal.aborted && !signal.aborted) throw refused.signal.reason;
  }

  async function post(message: OutgoingMessage, signal: AbortSignal): Promise<SentMessage> {
    const { channel, thread_ts } = targetOf(message.conversation);
    const { ts = "" } = await web(signal).chat.postMessage({
      channel,
      ...(thread_ts !== undefined && { thread_ts }),
      ...contentOf(message),
      unfurl_links: false,
      unfurl_media: false,
    });
    return { id: JSON.stringify({ channel, ts }) };
  }

  /** A message with files is several for Slack. A file is shared by its name once, whatever was shared before. */
  async function shareFiles(
    message: OutgoingMessage,
    { id }: SentMessage,
    known: History,
    signal: AbortSignal,
  ): Promise<void> {
    const { channel, thread_ts } = targetOf(message.conversation);
    const { ts: since = "0" } = tryRecord(id) as { ts?: string };
    const shared = known
      .filter(({ ts = "" }) => Number(ts) > Number(since))
      .flatMap(({ files = [] }) => files.map(({ name }) => name));
    const slack = web(signal);
    for (const { name, data } of message.files ?? []) {
      const at = shared.indexOf(name);
      if (at !== -1) {
        shared.splice(at, 1);
        continue;
      }
      const { upload_url = "", file_id = "" } = await slack.files.getUploadURLExternal({
        filename: name,
        length: data.length,
      });
      const { status } = await outbound.send({
        method: "POST",
        url: new URL(upload_url),
        body: data,
        headers: { "content-type": "application/octet-stream" },
        timeoutMs: TRANSFER_TIMEOUT_MS,
        maxBytes: 64 * 1024,
        signal,
      });
      if (status !== 200) throw new Error(`Slack answered ${status} to the file ${name}`);
      const files: [{ id: string; title: string }] = [{ id: file_id, title: name }];
      await (thread_ts === undefined
        ? slack.files.completeUploadExternal({ files, channel_id: channel })
        : slack.files.completeUploadExternal({ files, channel_id: channel, thread_ts }));
    }
  }

  return {
    name: "slack",
    format: "slack",
    // A section holds no more than 3,000 characters.
    limits: {
      characters: 3000,
      fileBytes: MAX_FILE_BYTES,
      buttons: 5,
      perSecond: { conversation: 1, all: 5 },
      editMillis: 1500,
    },
    receive,
    async send(message, signal) {
      let sent: SentMessage;
      try {
        sent = await post(message, signal);
      } catch (error) {
        const fault = tokenFault(error, BOT_TOKEN);
        if (fault) refused.abort(fault);
        const why = whyNotDone(error);
        if (why === undefined) throw error;
        return why;
      }
      await shareFiles(message, sent, [], signal);
      return sent;
    },
    async lookUp(message, signal) {
      const { channel, thread_ts } = targetOf(message.conversation);
      const history = await readHistory(web(signal), channel, thread_ts);
      const found = history.find(({ metadata }) => {
        const { event_type, event_payload } = (metadata ?? {}) as Record<string, unknown>;
        return event_type === METADATA && isRecord(event_payload) && event_payload["key"] === message.key;
      });
      if (found?.ts === undefined) return undefined;
      const sent = { id: JSON.stringify({ channel, ts: found.ts }) };
      // The text arrived, and the connection may have ended before its files did.
      await shareFiles(message, sent, history, signal);
      return sent;
    },
    async edit({ id }, message, signal) {
      const { channel = "", ts = "" } = tryRecord(id) as { channel?: string; ts?: string };
      await web(signal).chat.update({ channel, ts, ...contentOf(message) });
    },
    async download({ ref, name }, most, signal) {
      const { file } = await web(signal).files.info({ file: ref });
      const url = URL.parse(file?.url_private_download ?? file?.url_private ?? "");
      if (url === null || !isSlacks(url, settings.apiUrl))
        throw new Fault("missing", "slack_file_missing", `Slack no longer has the file ${name}.`);
      const { status, headers, body } = await outbound.send({
        url,
        authorization: `Bearer ${settings.botToken}`,
        timeoutMs: TRANSFER_TIMEOUT_MS,
        maxBytes: most,
        signal,
      });
      // A token without the right is shown the page to sign in.
      const isPage = /^text\/html/.test(headers["content-type"] ?? "") && !/html/.test(file?.mimetype ?? "");
      if (status !== 200 || isPage)
        throw new Fault("forbidden", "slack_file_refused", `Slack did not hand over ${name} (${status}).`);
      return body;
    },
    async check(signal) {
      const { self, team, user, url, scopes } = await signIn(signal);
      const lacking = scopes.length === 0 ? [] : SCOPES.filter((scope) => !scopes.includes(scope));
      if (lacking.length > 0)
        throw new Fault(
          "forbidden",
          "slack_token_refused",
          `${BOT_TOKEN} lacks ${lacking.join(", ")}: add them at Slack under OAuth & Permissions, install the app again, then run "postern channel add slack".`,
        );
      await client
        .as(settings.appToken, signal)
        .apps.connections.open({})
        .catch((error: unknown) => {
          throw tokenFault(error, APP_TOKEN) ?? unreachable(error);
        });
      const app = await appOf(web(signal), self).catch(() => undefined);
      const link = app === undefined ? url : `https://slack.com/app_redirect?app=${app}&team=${self.team}`;
      return { detail: `@${user} in ${team}`, ...(link !== undefined && { link }) };
    },
  };
}

function contentOf({ key, text, buttons = [], files = [] }: OutgoingMessage) {
  const shown = text || files.map(({ name }) => name).join(", ");
  const section = { type: "section", text: { type: "mrkdwn", text: shown } };
  const actions = {
    type: "actions",
    elements: buttons.map((button, at) => ({
      type: "button",
      action_id: `postern_${at}`,
      text: { type: "plain_text", text: button.text.slice(0, MAX_BUTTON_CHARACTERS) },
      value: button.value,
    })),
  };
  return {
    text: shown,
    // An empty list takes the buttons away that were there before.
    blocks: (buttons.length === 0 ? [] : [section, actions]) as Block[],
    metadata: { event_type: METADATA, event_payload: { key } },
  };
}

/** The newest messages of a chat, or a thread's, with what was kept beside them. */
async function readHistory(web: WebClient, channel: string, thread: string | undefined): Promise<History> {
  const oldest = String((Date.now() - LOOK_BACK_MS) / 1000);
  const messages: History = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const query = {
      channel,
      oldest,
      limit: PAGE_SIZE,
      include_all_metadata: true,
      ...(cursor && { cursor }),
    };
    const page = await (thread === undefined
      ? web.conversations.history(query)
      : web.conversations.replies({ ...query, ts: thread }));
    messages.push(...((page.messages ?? []) as History));
    cursor = page.response_metadata?.next_cursor;
    if (!cursor) break;
  }
  return messages;
}

async function appOf(web: WebClient, { bot }: Self): Promise<string | undefined> {
  return (await web.bots.info({ bot })).bot?.app_id;
}

/** The token goes to Slack's own servers alone. */
function isSlacks({ protocol, hostname, host }: URL, apiUrl: URL): boolean {
  if (host === apiUrl.host) return protocol === apiUrl.protocol;
  return protocol === "https:" && /(^|\.)slack(-files)?\.com$/.test(hostname);
}

const unreachable = (error: unknown) =>
  new Fault("unavailable", "slack_unreachable", `Slack cannot be reached: ${reason(error)}`, {
    cause: error,
  });
