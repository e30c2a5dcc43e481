/** The output of a turn as items of the wire. Pure: a stored turn and one that just ended give the same items. */
import { sourcesOf } from "../../../kernel/kit/display.ts";
import type { ToolCall, TurnItem, TurnRecord } from "../../../kernel/plugin.ts";
import { callsOf, isSaid, isThought } from "../resolve/history.ts";
import type {
  CallItem,
  Citation,
  ItemStatus,
  MessageItem,
  OutputItem,
  ReasoningItem,
  TextPart,
  WireTool,
} from "../wire/format.ts";
import { formatItemId } from "../wire/id.ts";
import { calledTool, customInput } from "../wire/tool-names.ts";

export interface View {
  /** The open dialect has more than messages and function calls. */
  readonly isOpen: boolean;
  readonly tools: readonly WireTool[];
  /** Present when the caller wants to send the reasoning back: encrypts it. */
  seal?(text: string): string;
}

/** Messages and calls are counted together, reasoning apart: an item has one id in both dialects. */
export function outputOf(record: TurnRecord, view: View): readonly OutputItem[] {
  const last = record.items.at(-1);
  const answer = record.items.findLast(isSaid);
  let said = 0;
  let thought = 0;
  const items = record.items.flatMap((item): readonly OutputItem[] => {
    if (isSaid(item)) {
      const status = item === last ? lastStatus(record) : "completed";
      const cited = view.isOpen && item === answer ? citationsOf(record.items, item.text) : [];
      return [message(record.id, said++, item.text, status, cited)];
    }
    return view.isOpen && isThought(item) ? [reasoning(record.id, thought++, item.text, view)] : [];
  });
  return [...items, ...callsOf(record).map((call) => callItem(record.id, call, said++, "completed", view))];
}

function lastStatus({ status, incomplete }: TurnRecord): ItemStatus {
  if (status === "running" || status === "queued") return "in_progress";
  return status === "failed" || status === "cancelled" || incomplete ? "incomplete" : "completed";
}

/** The sources of a turn, for the text that ends it. */
export function citationsOf(items: readonly TurnItem[], text: string): readonly Citation[] {
  return sourcesOf(items).map(({ url, title }) => {
    const at = text.indexOf(url);
    const [start_index, end_index] = at === -1 ? [text.length, text.length] : [at, at + url.length];
    return { type: "url_citation", url, title, start_index, end_index };
  });
}

export function message(
  turn: string,
  index: number,
  text: string,
  status: ItemStatus,
  cited: readonly Citation[] = [],
): MessageItem {
  return {
    type: "message",
    id: formatItemId("msg", turn, index),
    status,
    role: "assistant",
    content: status === "in_progress" && text === "" ? [] : [textPart(text, cited)],
  };
}

export const textPart = (text: string, cited: readonly Citation[] = []): TextPart => ({
  type: "output_text",
  text,
  annotations: [...cited],
  logprobs: [],
});

export function reasoning(turn: string, index: number, text: string, { seal }: View): ReasoningItem {
  return {
    type: "reasoning",
    id: formatItemId("rs", turn, index),
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    encrypted_content: seal && text !== "" ? seal(text) : undefined,
  };
}

export function callItem(
  turn: string,
  { id: call_id, name: offered, params }: ToolCall,
  index: number,
  status: ItemStatus,
  { tools }: View,
): CallItem {
  const { type, name, namespace } = calledTool(tools, offered);
  const isBegun = status === "in_progress";
  const called = { call_id, name, namespace, status };
  const id = formatItemId(type === "custom" ? "ctc" : "fc", turn, index);
  return type === "custom"
    ? { type: "custom_tool_call", id, ...called, input: isBegun ? "" : customInput(params) }
    : { type: "function_call", id, ...called, arguments: isBegun ? "" : params };
}
