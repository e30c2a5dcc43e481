/** Messages that a turn of their thread has taken. Whoever waits for their answer hears of that turn, and of its end. */
import type { TurnEvent, TurnRecord } from "../../../kernel/plugin.ts";
import { STOPPED } from "../threads/end.ts";
import type { OpenTurn } from "./stream.ts";

export type Taken = Extract<TurnEvent, { type: "taken" }>;

export function createHandover(readTurn: (user: string, turn: string) => Promise<TurnRecord | undefined>) {
  /** Messages of this node in turns of others, which have no stream here. */
  const elsewhere = new Map<OpenTurn, string>();

  function end(open: OpenTurn, record: TurnRecord): void {
    elsewhere.delete(open);
    open.stream.push(lastEventOf(record));
  }

  return {
    /** To a turn of this node. */
    give({ stream }: OpenTurn, event: Taken, by: OpenTurn): void {
      stream.push(event);
      void by.stream.record.then(() => stream.push(by.stream.events.at(-1) as TurnEvent));
    },
    /** To a turn of another node, which is read until it has ended. */
    giveAway(open: OpenTurn, by: string): void {
      const { input } = open.turn;
      const { text, attachments } = input.type === "message" ? input : { text: "" };
      open.stream.push({ type: "taken", turn: by, message: open.writer.id, text, attachments });
      elsewhere.set(open, by);
    },
    get isFollowing(): boolean {
      return elsewhere.size > 0;
    },
    async look(): Promise<void> {
      for (const [open, by] of [...elsewhere]) {
        const record = await readTurn(open.turn.user, by);
        const isOpen = record?.status === "queued" || record?.status === "running";
        // With its thread it is gone for good.
        if (!isOpen) end(open, record ?? { ...open.writer.record(), status: "cancelled" });
      }
    },
    stop(): void {
      const error = { code: STOPPED.code, message: STOPPED.message };
      for (const open of [...elsewhere.keys()])
        end(open, { ...open.writer.record(), status: "failed", error });
    },
  };
}

function lastEventOf(record: TurnRecord): TurnEvent {
  const { status, error } = record;
  if (status === "failed")
    return { type: "failed", code: "failed", message: "The turn failed.", ...error, record };
  return {
    type: "done",
    status: status === "waiting" || status === "cancelled" ? status : "completed",
    record,
  };
}
