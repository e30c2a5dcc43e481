/** One turn: the model and its tools take turns until there is text to end with, or a gate to wait at. */
import { randomUUIDv7 } from "node:crypto";
import { Fault, type Mask, type ToolCall } from "../../../kernel/plugin.ts";
import type { ModelPart } from "../models/model.ts";
import { createRedactStream } from "../safety/redact.ts";
import type { TokenCount } from "../spending/cost.ts";
import type { Ending } from "./ending.ts";
import { itemOf, type Settling, settle } from "./settle.ts";

export interface LoopRun extends Settling {
  readonly maxToolCalls: number;
  /** Calls of an earlier answer that this turn has to settle first. */
  readonly pending: readonly ToolCall[];
  /** One answer of the model to the thread as it now is. */
  ask(): Promise<AsyncIterable<readonly ModelPart[]>>;
  count(tokens: TokenCount): void;
}

export async function runLoop(run: LoopRun): Promise<Ending> {
  let { pending: calls, approved } = run;
  for (let called = 0; ; ) {
    const gate = await settle({ ...run, approved }, calls);
    // The person's word was about that one call; a later one may bear the same id.
    approved = undefined;
    if (gate !== undefined) return gate;
    run.signal.throwIfAborted();
    calls = await answer(run);
    if (calls.length === 0) {
      run.required.assertNoneFailed();
      return { status: "completed" };
    }
    called += calls.length;
    if (called > run.maxToolCalls)
      throw new Fault(
        "turn",
        "too_many_tool_calls",
        `The model made more than ${run.maxToolCalls} tool calls in one turn, so it was stopped.`,
      );
  }
}

/** Streams one answer and stores it. What was said before a failure is stored too. */
async function answer({ writer, toolbox, mask, emit, ask, count }: LoopRun): Promise<readonly ToolCall[]> {
  const item = randomUUIDv7();
  const redactor = createRedactStream(mask);
  const calls: ToolCall[] = [];
  let text = "";
  const message = () => ({ type: "message", id: item, role: "assistant", text }) as const;
  const say = (...deltas: string[]): void => {
    const spoken = deltas.filter((delta) => delta !== "");
    if (spoken.length === 0) return;
    text += spoken.join("");
    writer.say(item, spoken, (delta) => emit({ type: "text", item, delta }));
  };
  try {
    for await (const parts of await ask()) {
      const deltas: string[] = [];
      for (const part of parts) {
        if (part.type === "text") deltas.push(redactor.push(part.delta));
        else if (part.type === "call") calls.push(ownCall(part.call, calls, mask));
        else if (part.type === "usage") count(part);
      }
      say(...deltas);
    }
  } finally {
    say(redactor.end());
    // Without calls the turn ends here, and its end writes the text along with everything else.
    if (text !== "") writer.hold(message());
  }
  if (calls.length === 0 && text.trim() === "")
    throw new Fault("turn", "empty_answer", "The model returned an empty answer. Try again, or rephrase.");
  // A caller's function is written down when it surfaces, which may be one a round trip (§3.2).
  const own = calls.filter(({ name }) => !toolbox.isExternal(name));
  if (calls.length > 0) await writer.put(...own.map((call) => itemOf(call, false)));
  return calls;
}

/** With an id of its own, arguments that are at least an empty object, and no known secret in it. */
function ownCall(call: ToolCall, others: readonly ToolCall[], mask: Mask): ToolCall {
  const isTaken = call.id === "" || others.some(({ id }) => id === call.id);
  return {
    id: isTaken ? `call_${randomUUIDv7().replaceAll("-", "")}` : call.id,
    name: call.name,
    params: call.params.trim() === "" ? "{}" : mask.hide(call.params),
  };
}
