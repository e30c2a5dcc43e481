/** The items a request brought, as its caller can list them again. */
import type { ParsedUrlQuery } from "node:querystring";
import { formatItemId } from "../answer/id.ts";
import { compile } from "./check.ts";
import type { SaidItem } from "./items.ts";
import type { TakenRequest } from "./requests.ts";

// Beyond any output index, so that an input item is never taken for an output item.
const FIRST = 0x8000;

const USUAL = 20;

const checkQuery = compile<{ readonly limit?: string; readonly order?: string; readonly after?: string }>({
  type: "object",
  properties: {
    limit: { type: "string", pattern: "^([1-9]\\d?|100)$", refusal: "must be a number from 1 to 100" },
    order: { enum: ["asc", "desc"], refusal: "must be asc or desc" },
    after: { type: "string", refusal: "must be an item's id" },
  },
});

export function listInput({ id, input }: TakenRequest, query: ParsedUrlQuery) {
  const { limit = USUAL, order = "desc", after } = checkQuery({ ...query });
  const items = input.map((item, index) => wireItem(item, id, FIRST + index));
  if (order === "desc") items.reverse();
  const start = after === undefined ? 0 : items.findIndex((item) => item.id === after) + 1;
  const data = items.slice(start, start + Number(limit));
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + data.length < items.length,
  };
}

function wireItem(item: SaidItem, turn: string, index: number) {
  const common = {
    id: formatItemId(item.type === "message" ? "msg" : "fc", turn, index),
    status: "completed",
  };
  switch (item.type) {
    case "message": {
      const part =
        item.role === "assistant" ? { type: "output_text", annotations: [] } : { type: "input_text" };
      return { ...common, type: item.type, role: item.role, content: [{ ...part, text: item.text }] };
    }
    case "function_call":
      return { ...common, type: item.type, call_id: item.call, name: item.name, arguments: item.params };
    case "function_call_output":
      return { ...common, type: item.type, call_id: item.call, output: item.output };
  }
}
