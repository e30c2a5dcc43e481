/** Keeps a channel connected to its service, puts what comes in into the inbox, and notes how the connection is doing. */
import { setTimeout as sleep } from "node:timers/promises";
import { Fault, reason } from "../../kernel/plugin.ts";
import { CHAT_COMMANDS } from "./chat-commands.ts";
import type { ChannelParts } from "./parts.ts";
import type { Inbox } from "./services.ts";

const MAX_DETAIL_LENGTH = 300;

type ReceiverParts = Pick<ChannelParts, "service" | "inbox" | "sql" | "store" | "log" | "timing" | "counts">;

export function createReceiver({ service, inbox, sql, store, log, timing, counts }: ReceiverParts) {
  const { name } = service;
  let reporting = Promise.resolve<unknown>(undefined);
  function report(isConnected: boolean, detail: string): void {
    const set = `UPDATE messaging_channels SET is_connected = ?, detail = ? WHERE name = ? AND node = ?`;
    const shown = detail.slice(0, MAX_DETAIL_LENGTH).toWellFormed();
    reporting = reporting
      .then(() => sql.run(set, isConnected ? 1 : 0, shown, name, store.node.id))
      .catch((error: unknown) => log.warn({ error, channel: name }, "a channel's state could not be stored"));
  }

  return {
    /** Resolves when the signal has aborted. `onNew` is called after each commit that added messages. */
    async receive(signal: AbortSignal, onNew: () => void): Promise<void> {
      let failures = 0;
      const box: Inbox = {
        position: inbox.position,
        async accept(messages, position) {
          if (signal.aborted)
            throw new Fault("unavailable", "channel_stopped", `The channel ${name} is being stopped.`);
          const added = await inbox.accept(messages, position);
          failures = 0;
          if (added === 0) return;
          counts.received.add({ channel: name }, added);
          onNew();
        },
        commands: CHAT_COMMANDS,
        report: ({ isConnected, detail = "" }) => report(isConnected, detail),
      };
      while (!signal.aborted) {
        try {
          await service.receive(box, signal);
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
        await sleep(timing.reconnectMillis[at] ?? 1000, undefined, { signal }).catch(() => {});
      }
      report(false, "stopped");
    },
    /** Resolves when the state of the connection is stored. */
    idle: () => reporting,
  };
}
