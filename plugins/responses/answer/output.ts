/** What a turn has put out, as items of the wire. Pure: a stored turn and one that just ended give the same items. */
import type { ToolCall, TurnItem, TurnRecord } from "../../../kernel/plugin.ts";
import type {
  CallItem,
  ItemStatus,
  MessageItem,
  OutputItem,
  ReasoningItem,
  TextPart,
  WireTool,
} from "../wire/format.ts";
import { formatItemId } from "../wire/id.ts";
import { calledTool, customInput } from "../wire/tool-names.ts";

/** How a response is shown: what the request brought, and through which door it is read. */
export interface View {
  /** Through the open door there is more than messages and function calls. */
  readonly isOpen: boolean;
  /** The caller's tools, as it named them. */
  readonly tools: readonly WireTool[];
  /** Where the caller wants to bring the reasoning back: what it cannot read, and we can. */
  seal?(text: string): string;
}

/** Messages and calls are counted together, reasoning apart: an item has one id through either door. */
export function outputOf(record: TurnRecord, view: View): readonly OutputItem[] {
  const last = record.items.at(-1);
  let said = 0;
  let thought = 0;
  const items = record.items.flatMap((item): readonly OutputItem[] => {
    if (isSaid(item)) {
      const status = item === last ? lastStatus(record) : "completed";
      return [message(record.id, said++, item.text, status)];
    }
    return view.isOpen && isThought(item) ? [reasoning(record.id, thought++, item.text, view)] : [];
  });
  return [...items, ...callsOf(record).map((call) => callItem(record.id, call, said++, "completed", view))];
}

function lastStatus({ status, incomplete }: TurnRecord): ItemStatus {
  if (status === "running" || status === "queued") return "in_progress";
  return status === "failed" || status === "cancelled" || incomplete ? "incomplete" : "completed";
}

/** What the assistant said, as far as it said anything: an empty message is no output. */
export const isSaid = (item: TurnItem): item is Extract<TurnItem, { type: "message" }> =>
  item.type === "message" && item.role === "assistant" && item.text !== "";

export const isThought = (item: TurnItem): item is Extract<TurnItem, { type: "reasoning" }> =>
  item.type === "reasoning" && item.text !== "";

/** The calls that the caller is to answer. */
export const callsOf = ({ gate }: TurnRecord): readonly ToolCall[] =>
  gate?.type === "external_tool" ? [gate.call, ...(gate.others ?? [])] : [];

export function message(turn: string, index: number, text: string, status: ItemStatus): MessageItem {
  return {
    type: "message",
    id: formatItemId("msg", turn, index),
    status,
    role: "assistant",
    content: status === "in_progress" && text === "" ? [] : [textPart(text)],
  };
}

export const textPart = (text: string): TextPart => ({
  type: "output_text",
  text,
  annotations: [],
  logprobs: [],
});

export function reasoning(turn: string, index: number, text: string, { seal }: View): ReasoningItem {
  return {
    type: "reasoning",
    id: formatItemId("rs", turn, index),
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    ...(seal && text !== "" && { encrypted_content: seal(text) }),
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
  const called = { call_id, name, ...(namespace !== undefined && { namespace }), status };
  return type === "custom"
    ? {
        type: "custom_tool_call",
        id: formatItemId("ctc", turn, index),
        ...called,
        input: isBegun ? "" : customInput(params),
      }
    : {
        type: "function_call",
        id: formatItemId("fc", turn, index),
        ...called,
        arguments: isBegun ? "" : params,
      };
}
