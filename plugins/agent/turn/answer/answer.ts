/** One answer of the model: told and stored as it comes, without secrets. */

import { randomUUIDv7 } from "node:crypto";
import { tryJson } from "../../../../kernel/kit/text.ts";
import type { Mask, ToolCall, TurnEvent } from "../../../../kernel/plugin.ts";
import type { FinishReason, ModelPart, TokenCount } from "../../../models/services.ts";
import type { RunningWriter } from "../../threads/writing/writer.ts";
import { createRedactStream } from "./redact-stream.ts";

export interface Answering {
  readonly writer: RunningWriter;
  readonly mask: Mask;
  emit(event: TurnEvent): void;
  count(tokens: TokenCount): void;
  /** Whether the text of the answer that is coming is told only when it has been looked at. */
  holdsBack(): boolean;
}

export interface ModelAnswer {
  readonly text: string;
  /** Without one that was cut in the middle. */
  readonly calls: readonly ToolCall[];
  readonly incomplete: "max_output_tokens" | "content_filter" | undefined;
  readonly wasHeld: boolean;
  /** Tells the text that was held back, or what it is to be in its place. */
  release(text?: string): void;
}

/** Text before a failure is stored too. */
export async function readAnswer(
  answer: AsyncIterable<readonly ModelPart[]>,
  run: Answering,
): Promise<ModelAnswer> {
  const thoughts = createTelling(run, "reasoning");
  const speech = createTelling(run, "text");
  const calls: { readonly call: ToolCall; readonly isWhole: boolean }[] = [];
  let finish: FinishReason | undefined;
  let wasHeld: boolean | undefined;
  const askedAt = performance.now();
  let spokeAt: number | undefined;
  const keepMessage = (): void => {
    const text = speech.text();
    const needsModel = finish === "unable" && { needsModel: true };
    if (text !== "")
      run.writer.hold({ type: "message", id: speech.item, role: "assistant", text, ...needsModel });
  };
  try {
    for await (const parts of answer) {
      for (const part of parts) {
        if (part.type === "text") speech.push(part.delta);
        // Thoughts belong before what is said: those that come after it began have no place any more.
        else if (part.type === "reasoning") !speech.hasBegun() && thoughts.push(part.delta);
        else if (part.type === "call") calls.push(readCall(part.call, calls, run.mask));
        else if (part.type === "usage") run.count(part);
        else finish = part.reason;
      }
      if (speech.hasBegun()) {
        wasHeld ??= run.holdsBack();
        spokeAt ??= performance.now();
        thoughts.end();
      } else thoughts.tell();
      if (!wasHeld) speech.tell();
    }
  } finally {
    thoughts.end();
    const thought = thoughts.text();
    const millis = Math.round((spokeAt ?? performance.now()) - askedAt);
    if (thought.trim() !== "")
      run.writer.hold({ type: "reasoning", id: thoughts.item, text: thought, millis });
    // Without calls the turn ends here, and its end writes the text along with everything else.
    if (!wasHeld) {
      speech.end();
      keepMessage();
    }
  }
  const held = wasHeld ? speech.take() : undefined;
  const incomplete = incompleteFor(finish);
  const kept = incomplete === undefined ? calls : calls.filter(({ isWhole }) => isWhole);
  return {
    text: held ?? speech.text(),
    calls: incomplete === "content_filter" ? [] : kept.map(({ call }) => call),
    incomplete,
    wasHeld: held !== undefined,
    release(text = held) {
      if (held === undefined || text === undefined) return;
      speech.say(text);
      keepMessage();
    },
  };
}

function createTelling({ writer, mask, emit }: Answering, type: "text" | "reasoning") {
  const item = randomUUIDv7();
  const redactor = createRedactStream(mask);
  let text = "";
  let fresh: string[] = [];
  let hasBegun = false;

  const add = (delta: string): void => {
    if (delta !== "") fresh.push(delta);
  };
  /** Tells what was pushed since. */
  const tell = (): void => {
    if (fresh.length === 0) return;
    const deltas = fresh;
    fresh = [];
    text += deltas.join("");
    writer.say(item, deltas, (delta) => emit({ type, item, delta }), type);
  };

  return {
    item,
    push(delta: string): void {
      hasBegun = true;
      add(redactor.push(delta));
    },
    tell,
    end(): void {
      add(redactor.end());
      tell();
    },
    /** Returns what was pushed and not told, to its end. */
    take(): string {
      add(redactor.end());
      return fresh.splice(0).join("");
    },
    /** Skips the search for secrets. */
    say(given: string): void {
      add(given);
      tell();
    },
    hasBegun: () => hasBegun,
    text: () => text,
  };
}

/** With an id of its own, arguments that are at least an empty object, and no known secret in it. */
function readCall(
  { id, name, params }: ToolCall,
  others: readonly { readonly call: ToolCall }[],
  mask: Mask,
): { readonly call: ToolCall; readonly isWhole: boolean } {
  const isTaken = id === "" || others.some(({ call }) => call.id === id);
  const call = {
    id: isTaken ? `call_${randomUUIDv7().replaceAll("-", "")}` : id,
    name,
    params: params.trim() === "" ? "{}" : mask.hide(params),
  };
  return { call, isWhole: tryJson(params) !== undefined };
}

function incompleteFor(finish: FinishReason | undefined): ModelAnswer["incomplete"] {
  if (finish === "length") return "max_output_tokens";
  return finish === "content_filter" ? finish : undefined;
}
