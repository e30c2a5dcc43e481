/** One answer in spite of the network: tries again until the first token has come, and goes on to the next model. */
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "../../../kernel/plugin.ts";
import type { Model, ModelPart, ModelRequest, StreamOptions } from "../services.ts";
import { FORMAT_REFUSED, TOO_LONG } from "./explain.ts";
import { inWords } from "./request.ts";

const TRIES = 4;
const PAUSE_MS = 500;
const STALL_MS = 20_000;
// For a longer pause than this nobody waits while another model is left.
const MAX_PAUSE_SECS = 30;
const NEW_THOUGHT: readonly ModelPart[] = [{ type: "reasoning", delta: "\n\n" }];
const WORTH_ANOTHER_TRY = new Set(["model_limited", "model_error", "model_unreachable", "model_cut"]);

// A refusal may repeat numbers from the conversation: none that would make a model useless is kept.
const MIN_NAMED_WINDOW = 4096;

/** Models whose servers named a smaller window than is known of them. */
const smaller = new WeakMap<Model, Model>();

export async function* streamSteadily(
  models: readonly Model[],
  requestFor: (model: Model) => Promise<ModelRequest>,
  options: StreamOptions,
): AsyncGenerator<readonly ModelPart[]> {
  for (const [place, model] of models.entries()) {
    const next = models[place + 1];
    let fitting = smaller.get(model) ?? model;
    /** Undefined if the conversation does not fit this model and another one is left. */
    const fitted = async (): Promise<ModelRequest | undefined> => {
      try {
        return await requestFor(fitting);
      } catch (error) {
        if (next === undefined || !(error instanceof Fault) || error.code !== TOO_LONG) throw error;
        const words = `The conversation is too long for ${model.name.name}. Continuing with ${next.name.name}.`;
        options.notice("model_failover", words);
        return undefined;
      }
    };
    let request = await fitted();
    if (request === undefined) continue;
    options.onModel(model);
    for (let attempt = 1; request !== undefined; attempt++) {
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
          begun ||= parts.some(({ type }) => type === "text" || type === "call");
          hasThought ||= parts.some(({ type }) => type === "reasoning");
          const why = parts.find((part) => part.type === "finish")?.why;
          const isDeclined = why?.code === "model_declined" && next !== undefined;
          const isTooLong = why?.code === "model_window_full" && attempt < TRIES;
          if (why && !begun && (isDeclined || isTooLong)) {
            yield parts.filter(({ type }) => type === "usage");
            throw new Fault("turn", isTooLong ? TOO_LONG : why.code, why.message);
          }
          if (why) options.notice(why.code, why.message);
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
        if (error.code === TOO_LONG && attempt < TRIES) {
          options.notice("model_shortened", `${error.message} Asking again with less of the conversation.`);
          const named = namedWindow(error.message);
          const isNamed = named >= MIN_NAMED_WINDOW && named < fitting.window;
          // Without a number our estimate of tokens may have been too low for this conversation only.
          fitting = { ...model, window: isNamed ? named : Math.floor(fitting.window * 0.75) };
          if (isNamed) smaller.set(model, fitting);
          request = await fitted();
          continue;
        }
        const pause = pauseBefore(error, attempt, options, next === undefined);
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

/** The window that a refusal names; NaN if it names none. */
function namedWindow(words: string): number {
  const [, named] = /(?:maximum context length (?:is|of)|>)\s*(\d[\d,]{2,9})/.exec(words) ?? [];
  return Number(named?.replaceAll(",", ""));
}

function codeOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return "cancelled";
  return error instanceof Fault ? error.code : "internal";
}

function pauseBefore(
  error: Fault,
  attempt: number,
  { pauseMillis: first = PAUSE_MS, patienceSecs = MAX_PAUSE_SECS }: StreamOptions,
  isLast: boolean,
): number | undefined {
  if (attempt >= TRIES || !WORTH_ANOTHER_TRY.has(error.code)) return undefined;
  if (error.retryAfterSecs !== undefined) {
    const most = isLast ? patienceSecs : MAX_PAUSE_SECS;
    return error.retryAfterSecs > most ? undefined : error.retryAfterSecs * 1000;
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
