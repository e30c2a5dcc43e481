/** What Slack sends over the socket, as messages of ours. Pure. */
import { isRecord } from "../../kernel/kit/text.ts";
import type { IncomingFile, IncomingMessage, QuotedText } from "../messaging/services.ts";

/** Who we are at Slack. */
export interface Self {
  readonly team: string;
  readonly user: string;
  readonly bot: string;
}

/** A message that came in, with the person whose name can be looked up. */
export interface Received {
  readonly message: IncomingMessage;
  readonly user: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Those that people write. Others tell of joins, topics and the like. */
const SUBTYPES = new Set(["", "file_share", "thread_broadcast", "me_message"]);

/** Returns nothing for what needs no answer: it is only acknowledged. */
export function readEnvelope(type: string, body: unknown, self: Self): Received | undefined {
  if (!isRecord(body)) return undefined;
  if (type === "events_api")
    return isRecord(body["event"]) ? readEvent(body["event"], body, self) : undefined;
  if (type === "interactive") return readPress(body, self);
  return type === "slash_commands" ? readCommand(body, self) : undefined;
}

/** A chat, or one of its threads: where an answer goes. */
function conversationOf(channel: string, thread: string): string {
  return thread === "" ? channel : `${channel}:${thread}`;
}

export function targetOf(conversation: string): { readonly channel: string; readonly thread_ts?: string } {
  const [channel = "", thread] = conversation.split(":");
  return thread === undefined ? { channel } : { channel, thread_ts: thread };
}

function readEvent(event: Fields, body: Fields, self: Self): Received | undefined {
  const type = text(event["type"]);
  if (type !== "message" && type !== "app_mention") return undefined;
  const isChange = text(event["subtype"]) === "message_changed";
  const written = isChange && isRecord(event["message"]) ? event["message"] : event;
  const subtype = text(written["subtype"]);
  const [channel, ts, user] = [text(event["channel"]), text(written["ts"]), text(written["user"])];
  const isBots = written["bot_id"] !== undefined || user === self.user;
  if (!SUBTYPES.has(subtype) || isBots || channel === "" || ts === "" || user === "") return undefined;
  const edited = isRecord(written["edited"]) ? text(written["edited"]["ts"]) : "";
  const previous = isRecord(event["previous_message"]) ? text(event["previous_message"]["text"]) : undefined;
  const given = text(written["text"]);
  // A preview of a link that was added later changes a message, too.
  if (isChange && (edited === "" || previous === given)) return undefined;

  const isGroup = text(event["channel_type"]) !== "im" && !channel.startsWith("D");
  // An answer in a channel begins a thread, so that others are not disturbed.
  const thread = text(written["thread_ts"]) || (isGroup ? ts : "");
  const id = `${channel}/${ts}`;
  const mention = `<@${self.user}>`;
  return {
    user,
    message: {
      id: isChange ? `${id}/${edited}` : id,
      conversation: conversationOf(channel, thread),
      sender: { id: senderId(written, body, user, self) },
      isGroup,
      isMention: isGroup && given.includes(mention),
      text: plainText(given.replaceAll(mention, "")).trim(),
      quoted: readQuotes(written["attachments"], self),
      files: readFiles(written["files"]),
      sentAt: timeOf(ts),
      ...(isChange && { edits: id }),
    },
  };
}

function readPress(body: Fields, self: Self): Received | undefined {
  const [action] = Array.isArray(body["actions"]) ? (body["actions"] as unknown[]) : [];
  const { user: by, channel: place, message } = body;
  if (text(body["type"]) !== "block_actions") return undefined;
  if (!isRecord(action) || !isRecord(by) || !isRecord(place) || !isRecord(message)) return undefined;
  const [channel, user, value] = [text(place["id"]), text(by["id"]), text(action["value"])];
  const at = text(action["action_ts"]);
  if (channel === "" || user === "" || value === "" || at === "") return undefined;
  return {
    user,
    message: {
      id: `${channel}/${text(message["ts"])}/pressed/${user}/${at}`,
      conversation: conversationOf(channel, text(message["thread_ts"])),
      sender: { id: senderId({ user_team: by["team_id"] }, {}, user, self) },
      isGroup: !channel.startsWith("D"),
      isMention: true,
      text: "",
      pressed: value,
      sentAt: timeOf(at),
    },
  };
}

/** `/postern new` is the command `new`: Slack keeps what begins with a slash to itself. */
function readCommand(body: Fields, self: Self): Received | undefined {
  const [channel, user, trigger] = [
    text(body["channel_id"]),
    text(body["user_id"]),
    text(body["trigger_id"]),
  ];
  if (channel === "" || user === "" || trigger === "") return undefined;
  const given = plainText(text(body["text"])).trim();
  return {
    user,
    message: {
      id: `${channel}/command/${trigger}`,
      conversation: channel,
      sender: { id: senderId({ user_team: body["team_id"] }, {}, user, self) },
      isGroup: !channel.startsWith("D"),
      isMention: true,
      text: `/${given === "" ? "help" : given.replace(/^\//, "")}`,
    },
  };
}

/** An id of Slack's is one person's only within a workspace, and a shared channel has people of several. */
function senderId(written: Fields, body: Fields, user: string, self: Self): string {
  const team = text(written["user_team"]) || text(written["team"]) || text(body["team_id"]) || self.team;
  return `${team}.${user}`;
}

function readFiles(files: unknown): readonly IncomingFile[] {
  if (!Array.isArray(files)) return [];
  return (files as unknown[]).filter(isRecord).flatMap((file) => {
    const [id, size] = [text(file["id"]), file["size"]];
    // Those that Slack only links to are somewhere else.
    if (id === "" || file["is_external"] === true || text(file["mode"]) === "tombstone") return [];
    const mime = text(file["mimetype"]);
    return [
      {
        ref: id,
        name: text(file["name"]) || text(file["title"]) || id,
        ...(mime !== "" && { mime }),
        ...(typeof size === "number" && { bytes: size }),
      },
    ];
  });
}

/** Messages that somebody passed on, and what other apps attached. */
function readQuotes(attachments: unknown, self: Self): readonly QuotedText[] {
  if (!Array.isArray(attachments)) return [];
  return (attachments as unknown[]).filter(isRecord).flatMap((one) => {
    const said = plainText(text(one["text"]) || text(one["fallback"])).trim();
    const by = text(one["author_name"]) || text(one["author_id"]) || text(one["service_name"]) || "somebody";
    const isOurs = text(one["author_id"]) === self.user;
    return said === "" ? [] : [{ by, text: said, ...(isOurs && { isOurs }) }];
  });
}

const ESCAPES: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };

/** Slack's own marks for people, channels and links as a person would type them. */
function plainText(given: string): string {
  return given
    .replace(/<([^<>]*)>/g, (_whole, inside: string) => readMark(inside))
    .replace(/&(?:lt|gt|amp);/g, (mark) => ESCAPES[mark] ?? mark);
}

function readMark(inside: string): string {
  const at = inside.indexOf("|");
  const [target, label] = at === -1 ? [inside, ""] : [inside.slice(0, at), inside.slice(at + 1)];
  if (/^[@#]/.test(target)) return `${target[0]}${label.replace(/^[@#]/, "") || target.slice(1)}`;
  if (target.startsWith("!")) return label || `@${target.slice(1)}`;
  const address = target.replace(/^mailto:/, "");
  // Slack makes links of what looks like one: the label is what was typed.
  if (label === "" || label === address) return address;
  return target.replace(/^https?:\/\//, "") === label ? label : `${label} (${address})`;
}

function timeOf(ts: string): string | undefined {
  const millis = Number(ts) * 1000;
  return Number.isFinite(millis) ? new Date(millis).toISOString() : undefined;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
