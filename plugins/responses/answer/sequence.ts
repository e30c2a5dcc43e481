/** The events of a turn as the events of a stream. Pure: the same turn events give the same stream events. */
import type { TurnEvent, TurnRecord } from "../../../kernel/plugin.ts";
import { formatItemId } from "./id.ts";
import { functionCall, isSaid, message, textPart } from "./response.ts";
import type { ItemStatus, ResponseObject, StreamEvent } from "./wire.ts";

export interface Sequence {
  /** What to send before the turn's first event. */
  open(): readonly StreamEvent[];
  next(event: TurnEvent): readonly StreamEvent[];
  /** All that follows the opening, of a turn that has ended. */
  replay(record: TurnRecord): readonly StreamEvent[];
}

interface Place {
  readonly item_id: string;
  readonly output_index: number;
  readonly content_index: 0;
}

const deltaAt = (place: Place, delta: string): StreamEvent => ({
  type: "response.output_text.delta",
  ...place,
  delta,
  logprobs: [],
});

export function createSequence(
  turn: string,
  head: ResponseObject,
  finish: (record: TurnRecord) => ResponseObject,
): Sequence {
  let items = 0;
  let speaking: { readonly item: string; readonly place: Place; text: string } | undefined;

  function speak(item: string, delta: string): readonly StreamEvent[] {
    // An empty message is no output item, so it is not announced either.
    if (delta === "") return [];
    if (speaking?.item === item) {
      speaking.text += delta;
      return [deltaAt(speaking.place, delta)];
    }
    const before = fallSilent();
    const output_index = items++;
    const place: Place = { item_id: formatItemId("msg", turn, output_index), output_index, content_index: 0 };
    speaking = { item, place, text: delta };
    return [
      ...before,
      {
        type: "response.output_item.added",
        output_index,
        item: message(turn, output_index, "", "in_progress"),
      },
      { type: "response.content_part.added", ...place, part: textPart("") },
      deltaAt(place, delta),
    ];
  }

  function fallSilent(status: ItemStatus = "completed"): readonly StreamEvent[] {
    if (speaking === undefined) return [];
    const { place, text } = speaking;
    const { output_index } = place;
    speaking = undefined;
    return [
      { type: "response.output_text.done", ...place, text, logprobs: [] },
      { type: "response.content_part.done", ...place, part: textPart(text) },
      {
        type: "response.output_item.done",
        output_index,
        item: message(turn, output_index, text, status),
      },
    ];
  }

  function call(record: TurnRecord): readonly StreamEvent[] {
    if (record.gate?.type !== "external_tool") return [];
    const index = items++;
    const done = functionCall(record.gate, index, "completed");
    const { id: item_id, name } = done;
    const { arguments: text } = done;
    return [
      {
        type: "response.output_item.added",
        output_index: index,
        item: functionCall(record.gate, index, "in_progress"),
      },
      { type: "response.function_call_arguments.delta", item_id, output_index: index, delta: text },
      {
        type: "response.function_call_arguments.done",
        item_id,
        output_index: index,
        name,
        arguments: text,
      },
      { type: "response.output_item.done", output_index: index, item: done },
    ];
  }

  function end(record: TurnRecord): readonly StreamEvent[] {
    const response = finish(record);
    switch (response.status) {
      case "completed":
        return [...fallSilent(), ...call(record), { type: "response.completed", response }];
      case "cancelled": {
        const last = response.output.find(({ id }) => id === speaking?.place.item_id);
        return [...fallSilent(last?.status), { type: "response.incomplete", response }];
      }
      default:
        // An item that was announced has to end, or clients wait for the rest of it.
        return [...fallSilent("incomplete"), { type: "response.failed", response }];
    }
  }

  return {
    open: () => [
      { type: "response.created", response: head },
      { type: "response.in_progress", response: head },
    ],
    next(event) {
      if (event.type === "text") return speak(event.item, event.delta);
      return event.type === "done" || event.type === "failed" ? end(event.record) : [];
    },
    replay: (record) => [
      ...record.items.filter(isSaid).flatMap(({ id, text }) => speak(id, text)),
      ...end(record),
    ],
  };
}
