/** A call under way in a session. While the server asks a person, the call stays open and its clock stands still. */
import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import { unlessAborted } from "../session/failure.ts";
import type { CallAnswer } from "../session/session.ts";
import type { OpenCall } from "../session/sessions.ts";

type Step = CallAnswer | { readonly type: "question"; readonly params: ElicitRequest["params"] };

export type RunningCall = ReturnType<typeof startCall>;

/** The time a person has to answer while the server waits with the call open. */
export const QUESTION_TIMEOUT_MS = 10 * 60_000;
export const MAX_ROUNDS = 10;

/** `begin` registers the call with its session and returns a function that ends it. */
export function startCall(
  timeoutMs: number,
  begin: (call: OpenCall) => () => void,
  send: (signal: AbortSignal) => Promise<CallAnswer>,
) {
  const stop = new AbortController();
  let left = timeoutMs;
  let since = 0;
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  let rounds = 0;
  let answerQuestion: ((result: ElicitResult) => void) | undefined;
  let question = Promise.withResolvers<Step>();

  const run = () => {
    since = performance.now();
    clearTimeout(timer);
    timer = setTimeout(
      () => {
        isLate = true;
        stop.abort(new Error("the time of the call is up"));
      },
      Math.max(0, left),
    );
  };
  const pause = () => {
    left -= performance.now() - since;
    clearTimeout(timer);
    timer = setTimeout(() => {
      answerQuestion?.({ action: "cancel" });
      stop.abort(new Error("nobody answered"));
    }, QUESTION_TIMEOUT_MS).unref();
  };

  const end = begin({
    get isWaiting() {
      return answerQuestion !== undefined;
    },
    ask(params, signal) {
      rounds++;
      if (answerQuestion !== undefined || rounds > MAX_ROUNDS) return Promise.resolve({ action: "cancel" });
      const { promise, resolve } = Promise.withResolvers<ElicitResult>();
      answerQuestion = resolve;
      signal.addEventListener("abort", () => resolve({ action: "cancel" }), { once: true });
      pause();
      question.resolve({ type: "question", params });
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
    /** True once its own time was up. */
    get isLate(): boolean {
      return isLate;
    },
    abort: () => stop.abort(new Error("the call is over")),
    /** Returns the next answer or question. Rejects as the call does; `signal` cancels the call. */
    async next(signal: AbortSignal | undefined): Promise<Step> {
      const cancel = () => stop.abort(new Error("the call was cancelled"));
      if (signal?.aborted === true) cancel();
      else signal?.addEventListener("abort", cancel, { once: true });
      try {
        return await unlessAborted(Promise.race([answered, question.promise]), stop.signal);
      } finally {
        signal?.removeEventListener("abort", cancel);
      }
    },
    /** Replies to the question that `next` returned. */
    reply(result: ElicitResult): void {
      const answer = answerQuestion;
      answerQuestion = undefined;
      question = Promise.withResolvers<Step>();
      run();
      answer?.(result);
    },
  };
}
