/** Signals between nodes: NOTIFY on the store's connections, LISTEN on one of its own, which is renewed when lost. */
import { createHash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { createListeners } from "../fleet/signals.ts";
import type { Signals } from "../services.ts";
import type { PostgresDatabase } from "./database.ts";
import { Client } from "./pool.ts";

const PROBE_MS = 5000;
const RETRY_MS = 250;

/** One statement for all that is sent in a moment, in order. */
const NOTIFY = `SELECT pg_notify(message ->> 0, message ->> 1)
  FROM json_array_elements(CAST(? AS json)) WITH ORDINALITY AS messages (message, place) ORDER BY place`;

interface QueuedSend {
  readonly messages: readonly (readonly [channel: string, text: string])[];
  resolve(): void;
  reject(error: unknown): void;
}

export function openSignals(
  database: PostgresDatabase,
  config: pg.ClientConfig,
  scope: string,
): Signals & { close(): Promise<void> } {
  const sender = randomBytes(6).toString("hex");
  const listeners = createListeners();
  const lost = new Set<() => void>();
  const assembly = createAssembly();
  let client: pg.Client | undefined;
  let connecting: Promise<void> | undefined;
  const closing = new AbortController();

  // A channel's name may have 63 bytes. Every role of the database may listen and notify, whatever tables it may read: who does
  // not know the scope cannot guess the name.
  const channelOf = (topic: string) =>
    `postern_${createHash("sha256").update(`${scope}\0${topic}`).digest("hex").slice(0, 40)}`;

  /** Channels whose LISTEN or UNLISTEN has not been sent. */
  const unsettled = new Set<string>();
  /** Those who wait until a channel is listened to. */
  const expected = new Map<string, PromiseWithResolvers<void>>();
  let isSettling = false;

  async function settle(): Promise<void> {
    // Channels that change in the same moment share a round trip.
    await undefined;
    while (client !== undefined && unsettled.size > 0) {
      const [wanted = [], unwanted = []] = [true, false].map((is) =>
        [...unsettled].filter((channel) => listeners.has(channel) === is),
      );
      unsettled.clear();
      const commands = [
        ...wanted.map((name) => `LISTEN ${name}`),
        ...unwanted.map((name) => `UNLISTEN ${name}`),
      ];
      await client.query(commands.join("; "));
      for (const name of wanted) {
        expected.get(name)?.resolve();
        expected.delete(name);
      }
    }
  }

  function expect(channel: string): void {
    const next = Promise.withResolvers<void>();
    next.promise.catch(() => {});
    expected.set(channel, next);
  }

  /** Nobody waits for longer than one attempt to connect. Those who ask after it wait for the next. */
  function failExpected(error: unknown): void {
    for (const [channel, { reject }] of expected) {
      expect(channel);
      reject(database.explain(error));
    }
  }

  /** A failure means that the connection is lost: everything is asked for again on the next. */
  function scheduleSettling(): void {
    if (isSettling) return;
    isSettling = true;
    const used = client;
    void settle()
      .catch(() => used?.connection.stream.destroy())
      .finally(() => {
        isSettling = false;
        if (client !== undefined && unsettled.size > 0) scheduleSettling();
      });
  }

  async function connect(isAgain: boolean): Promise<void> {
    while (!closing.signal.aborted) {
      const next = new Client({ ...config, pipeline: true, query_timeout: PROBE_MS });
      next.on("error", () => {});
      next.on("notification", ({ channel, payload = "" }) => receive(channel, payload));
      try {
        await next.connect();
        assembly.clear();
        client = next;
        for (const channel of listeners.topics()) unsettled.add(channel);
        await settle();
        next.once("end", () => reconnect(next));
        if (isAgain) for (const listener of lost) queueMicrotask(listener);
        return;
      } catch (error) {
        client = undefined;
        isAgain = true;
        failExpected(error);
        await next.end().catch(() => {});
        await sleep(RETRY_MS, undefined, { ref: false, signal: closing.signal }).catch(() => {});
      }
    }
  }

  function reconnect(ended: pg.Client): void {
    if (client !== ended || closing.signal.aborted) return;
    client = undefined;
    void ended.end().catch(() => {});
    connecting = connect(true);
  }

  // A connection that is gone without a word looks like one on which nothing happens.
  const timer = setInterval(() => {
    const asked = client;
    asked?.query("SELECT 1").catch(() => reconnect(asked));
  }, PROBE_MS).unref();

  function receive(channel: string, text: string): void {
    const message = assembly.take(channel, text);
    if (message !== undefined) listeners.tell(channel, message.payload, message.sender === sender);
  }

  let waiting: QueuedSend[] = [];
  let sending: Promise<void> | undefined;
  let count = 0;

  /** One after the other: two connections would be in no order. */
  async function drain(): Promise<void> {
    await undefined;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const messages = JSON.stringify(batch.flatMap((one) => one.messages));
      try {
        // Nothing that is sent has to survive a power cut.
        await database.transaction(async (tx) => tx.last(NOTIFY, messages), { flush: false });
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    sending = undefined;
  }

  return {
    async send(topic, payload, tx) {
      const channel = channelOf(topic);
      const messages = split(payload, sender, ++count).map((text) => [channel, text] as const);
      if (tx !== undefined) return tx.last(NOTIFY, JSON.stringify(messages));
      await new Promise<void>((resolve, reject) => {
        waiting.push({ messages, resolve, reject });
        sending ??= drain();
      });
    },
    listen(topic, listener) {
      const channel = channelOf(topic);
      const isNew = !listeners.has(channel);
      const stop = listeners.add(channel, listener, () => {
        expected.get(channel)?.resolve();
        expected.delete(channel);
        unsettled.add(channel);
        scheduleSettling();
      });
      if (isNew) {
        expect(channel);
        unsettled.add(channel);
        connecting ??= connect(false);
        scheduleSettling();
      }
      return Object.assign(stop, { ready: async () => expected.get(channel)?.promise });
    },
    onLost(listener) {
      lost.add(listener);
      return () => void lost.delete(listener);
    },
    async close() {
      closing.abort();
      clearInterval(timer);
      for (const { resolve } of expected.values()) resolve();
      await connecting;
      await sending;
      await client?.end();
    },
  };
}

// A notification of PostgreSQL holds fewer than 8000 bytes: a longer signal is sent in parts.
const PART_BYTES = 7900;
const HEAD_BYTES = 64;

/** Each part begins with its sender, the signal's number (two equal ones would be one), and which part of how many it is. */
function split(payload: string, sender: string, number: number): readonly string[] {
  // PostgreSQL's texts hold no NUL and no half of a pair.
  const bytes = Buffer.from(payload.replaceAll("\0", "\uFFFD").toWellFormed());
  const cuts = [0];
  while ((cuts.at(-1) as number) < bytes.length) {
    let cut = Math.min((cuts.at(-1) as number) + PART_BYTES - HEAD_BYTES, bytes.length);
    // Not within a character.
    while (cut < bytes.length && ((bytes[cut] as number) & 0xc0) === 0x80) cut--;
    cuts.push(cut);
  }
  const parts = Math.max(1, cuts.length - 1);
  return Array.from({ length: parts }, (_, index) => {
    const text = bytes.toString("utf8", cuts[index], cuts[index + 1] ?? bytes.length);
    return `${sender} ${number} ${index + 1}/${parts} ${text}`;
  });
}

const PART = /^(\w+) (\d+) (\d+)\/(\d+) ([\s\S]*)$/;

/** Puts parts together again. They come in order, those of one signal together. */
function createAssembly() {
  const incomplete = new Map<string, string>();
  return {
    take(channel: string, text: string): { readonly sender: string; readonly payload: string } | undefined {
      const [, sender, number, part, parts, content] = PART.exec(text) ?? [];
      // Somebody else's use of the channel.
      if (sender === undefined || content === undefined) return undefined;
      const key = `${channel} ${sender} ${number}`;
      const before = part === "1" ? "" : incomplete.get(key);
      if (before === undefined) return undefined;
      if (part !== parts) {
        incomplete.set(key, before + content);
        return undefined;
      }
      incomplete.delete(key);
      return { sender, payload: before + content };
    },
    /** After a gap: what was incomplete stays so. */
    clear: () => incomplete.clear(),
  };
}
