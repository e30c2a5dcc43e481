/**
 * A call under way on a connection: it ends with an answer, at its deadline, or when it is cancelled. Where the server asks a person
 * in the middle of it, the call stays open and its time stands still until somebody has answered.
 */
import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import type { OpenCall } from "../session/link.ts";
import type { CallAnswer } from "../session/session.ts";

export type Step =
  | { readonly type: "answer"; readonly answer: CallAnswer }
  | { readonly type: "question"; readonly params: ElicitRequest["params"] };

export interface RunningCall {
  /** The next thing that happens. Rejects as the call does; `signal` cancels the call. */
  next(signal: AbortSignal | undefined): Promise<Step>;
  /** Answers the question that `next` brought. */
  reply(result: ElicitResult): void;
  /** True once its own time was up. */
  readonly isLate: boolean;
  abort(): void;
}

/** So long a person may take, where the server waits with the call open. */
export const HELD_MILLIS = 10 * 60_000;
const MOST_ROUNDS = 10;

interface Asked {
  readonly params: ElicitRequest["params"];
  answer(result: ElicitResult): void;
}

/** `begin`: registers the call with its connection and answers how it ends. */
export function startCall(
  timeoutMillis: number,
  begin: (call: OpenCall) => () => void,
  send: (signal: AbortSignal) => Promise<CallAnswer>,
): RunningCall {
  const stop = new AbortController();
  let left = timeoutMillis;
  let since = performance.now();
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  let rounds = 0;
  let waiting: Asked | undefined;
  let told = Promise.withResolvers<Step>();

  const late = () => {
    isLate = true;
    stop.abort(new Error("the time of the call is up"));
  };
  const run = () => {
    since = performance.now();
    clearTimeout(timer);
    timer = setTimeout(late, Math.max(0, left));
  };
  const pause = () => {
    left -= performance.now() - since;
    clearTimeout(timer);
    timer = setTimeout(() => {
      waiting?.answer({ action: "cancel" });
      stop.abort(new Error("nobody answered"));
    }, HELD_MILLIS).unref();
  };

  const end = begin({
    get isWaiting() {
      return waiting !== undefined;
    },
    ask(params, signal) {
      rounds++;
      if (waiting !== undefined || rounds > MOST_ROUNDS) return Promise.resolve({ action: "cancel" });
      const { promise, resolve } = Promise.withResolvers<ElicitResult>();
      waiting = { params, answer: resolve };
      signal.addEventListener("abort", () => resolve({ action: "cancel" }), { once: true });
      pause();
      told.resolve({ type: "question", params });
      return promise;
    },
  });

  run();
  const answered = send(stop.signal).finally(() => {
    clearTimeout(timer);
    end();
  });
  answered.catch(() => {});

  return {
    get isLate() {
      return isLate;
    },
    abort: () => stop.abort(new Error("the call is over")),
    async next(signal) {
      const cancel = () => stop.abort(new Error("the call was cancelled"));
      if (signal?.aborted === true) cancel();
      else signal?.addEventListener("abort", cancel, { once: true });
      // A server that ignores the end of the request must not keep the caller waiting.
      const { promise: stopped, reject } = Promise.withResolvers<never>();
      const giveUp = () => reject(stop.signal.reason as Error);
      if (stop.signal.aborted) giveUp();
      else stop.signal.addEventListener("abort", giveUp, { once: true });
      stopped.catch(() => {});
      try {
        const answer = answered.then((value): Step => ({ type: "answer", answer: value }));
        return await Promise.race([answer, told.promise, stopped]);
      } finally {
        signal?.removeEventListener("abort", cancel);
        stop.signal.removeEventListener("abort", giveUp);
      }
    },
    reply(result) {
      const { answer } = waiting ?? {};
      waiting = undefined;
      told = Promise.withResolvers<Step>();
      run();
      answer?.(result);
    },
  };
}
