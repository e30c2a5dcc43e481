/** A script performed as a turn: its pieces become events, kept so that a late listener misses none. */
import { randomUUID } from "node:crypto";
import { Fault, reason } from "../fault.ts";
import type { RunningTurn } from "../vocabulary/agent.ts";
import type { ModelName } from "../vocabulary/model.ts";
import type { Turn, TurnEvent, TurnRecord } from "../vocabulary/turn.ts";

/** Returns the pieces of text to say. If it throws before the first piece, `agent.run` rejects with that. */
export type Script = (turn: Turn) => Iterable<string> | AsyncIterable<string>;

export const MODEL: ModelName = { provider: "scripted", name: "contract" };

/** Runs to its end whether or not anybody listens. */
export function perform(
  begun: TurnRecord,
  script: ReturnType<Script>,
  signal: AbortSignal,
  tell: (event: TurnEvent) => void,
): Pick<RunningTurn, "record" | typeof Symbol.asyncIterator> {
  const events: TurnEvent[] = [];
  let wake = Promise.withResolvers<void>();
  const emit = (event: TurnEvent) => {
    events.push(event);
    tell(event);
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  const item = randomUUID();
  const play = async (): Promise<TurnRecord> => {
    let text = "";
    const ended = (more: Partial<TurnRecord>): TurnRecord => ({
      ...begun,
      items: [
        {
          type: "message",
          id: randomUUID(),
          role: "user",
          text: begun.input.type === "message" ? begun.input.text : "",
        },
        { type: "message", id: item, role: "assistant", text },
      ],
      completedAt: new Date().toISOString(),
      ...more,
    });
    emit({ type: "started", turn: begun.id, thread: begun.thread, model: MODEL });
    try {
      const pieces =
        Symbol.asyncIterator in script ? script[Symbol.asyncIterator]() : script[Symbol.iterator]();
      const stopped = new Promise<"stopped">((resolve) => {
        signal.addEventListener("abort", () => resolve("stopped"), { once: true });
      });
      for (;;) {
        const piece = await Promise.race([Promise.resolve(pieces.next()), stopped]);
        if (piece === "stopped" || signal.aborted) {
          const record = ended({ status: "cancelled" });
          emit({ type: "done", status: "cancelled", record });
          return record;
        }
        if (piece.done) break;
        text += piece.value;
        emit({ type: "text", item, delta: piece.value });
      }
      const record = ended({ status: "completed" });
      emit({ type: "done", status: "completed", record });
      return record;
    } catch (error) {
      const code = error instanceof Fault ? error.code : "internal";
      const message = error instanceof Fault ? reason(error) : "Something went wrong.";
      const record = ended({ status: "failed", error: { code, message } });
      emit({ type: "failed", code, message, record });
      return record;
    }
  };
  return {
    record: play(),
    async *[Symbol.asyncIterator]() {
      for (let at = 0; ; at++) {
        while (at >= events.length) await wake.promise;
        const event = events[at] as TurnEvent;
        yield event;
        if (event.type === "done" || event.type === "failed") return;
      }
    },
  };
}
