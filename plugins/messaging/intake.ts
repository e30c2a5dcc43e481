/** Takes messages out of the inbox: in order for each line, several lines at once, and again if it failed. */
import { setTimeout as sleep } from "node:timers/promises";
import { oneAtATime } from "../../kernel/kit/concurrency.ts";
import { Fault } from "../../kernel/plugin.ts";
import { AlreadyDone, type InboxRow } from "./inbox.ts";
import { giveUp, type IncomingParts, takeMessage } from "./incoming-message.ts";

export interface IntakeParts extends IncomingParts {
  /** Called after each message that was dealt with. */
  onTaken(): void;
}

const MAX_LINES = 16;
const MAX_ROWS = 256;
const MAX_TRIES = 5;

export function createIntake(parts: IntakeParts, signal: AbortSignal) {
  const { inbox, service, log, timing } = parts;
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
      const work = takeLine(rows)
        .catch((error: unknown) => log.error({ error, channel: service.name }, "messaging error, retrying"))
        .finally(() => {
          busy.delete(line);
          if (!signal.aborted) pump().catch(() => {});
        });
      busy.set(line, work);
    }
  });

  async function takeLine(rows: readonly InboxRow[]): Promise<void> {
    for (const row of rows) {
      if (signal.aborted) return;
      try {
        await takeMessage(parts, row);
      } catch (error) {
        if (error instanceof AlreadyDone) continue;
        const tries = (failed.get(row.seq) ?? 0) + 1;
        failed.set(row.seq, tries);
        const isAway = error instanceof Fault && error.kind === "unavailable";
        if (isAway || tries < MAX_TRIES) {
          await sleep(timing.retryMillis, undefined, { signal }).catch(() => {});
          throw error;
        }
        await giveUp(parts, row, error);
      }
      failed.delete(row.seq);
      parts.onTaken();
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
