/** The events of a turn as the chunks of a completion. Pure: the same events give the same chunks. */
import type { ErrorEnvelope, HttpFault } from "../../../kernel/kit/http.ts";
import type { TurnEvent, TurnRecord } from "../../../kernel/plugin.ts";
import { isSaid, isThought } from "../resolve/history.ts";
import type { TakenRequest } from "../stored/requests.ts";
import { annotationsOf, callsFor, finishOf, headOf, posternOf, SEPARATOR, usageOf } from "./completion.ts";
import type { Form } from "./request.ts";
import type { Chunk, Delta, FinishReason, ToolCall } from "./wire.ts";

/** A chunk of the stream, or the error that ends it. */
export type Frame = Chunk | ErrorEnvelope;

export function createChunks(
  taken: TakenRequest,
  form: Form,
  failureOf: (record: TurnRecord) => HttpFault | undefined,
) {
  const head = headOf(taken, form);
  const thinking = createFlow();
  const speaking = createFlow();
  /** When JSON is asked for, a text that does not look like JSON is held back, and sent only if nothing follows it. */
  let held = "";
  let looks: Looks | undefined;
  let said = "";

  const chunkOf = (delta: Delta, finish_reason: FinishReason | null = null): Chunk => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...(form.includesUsage && { usage: null }),
  });

  const think = (item: string, delta: string): readonly Chunk[] =>
    delta === "" ? [] : [chunkOf({ reasoning_content: thinking.take(item, delta) })];

  function speak(item: string, delta: string): readonly Chunk[] {
    if (delta === "") return [];
    if (!form.isJson) return write(speaking.take(item, delta));
    if (!speaking.isIn(item)) {
      held = "";
      looks = undefined;
    }
    held += speaking.take(item, delta, "");
    looks ??= looksOf(delta);
    return looks === "json" ? release() : [];
  }

  function release(): readonly Chunk[] {
    const content = held;
    held = "";
    return content === "" ? [] : write(content);
  }

  function write(content: string): readonly Chunk[] {
    said += content;
    return [chunkOf({ content })];
  }

  function call(made: ToolCall, index: number): readonly Chunk[] {
    const begun =
      made.type === "function" ? { ...made.function, arguments: "" } : { ...made.custom, input: "" };
    const rest =
      made.type === "function"
        ? { index, function: { arguments: made.function.arguments } }
        : { index, custom: { input: made.custom.input } };
    return [
      chunkOf({ tool_calls: [{ index, id: made.id, type: made.type, [made.type]: begun }] }),
      chunkOf({ tool_calls: [rest] }),
    ];
  }

  function calls(record: TurnRecord): readonly Chunk[] {
    const made = callsFor(taken, record);
    if (!form.isLegacy) return made.flatMap(call);
    const [first] = made;
    if (first?.type !== "function") return [];
    const { name, arguments: params } = first.function;
    return [
      chunkOf({ function_call: { name, arguments: "" } }),
      chunkOf({ function_call: { arguments: params } }),
    ];
  }

  function end(record: TurnRecord): readonly Frame[] {
    const failure = failureOf(record);
    if (failure) return [failure.body];
    const x_postern = posternOf(record);
    const annotations = annotationsOf(record, said);
    const last = chunkOf(annotations.length > 0 ? { annotations } : {}, finishOf(form, record));
    const ending = form.includesUsage
      ? [last, { ...last, choices: [], usage: usageOf(record), x_postern }]
      : [{ ...last, x_postern }];
    return [...release(), ...calls(record), ...ending];
  }

  return {
    open: (): readonly Frame[] => [chunkOf({ role: "assistant", content: "", refusal: null })],
    next(event: TurnEvent): readonly Frame[] {
      if (event.type === "text") return speak(event.item, event.delta);
      if (event.type === "reasoning") return think(event.item, event.delta);
      return event.type === "done" || event.type === "failed" ? end(event.record) : [];
    },
    /** All frames after the opening of a turn that has ended. */
    replay: (record: TurnRecord): readonly Frame[] => [
      ...record.items.flatMap((item) => {
        if (isThought(item)) return think(item.id, item.text);
        return isSaid(item) ? speak(item.id, item.text) : [];
      }),
      ...end(record),
    ],
  };
}

type Looks = "json" | "words";

/** Returns undefined for white space alone. */
function looksOf(text: string): Looks | undefined {
  const first = text.trimStart().at(0);
  if (first === undefined) return undefined;
  return first === "{" || first === "[" ? "json" : "words";
}

/** Joins the texts of several items with a separator. */
function createFlow() {
  let current: string | undefined;
  return {
    isIn: (item: string): boolean => item === current,
    take(item: string, delta: string, between = SEPARATOR): string {
      const follows = current !== undefined && current !== item;
      current = item;
      return follows ? between + delta : delta;
    },
  };
}
