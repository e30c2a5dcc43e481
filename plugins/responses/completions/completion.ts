/** A turn that has ended, as a chat completion. */

import { toWire } from "../../../kernel/kit/schema.ts";
import { Usage } from "../../../kernel/kit/turns.ts";
import type { ToolCall as Called, TurnItem, TurnRecord } from "../../../kernel/plugin.ts";
import { citationsOf } from "../answer/output.ts";
import { inSeconds } from "../answer/response.ts";
import { callsOf, isSaid, isThought } from "../resolve/history.ts";
import type { TakenRequest } from "../stored/requests.ts";
import { calledTool, customInput } from "../wire/tool-names.ts";
import type { Form } from "./request.ts";
import type { Annotation, Completion, CompletionUsage, FinishReason, Head, ToolCall } from "./wire.ts";

/** Separates the texts of the assistant before and after it used tools of its own: one answer has one text. */
export const SEPARATOR = "\n\n";

export const headOf = ({ id, createdAt }: TakenRequest, { model }: Form): Head => ({
  id: `chatcmpl-${id.replaceAll("-", "")}`,
  created: inSeconds(createdAt),
  model,
  service_tier: "default",
  system_fingerprint: null,
});

export function completionOf(taken: TakenRequest, form: Form, record: TurnRecord): Completion {
  const calls = callsFor(taken, record);
  const said = record.items.filter(isSaid).map(({ text }) => text);
  const text = (form.isJson ? said.slice(-1) : said).join(SEPARATOR);
  const thoughts = record.items.filter(isThought).map((item) => item.text);
  const [first] = calls;
  const annotations = annotationsOf(record, text);
  return {
    ...headOf(taken, form),
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: text === "" && calls.length > 0 ? null : text,
          refusal: null,
          ...(thoughts.length > 0 && { reasoning_content: thoughts.join(SEPARATOR) }),
          ...(annotations.length > 0 && { annotations }),
          ...(calls.length > 0 && !form.isLegacy && { tool_calls: calls }),
          ...(first?.type === "function" && form.isLegacy && { function_call: first.function }),
        },
        logprobs: null,
        finish_reason: finishOf(form, record),
      },
    ],
    usage: usageOf(record),
    // All values are texts: the request was checked.
    metadata: taken.echo.metadata as Completion["metadata"],
    x_postern: posternOf(record),
  };
}

export const annotationsOf = ({ items }: TurnRecord, text: string): Annotation[] =>
  citationsOf(items, text).map(({ type, ...url_citation }) => ({ type, url_citation }));

export function finishOf({ isLegacy }: Form, { gate, incomplete }: TurnRecord): FinishReason {
  if (gate?.type === "external_tool") return isLegacy ? "function_call" : "tool_calls";
  if (incomplete === "content_filter") return incomplete;
  return incomplete === undefined ? "stop" : "length";
}

/** The calls that the caller has to make, as it named the tools. */
export const callsFor = ({ echo }: TakenRequest, record: TurnRecord): readonly ToolCall[] =>
  callsOf(record).map((call) => callOf(echo.tools, call));

function callOf(tools: TakenRequest["echo"]["tools"], { id, name: called, params }: Called): ToolCall {
  const { type, name } = calledTool(tools, called);
  return type === "custom"
    ? { id, type, custom: { name, input: customInput(params) } }
    : { id, type, function: { name, arguments: params } };
}

export function usageOf({ usage }: TurnRecord): CompletionUsage {
  const { input_tokens, output_tokens, cached_tokens, reasoning_tokens, ...rest } = toWire(Usage, usage);
  return {
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    prompt_tokens_details: { cached_tokens },
    completion_tokens_details: { reasoning_tokens },
    ...rest,
  };
}

export const posternOf = ({ id, thread, items }: TurnRecord): Completion["x_postern"] => ({
  receipts: items.flatMap((item) => receiptOf(item) ?? []),
  thread_id: thread,
  turn_id: id,
});

const receiptOf = (item: TurnItem): string | undefined =>
  item.type === "tool_result" && "receipt" in item.outcome ? item.outcome.receipt : undefined;
