/** The items a request brought, as its caller can list them again. */
import type { ParsedUrlQuery } from "node:querystring";
import type { Declared } from "../../../kernel/vocabulary/wire/form.ts";
import { Type } from "../../../kernel/vocabulary/wire/type.ts";
import { formatItemId } from "../answer/id.ts";
import { compile } from "./check.ts";
import { Role, type SaidItem } from "./items.ts";
import type { TakenRequest } from "./requests.ts";

// Beyond any output index, so that an input item is never taken for an output item.
const FIRST = 0x8000;

const USUAL = 20;

export const InputQuery = Type.Object({
  limit: Type.Optional(
    Type.String({ pattern: "^([1-9]\\d?|100)$", refusal: "must be a number from 1 to 100" }),
  ),
  order: Type.Optional(Type.Enum(["asc", "desc"], { refusal: "must be asc or desc" })),
  after: Type.Optional(Type.String({ refusal: "must be an item's id" })),
});

const checkQuery = compile(InputQuery);

const common = { id: Type.String(), status: Type.Literal("completed") };

const ListedItem = Type.Union([
  Type.Object({
    ...common,
    type: Type.Literal("message"),
    role: Role,
    content: Type.Array(
      Type.Union([
        Type.Object({
          type: Type.Literal("output_text"),
          annotations: Type.Array(Type.Unknown(), { maxItems: 0 }),
          text: Type.String(),
        }),
        Type.Object({ type: Type.Literal("input_text"), text: Type.String() }),
      ]),
    ),
  }),
  Type.Object({
    ...common,
    type: Type.Literal("function_call"),
    call_id: Type.String(),
    name: Type.String(),
    arguments: Type.String(),
  }),
  Type.Object({
    ...common,
    type: Type.Literal("function_call_output"),
    call_id: Type.String(),
    output: Type.String(),
  }),
]);

export const InputList = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(ListedItem),
  first_id: Type.Union([Type.String(), Type.Null()]),
  last_id: Type.Union([Type.String(), Type.Null()]),
  has_more: Type.Boolean(),
});

export function listInput({ id, input }: TakenRequest, query: ParsedUrlQuery): Declared<typeof InputList> {
  const { limit = USUAL, order = "desc", after } = checkQuery({ ...query });
  const items = input.map((item, index) => inputItem(item, id, index));
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

/** An item that the request of this turn brought, at this place. */
export const inputItem = (item: SaidItem, turn: string, place: number): Declared<typeof ListedItem> =>
  wireItem(item, turn, FIRST + place);

function wireItem(item: SaidItem, turn: string, index: number): Declared<typeof ListedItem> {
  const place = {
    id: formatItemId(item.type === "message" ? "msg" : "fc", turn, index),
    status: "completed",
  } as const;
  switch (item.type) {
    case "message": {
      const { role, text } = item;
      const part =
        role === "assistant"
          ? ({ type: "output_text", annotations: [], text } as const)
          : ({ type: "input_text", text } as const);
      return { ...place, type: item.type, role, content: [part] };
    }
    case "function_call":
      return { ...place, type: item.type, call_id: item.call, name: item.name, arguments: item.params };
    case "function_call_output":
      return { ...place, type: item.type, call_id: item.call, output: item.output };
  }
}
