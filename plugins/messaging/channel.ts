/** One open channel: while this node holds its lease it receives, deals with what came in, and sends. */
import { setTimeout as sleep } from "node:timers/promises";
import { oneAtATime } from "../../kernel/kit.ts";
import { Fault, reason } from "../../kernel/plugin.ts";
import type { Store } from "../store/services.ts";
import type { Counter } from "../telemetry/services.ts";
import { AlreadyDone, type InboxRow, openInbox } from "./inbox.ts";
import { LEASE_LOST, openLease } from "./lease.ts";
import { createLive, type Live } from "./live.ts";
import { type OwedRow, openOutbox } from "./outbox.ts";
import { createSender, type SenderParts, type SendTiming } from "./sender.ts";
import type { ChatService, Inbox } from "./services.ts";
import { createTurns, type TurnParts } from "./turns.ts";

export interface ChannelParts
  extends Omit<TurnParts, "inbox" | "outbox" | "service" | "onJob">,
    Pick<SenderParts, "delivery" | "counts"> {
  readonly store: Pick<Store, "node" | "signals">;
  readonly received: Counter;
  readonly timing: Timing;
}

export interface Timing extends SendTiming {
  readonly leaseMillis: number;
  /** How often the holder looks for what it was not told of. */
  readonly pollMillis: number;
  /** Before a connection that broke is made again; the last one counts for all later ones. */
  readonly reconnectMillis: readonly number[];
  /** Before a message that could not be dealt with is tried again. */
  readonly retryMillis: number;
  /** What is being sent has so long to come to its end when the service stops. */
  readonly stopMillis: number;
}

export type Channel = Awaited<ReturnType<typeof openChannel>>;

const MAX_LINES = 16;
const MAX_ROWS = 256;
const MAX_TRIES = 5;
const MAX_DETAIL_LENGTH = 300;

/** Nodes tell each other that something waits on a channel. */
export const topicOf = (channel: string): string => `messaging ${channel}`;

export async function openChannel(service: ChatService, parts: ChannelParts) {
  const { sql, store, log, timing, jobs } = parts;
  const { name } = service;
  const inbox = openInbox(sql, name, store.node.id);
  const outbox = openOutbox(sql, name, store.node.id);
  let live: Live | undefined;
  const onJob = (user: string) => live?.follow(user);
  const turns = createTurns({ ...parts, service, inbox, outbox, onJob });
  const askedOfTasks = new Set<string>();
  let wake: (jobs: readonly string[]) => void = () => {};

  async function hold(signal: AbortSignal): Promise<void> {
    // What is being sent outlives the connection for a moment.
    const sending = new AbortController();
    const sender = createSender({ ...parts, service, outbox, load: turns.load }, sending.signal);
    const dealing = createDealing(signal, () => sender.wake());
    const look = oneAtATime(async () => {
      live?.followOnly(await outbox.users());
      await fillAll();
      await turns.settleGates(signal);
      await turns.askTasks(askedOfTasks);
      await dealing.pump();
      sender.wake();
    });
    const lookSafely = () =>
      void look().catch((error: unknown) => log.error({ error, channel: name }, "messaging error, retrying"));
    const write = (markdown: string) => turns.write(markdown).parts[0];
    live = createLive({ ...parts, service, outbox, write, onNews: lookSafely }, signal);
    const poll = setInterval(lookSafely, timing.pollMillis).unref();
    wake = (ids) => void fillSome(ids).then(() => sender.wake(), lookSafely);
    try {
      await untilDone(() => sender.recover(), signal);
      lookSafely();
      await receive(signal, (added) => {
        parts.received.add({ channel: name }, added);
        dealing.pump().catch(lookSafely);
      });
    } finally {
      wake = () => {};
      clearInterval(poll);
      live.close();
      const late = setTimeout(
        () => sending.abort(),
        signal.reason === LEASE_LOST ? 0 : timing.stopMillis,
      ).unref();
      await dealing.idle();
      await look().catch(() => {});
      await sender.idle();
      clearTimeout(late);
      sending.abort();
    }
  }

  /** The store may be away at first. */
  async function untilDone(work: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        return void (await work());
      } catch (error) {
        log.error({ error, channel: name }, "messaging error, retrying");
        await pause(timing.retryMillis, signal);
      }
    }
  }

  async function receive(signal: AbortSignal, onNew: (added: number) => void): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const box: Inbox = {
        position: inbox.position,
        async accept(messages, position) {
          if (signal.aborted)
            throw new Fault("unavailable", "channel_stopped", `The channel ${name} is being stopped.`);
          const added = await inbox.accept(messages, position);
          failures = 0;
          if (added > 0) onNew(added);
        },
        report: ({ isConnected, detail = "" }) => report(isConnected, detail),
      };
      try {
        await service.receive(box, signal);
        if (signal.aborted) break;
        failures++;
      } catch (error) {
        if (signal.aborted) break;
        const isRefused = error instanceof Fault && error.kind === "forbidden";
        const words = reason(error);
        report(false, words);
        log.warn({ error, channel: name }, `the channel ${name} lost its connection: ${words}`);
        failures = isRefused ? timing.reconnectMillis.length : failures + 1;
      }
      const at = Math.min(Math.max(0, failures - 1), timing.reconnectMillis.length - 1);
      await pause(timing.reconnectMillis[at] ?? 1000, signal);
    }
    report(false, "stopped");
  }

  let reporting = Promise.resolve<unknown>(undefined);
  function report(isConnected: boolean, detail: string): void {
    const set = `UPDATE messaging_channels SET is_connected = ?, detail = ? WHERE name = ? AND node = ?`;
    const shown = detail.slice(0, MAX_DETAIL_LENGTH).toWellFormed();
    reporting = reporting
      .then(() => sql.run(set, isConnected ? 1 : 0, shown, name, store.node.id))
      .catch((error: unknown) => log.warn({ error, channel: name }, "a channel's state could not be stored"));
  }

  /** Deals with what came in: in order for each line, several lines at once. */
  function createDealing(signal: AbortSignal, onDone: () => void) {
    const busy = new Map<string, Promise<void>>();
    const failed = new Map<number, number>();
    const pump = oneAtATime(async () => {
      if (signal.aborted || busy.size >= MAX_LINES) return;
      const lines = new Map<string, InboxRow[]>();
      for (const row of await inbox.waiting(MAX_ROWS)) {
        if (busy.has(row.line)) continue;
        const known = lines.get(row.line);
        if (known) known.push(row);
        else if (lines.size + busy.size < MAX_LINES) lines.set(row.line, [row]);
      }
      for (const [line, rows] of lines) {
        const work = dealWith(rows)
          .catch((error: unknown) => log.error({ error, channel: name }, "messaging error, retrying"))
          .finally(() => {
            busy.delete(line);
            if (!signal.aborted) pump().catch(() => {});
          });
        busy.set(line, work);
      }
    });

    async function dealWith(rows: readonly InboxRow[]): Promise<void> {
      for (const row of rows) {
        if (signal.aborted) return;
        try {
          await turns.take(row);
        } catch (error) {
          if (error instanceof AlreadyDone) continue;
          const tries = (failed.get(row.seq) ?? 0) + 1;
          failed.set(row.seq, tries);
          const isAway = error instanceof Fault && error.kind === "unavailable";
          if (isAway || tries < MAX_TRIES) {
            await pause(timing.retryMillis, signal);
            throw error;
          }
          await turns.giveUp(row, error);
        }
        failed.delete(row.seq);
        onDone();
      }
    }

    return {
      pump,
      async idle() {
        await pump().catch(() => {});
        await Promise.all(busy.values());
      },
    };
  }

  const fill = (row: OwedRow) => turns.fill(row, async () => live?.settle(row.job));

  async function fillSome(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const row = await outbox.findOwed(id);
      if (row) await fill(row);
    }
  }

  /** Finds answers whose jobs completed without us hearing of it. */
  async function fillAll(): Promise<void> {
    for (let page = await outbox.owed(); page.length > 0; page = await outbox.owed(page.at(-1)?.job)) {
      for (const row of page) await fill(row);
    }
  }

  const listening = store.signals.listen(topicOf(name), (payload) => wake(payload === "" ? [] : [payload]));
  const stopListening = jobs.onCompleted((job) => {
    if (job.channel !== name) return;
    store.signals
      .send(topicOf(name), job.id)
      // The next look finds it.
      .catch(() => {});
  });
  await listening.ready;
  const lease = await openLease({
    sql,
    node: store.node,
    channel: name,
    log,
    leaseMillis: timing.leaseMillis,
    hold,
  });

  return {
    name,
    service,
    outbox,
    wake: () => wake([]),
    async close(): Promise<void> {
      stopListening();
      listening();
      await lease.stop();
      await reporting;
    },
  };
}

const pause = (millis: number, signal: AbortSignal): Promise<unknown> =>
  sleep(millis, undefined, { signal }).catch(() => {});
