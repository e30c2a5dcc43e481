/** The service: the channels that are open here, and what operators ask about all of them. */
import { Fault, type Services, type Transaction } from "../../kernel/plugin.ts";
import type { Telemetry } from "../telemetry/services.ts";
import { type OpenChannel, openChannel } from "./channel.ts";
import { createPictures } from "./charts/pictures.ts";
import { createOffers, type StoredState } from "./offers.ts";
import { openLetters, openOutbox } from "./outbox.ts";
import { type SharedParts, type Timing, topicOf, type UsedServices } from "./parts.ts";
import { createRequests, describeFull } from "./requests.ts";
import type { Messaging } from "./services.ts";
import type { MessagingSettings } from "./settings.ts";
import { DEAD_LETTERS, OLD_MESSAGES } from "./tables.ts";

export interface MessagingParts extends UsedServices {
  readonly config: MessagingSettings;
  readonly settings: Services["settings"];
  readonly telemetry: Telemetry;
  /** False for a command beside the service: it holds no connection. */
  readonly isServing: boolean;
  readonly timing?: Partial<Timing>;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Repeats of older messages are not known as such, and older dead letters are gone. */
const KEPT_DAYS = 90;

const TIMING: Timing = {
  leaseMillis: 10 * SECOND,
  pollMillis: 5 * SECOND,
  reconnectMillis: [SECOND, 2 * SECOND, 5 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE],
  retryMillis: SECOND,
  stopMillis: 3 * SECOND,
  sendMillis: MINUTE,
  // About a day.
  backoffMillis: [
    ...[SECOND, 2 * SECOND, 5 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE],
    ...[30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR],
  ],
};

export interface OpenMessaging extends Messaging {
  /** Everything of an identity is the account's from now on, and what waited for that goes on. */
  give(tx: Transaction, from: string, to: string): Promise<void>;
  /** Forgets what is so old that it will not be repeated or asked for any more. */
  sweep(signal: AbortSignal): Promise<void>;
  /** The channels that are open here, in a line. */
  describe(): Promise<string>;
  close(): Promise<void>;
}

export function createMessaging(parts: MessagingParts): OpenMessaging {
  const { sql, store, log, telemetry, identities } = parts;
  const open = new Map<string, OpenChannel>();
  const requests = createRequests(sql, identities);
  const pictures = createPictures();
  const letters = openLetters(sql);
  const counter = (name: string, help: string) => telemetry.metrics.counter(name, help, ["channel"]);
  const shared: SharedParts = {
    ...parts,
    requests,
    pictures,
    delivery: parts.config.delivery,
    timing: { ...TIMING, ...parts.timing },
    counts: {
      received: counter("postern_messages_received_total", "Chat messages that were accepted"),
      sent: counter("postern_messages_sent_total", "Chat messages that were sent"),
      failed: counter("postern_messages_failed_total", "Tries to send a chat message that failed"),
      repeated: counter(
        "postern_messages_repeated_total",
        "Chat messages sent again because it was unknown whether they had been",
      ),
    },
  };

  const gauge = (name: string, help: string, read: (state: StoredState) => number) =>
    telemetry.metrics.gauge(
      name,
      help,
      async () =>
        (await readStates()).map((state) => ({ labels: { channel: state.name }, value: read(state) })),
      ["channel"],
    );
  gauge("postern_messages_waiting", "Chat messages that wait to be sent", ({ waiting }) => waiting);
  gauge("postern_messages_dead", "Chat messages that could not be sent", ({ dead }) => dead);
  gauge(
    "postern_messages_oldest_seconds",
    "How long the oldest chat message has waited to be sent",
    (state) =>
      state.oldestWaitingAt === undefined
        ? 0
        : Math.max(0, (Date.now() - Date.parse(state.oldestWaitingAt)) / 1000),
  );
  gauge(
    "postern_channel_connected",
    "Whether a chat channel is connected to its service",
    ({ isConnected }) => (isConnected ? 1 : 0),
  );

  /** Wakes the node that holds the channel. */
  const wake = (channel: string): Promise<void> => store.signals.send(topicOf(channel), "").catch(() => {});

  const openService: Messaging["open"] = async (service) => {
    if (open.has(service.name))
      throw new Fault("invalid", "channel_exists", `The channel ${service.name} is open already.`);
    if (!parts.isServing) return async () => {};
    const channel = await openChannel(service, shared);
    open.set(service.name, channel);
    return async () => {
      open.delete(service.name);
      await channel.close();
    };
  };

  async function readStates(): Promise<readonly StoredState[]> {
    const rows = await sql.all<ChannelRow>(
      `SELECT name, node, is_connected, detail, received_at, sent_at,
         (SELECT count(*) FROM messaging_outbox WHERE channel = messaging_channels.name AND status IN ('waiting', 'sending')) AS waiting,
         (SELECT min(created_at) FROM messaging_outbox WHERE channel = messaging_channels.name AND status IN ('waiting', 'sending')) AS oldest,
         (SELECT count(*) FROM messaging_outbox WHERE channel = messaging_channels.name AND status IN ('dead', 'unknown')) AS dead,
         (SELECT count(*) FROM messaging_requests WHERE channel = messaging_channels.name) AS requests
       FROM messaging_channels ORDER BY name`,
    );
    return rows.map((row) => ({
      name: row.name,
      ...(row.node === null ? {} : { node: row.node }),
      isConnected: row.node !== null && Number(row.is_connected) === 1,
      detail: row.detail,
      ...(row.received_at === null ? {} : { lastReceivedAt: row.received_at }),
      ...(row.sent_at === null ? {} : { lastSentAt: row.sent_at }),
      waiting: Number(row.waiting),
      ...(row.oldest === null ? {} : { oldestWaitingAt: row.oldest }),
      dead: Number(row.dead),
      requests: Number(row.requests),
    }));
  }

  return {
    open: openService,
    ...createOffers({ settings: parts.settings, open: openService, states: readStates, log }),
    draw: pictures.draw,
    list: letters.list,
    async retry(id) {
      const channel = await letters.retry(id);
      if (channel !== undefined) await wake(channel);
      return channel !== undefined;
    },
    drop: letters.drop,
    requests: requests.list,
    fullLists: async () => describeFull(await requests.list()),
    async sweep(signal) {
      await requests.sweep();
      const before = new Date(Date.now() - KEPT_DAYS * 24 * HOUR).toISOString();
      for (const rows of [OLD_MESSAGES, DEAD_LETTERS]) await store.pruneOld(rows, before, { signal });
    },
    async describe() {
      const states = (await readStates()).filter(({ name }) => open.has(name));
      return states
        .map(
          ({ name, isConnected, detail }) =>
            `${name} ${isConnected ? "connected" : `not connected: ${detail}`}`,
        )
        .join("; ");
    },
    pair: requests.pair,
    deny: requests.deny,

    async give(tx, from, to) {
      const sender = await requests.take(tx, from);
      await Promise.all([
        ...["messaging_inbox", "messaging_outbox", "messaging_conversations", "messaging_gates"].map(
          (table) => tx.run(`UPDATE ${table} SET "user" = ? WHERE "user" = ?`, to, from),
        ),
        tx.run(`UPDATE messaging_outbox SET status = 'owed' WHERE "user" = ? AND status = 'held'`, to),
      ]);
      if (sender === undefined) return;
      await openOutbox(sql, sender.channel, store.node.id).sayAside(
        tx,
        { ...sender, user: to },
        { parts: [{ text: "You are let in: what you write here is answered now." }] },
      );
      await store.signals.send(topicOf(sender.channel), "", tx);
    },

    async close() {
      await Promise.all([...open.values()].map((channel) => channel.close()));
      await pictures.close();
    },
  };
}

interface ChannelRow {
  readonly name: string;
  readonly node: string | null;
  readonly is_connected: number;
  readonly detail: string;
  readonly received_at: string | null;
  readonly sent_at: string | null;
  readonly waiting: number;
  readonly oldest: string | null;
  readonly dead: number;
  readonly requests: number;
}
