/** The events of a turn as the events of a stream. Pure: the same turn events give the same stream events. */
import type { ToolCall, TurnEvent, TurnItem, TurnRecord } from "../../../kernel/plugin.ts";
import { callsOf, isSaid, isThought } from "../resolve/history.ts";
import type { ItemStatus, ResponseObject, StreamEvent } from "../wire/format.ts";
import { formatItemId } from "../wire/id.ts";
import { callItem, citationsOf, message, reasoning, textPart, type View } from "./output.ts";

interface Open {
  readonly kind: "said" | "thought";
  readonly item: string;
  readonly index: number;
  readonly place: { readonly item_id: string; readonly output_index: number };
  text: string;
}

export function createSequence(
  turn: string,
  head: ResponseObject,
  view: View,
  finish: (record: TurnRecord) => ResponseObject,
) {
  const isQueued = head.status === "queued";
  let items = 0;
  const counts = { said: 0, thought: 0 };
  let open: Open | undefined;

  function speak(kind: Open["kind"], item: string, delta: string): readonly StreamEvent[] {
    // An empty item is no output, so it is not announced either.
    if (delta === "") return [];
    if (open?.item === item) {
      open.text += delta;
      return [deltaOf(open, delta)];
    }
    const before = closeItem();
    const index = counts[kind]++;
    const item_id = formatItemId(kind === "said" ? "msg" : "rs", turn, index);
    open = { kind, item, index, place: { item_id, output_index: items++ }, text: delta };
    return [...before, ...openItem(open), deltaOf(open, delta)];
  }

  function openItem({ kind, index, place }: Open): readonly StreamEvent[] {
    const { output_index } = place;
    return kind === "said"
      ? [
          { type: "response.output_item.added", output_index, item: message(turn, index, "", "in_progress") },
          { type: "response.content_part.added", ...place, content_index: 0, part: textPart("") },
        ]
      : [
          { type: "response.output_item.added", output_index, item: reasoning(turn, index, "", view) },
          { type: "response.reasoning_summary_part.added", ...place, summary_index: 0, part: summary("") },
        ];
  }

  function closeItem(status: ItemStatus = "completed", record?: TurnRecord): readonly StreamEvent[] {
    if (open === undefined) return [];
    const { kind, index, place, text } = open;
    const { output_index } = place;
    open = undefined;
    const cited = view.isOpen && record ? citationsOf(record.items, text) : [];
    return kind === "said"
      ? [
          ...cited.map((annotation, annotation_index) => ({
            type: "response.output_text.annotation.added" as const,
            ...place,
            content_index: 0 as const,
            annotation_index,
            annotation,
          })),
          { type: "response.output_text.done", ...place, content_index: 0, text, logprobs: [] },
          { type: "response.content_part.done", ...place, content_index: 0, part: textPart(text, cited) },
          {
            type: "response.output_item.done",
            output_index,
            item: message(turn, index, text, status, cited),
          },
        ]
      : [
          { type: "response.reasoning_summary_text.done", ...place, summary_index: 0, text },
          { type: "response.reasoning_summary_part.done", ...place, summary_index: 0, part: summary(text) },
          { type: "response.output_item.done", output_index, item: reasoning(turn, index, text, view) },
        ];
  }

  function call(given: ToolCall): readonly StreamEvent[] {
    const index = counts.said++;
    const output_index = items++;
    const done = callItem(turn, given, index, "completed", view);
    const place = { item_id: done.id, output_index };
    const written: readonly StreamEvent[] =
      done.type === "custom_tool_call"
        ? [
            { type: "response.custom_tool_call_input.delta", ...place, delta: done.input },
            { type: "response.custom_tool_call_input.done", ...place, input: done.input },
          ]
        : [
            { type: "response.function_call_arguments.delta", ...place, delta: done.arguments },
            {
              type: "response.function_call_arguments.done",
              ...place,
              name: done.name,
              arguments: done.arguments,
            },
          ];
    const begun = callItem(turn, given, index, "in_progress", view);
    return [
      { type: "response.output_item.added", output_index, item: begun },
      ...written,
      { type: "response.output_item.done", output_index, item: done },
    ];
  }

  function end(record: TurnRecord): readonly StreamEvent[] {
    const response = finish(record);
    switch (response.status) {
      case "completed":
        return [
          ...closeItem("completed", record),
          ...callsOf(record).flatMap(call),
          { type: "response.completed", response },
        ];
      case "cancelled":
      case "incomplete": {
        const last = response.output.find(({ id }) => id === open?.place.item_id);
        const status = last?.type === "message" ? last.status : undefined;
        return [
          ...closeItem(status, record),
          ...callsOf(record).flatMap(call),
          { type: "response.incomplete", response },
        ];
      }
      default:
        // An item that was announced has to end, or clients wait for it.
        return [...closeItem("incomplete", record), { type: "response.failed", response }];
    }
  }

  function replayItem(item: TurnItem): readonly StreamEvent[] {
    if (isSaid(item)) return piecesOf(item).flatMap((delta) => speak("said", item.id, delta));
    if (!view.isOpen || !isThought(item)) return [];
    return piecesOf(item).flatMap((delta) => speak("thought", item.id, delta));
  }

  return {
    /** The events before the turn has begun. */
    open: (): readonly StreamEvent[] => [
      { type: "response.created", response: head },
      { type: isQueued ? "response.queued" : "response.in_progress", response: head },
    ],
    begin: (): readonly StreamEvent[] =>
      isQueued ? [{ type: "response.in_progress", response: { ...head, status: "in_progress" } }] : [],
    next(event: TurnEvent): readonly StreamEvent[] {
      if (event.type === "text") return speak("said", event.item, event.delta);
      if (event.type === "reasoning") return view.isOpen ? speak("thought", event.item, event.delta) : [];
      return event.type === "done" || event.type === "failed" ? end(event.record) : [];
    },
    /** All events after the beginning of a turn that has ended. */
    replay: (record: TurnRecord): readonly StreamEvent[] => [
      ...record.items.flatMap(replayItem),
      ...end(record),
    ],
  };
}

function deltaOf({ kind, place }: Open, delta: string): StreamEvent {
  return kind === "said"
    ? { type: "response.output_text.delta", ...place, content_index: 0, delta, logprobs: [] }
    : { type: "response.reasoning_summary_text.delta", ...place, summary_index: 0, delta };
}

const summary = (text: string) => ({ type: "summary_text", text }) as const;

/** A text in the pieces in which it was first sent, if they are known. */
function piecesOf({
  text,
  pieces = [],
}: Extract<TurnItem, { type: "message" | "reasoning" }>): readonly string[] {
  let from = 0;
  const sent = pieces.map((length) => {
    from += length;
    return text.slice(from - length, from);
  });
  return sent.join("") === text ? sent : [text];
}
