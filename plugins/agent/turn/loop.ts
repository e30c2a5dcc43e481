/** One turn: the model and its tools take turns until there is text to end with, or a gate to wait at. */

import { Fault } from "../../../kernel/plugin.ts";
import type { ModelMessage, ModelPart } from "../../models/services.ts";
import type { Ending } from "../threads/end.ts";
import type { PendingCall } from "../threads/thread-row.ts";
import { type Answering, type ModelAnswer, readAnswer } from "./answer/answer.ts";
import { type AnswerFormat, correction, misformatted } from "./answer/format.ts";
import { itemOf, type Settling, settle } from "./settle.ts";

export interface LoopRun extends Settling, Answering {
  readonly maxToolCalls: number;
  /** Calls of an earlier answer that this turn has to settle first. */
  readonly pending: readonly PendingCall[];
  /** The form that the answer has to have, if it is more than text. */
  readonly format: AnswerFormat | undefined;
  isSpent(): boolean;
  /** Takes what the person has said since, so that the next answer is to that too. */
  listen(): Promise<void>;
  /** One answer of the model to the thread as it now is, and to what is said besides. */
  ask(besides: readonly ModelMessage[]): Promise<AsyncIterable<readonly ModelPart[]>>;
}

export async function runLoop(run: LoopRun): Promise<Ending> {
  // The person's word was about a call of before, and what may be called now was not said of those.
  let gate = await settle({ ...run, refuse: () => undefined }, run.pending);
  let mistakes: readonly string[] = [];
  let besides: readonly ModelMessage[] = [];
  for (let called = 0; ; ) {
    if (gate !== undefined) return gate;
    run.signal.throwIfAborted();
    if (run.isSpent()) {
      if (mistakes.length > 0) throw misformatted(mistakes);
      return complete(run, "max_output_tokens");
    }
    await run.listen();
    const answer = await readAnswer(await run.ask(besides), run);
    const { calls } = answer;
    besides = [];
    if (calls.length === 0) {
      // Some servers call it an end where thoughts have used up the limit.
      const isCut = answer.incomplete === undefined && answer.text.trim() === "" && run.isSpent();
      if (isCut) return complete(run, "max_output_tokens");
      const wrong = await mistakesOf(run, answer);
      if (wrong.length === 0) return complete(run, answer.incomplete);
      // Asked once more, unless somebody has heard it already.
      if (!answer.wasHeld || mistakes.length > 0) throw misformatted(wrong);
      mistakes = wrong;
      besides = correction(answer.text, wrong);
      continue;
    }
    answer.release();
    // A caller's function is written down when it surfaces, which may be one a round trip (§3.2).
    const own = calls.filter(({ name }) => !run.toolbox.isExternal(name));
    await run.writer.put(...own.map((call) => itemOf(call, false)));
    called += calls.length;
    if (called > run.maxToolCalls) {
      const message = `The model made more than ${run.maxToolCalls} tool calls in one turn, so it was stopped.`;
      throw new Fault("turn", "too_many_tool_calls", message);
    }
    // A later call may bear the id of the one that was allowed.
    gate = await settle({ ...run, approved: undefined }, calls);
  }
}

/** Returns the mistakes of an answer that ends the turn; none if it can end. */
async function mistakesOf({ format, signal }: LoopRun, answer: ModelAnswer): Promise<readonly string[]> {
  const { text, incomplete, wasHeld } = answer;
  if (text.trim() === "" && incomplete === undefined)
    throw new Fault("turn", "empty_answer", "The model returned an empty answer. Try again, or rephrase.");
  // One that was cut cannot fit.
  const isJudged = format !== undefined && incomplete === undefined;
  const judged = isJudged ? await format.judge(text, wasHeld, signal) : { text, mistakes: [] };
  if (judged.mistakes.length === 0) answer.release(judged.text);
  return judged.mistakes;
}

function complete({ required }: LoopRun, incomplete: Ending["incomplete"]): Ending {
  required.assertNoneFailed();
  return { status: "completed", incomplete };
}
