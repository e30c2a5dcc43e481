/**
 * One answer in spite of the network: tries again with growing pauses until the first token has come,
 * goes on to the next model when one gives up, and says so when nothing comes for long.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "../../../kernel/plugin.ts";
import type { Model, ModelPart, ModelRequest, StreamOptions } from "../services.ts";
import { FORMAT_REFUSED } from "./explain.ts";
import { inWords } from "./request.ts";

const TRIES = 4;
const PAUSE_MS = 500;
const STALL_MS = 20_000;
// A server that wants a longer pause than this is left alone; the person should not wait in front of it.
const MAX_PAUSE_SECS = 30;
const NEW_THOUGHT: readonly ModelPart[] = [{ type: "reasoning", delta: "\n\n" }];
const WORTH_ANOTHER_TRY = new Set(["model_limited", "model_error", "model_unreachable", "model_cut"]);

export async function* streamSteadily(
  models: readonly Model[],
  requestFor: (model: Model) => Promise<ModelRequest>,
  options: StreamOptions,
): AsyncGenerator<readonly ModelPart[]> {
  for (const [place, model] of models.entries()) {
    const next = models[place + 1];
    let request = await requestFor(model);
    options.onModel(model);
    for (let attempt = 1; ; attempt++) {
      let begun = false;
      let hasThought = false;
      const observed = options.observer.asking(model.name, request);
      const { traceparent } = observed;
      const asked = traceparent === undefined ? request : { ...request, traceparent };
      try {
        for await (const parts of watched(model.stream(asked, options.signal), options)) {
          options.alive();
          observed.received(parts);
          if (parts.length === 0) continue;
          // Thoughts are no answer yet: another try thinks again, below what was thought before.
          begun ||= parts.some(({ type }) => type !== "reasoning");
          hasThought = true;
          yield parts;
        }
        observed.ended();
        return;
      } catch (error) {
        observed.ended(codeOf(error, options.signal));
        if (begun || options.signal.aborted || !(error instanceof Fault)) throw error;
        if (error.code === FORMAT_REFUSED && request.format !== undefined) {
          request = inWords(request);
          continue;
        }
        const pause = pauseBefore(error, attempt, options.pauseMillis ?? PAUSE_MS);
        if (pause === undefined && next === undefined) throw error;
        if (hasThought) yield NEW_THOUGHT;
        if (pause !== undefined) {
          options.notice("model_retry", `${error.message} Retrying in ${Math.ceil(pause / 1000)} s.`);
          await sleep(pause, undefined, { signal: options.signal });
        } else {
          options.notice("model_failover", `${error.message} Continuing with ${next?.name.name}.`);
          break;
        }
      }
    }
  }
}

function codeOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return "cancelled";
  return error instanceof Fault ? error.code : "internal";
}

function pauseBefore(error: Fault, attempt: number, first: number): number | undefined {
  if (attempt >= TRIES || !WORTH_ANOTHER_TRY.has(error.code)) return undefined;
  if (error.retryAfterSecs !== undefined) {
    return error.retryAfterSecs > MAX_PAUSE_SECS ? undefined : error.retryAfterSecs * 1000;
  }
  // Up to a quarter more, so that many turns do not come back in the same moment.
  return first * 2 ** (attempt - 1) * (1 + Math.random() / 4);
}

/** The parts as they come; an abort ends the wait even where the model does not look at its signal. */
async function* watched(
  answer: AsyncIterable<readonly ModelPart[]>,
  { signal, notice, stallMillis = STALL_MS }: StreamOptions,
): AsyncGenerator<readonly ModelPart[]> {
  const iterator = answer[Symbol.asyncIterator]();
  let giveUp = (_: unknown): void => {};
  const onAbort = () => giveUp(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const stalled = setInterval(() => {
    notice("model_stalled", `No output from the model for ${stallMillis / 1000} s; still waiting.`);
  }, stallMillis);
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await new Promise<IteratorResult<readonly ModelPart[]>>((resolve, reject) => {
        giveUp = reject;
        iterator.next().then(resolve, reject);
      });
      if (done === true) return;
      stalled.refresh();
      yield value;
    }
  } finally {
    clearInterval(stalled);
    signal.removeEventListener("abort", onAbort);
    // Not awaited: a model that hangs would hold the turn.
    void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}
