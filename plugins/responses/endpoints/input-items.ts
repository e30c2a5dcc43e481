/** The input items of a request, as its caller can list them. */
import { type Declared, Type } from "../../../kernel/kit/schema.ts";
import { type KeptAttachment, Role } from "../parse/items.ts";
import type { PlacedItem } from "../resolve/history.ts";
import { formatItemId } from "../wire/id.ts";
import { calledTool, customInput } from "../wire/tool-names.ts";
import { DEFAULT_LIMIT, firstPage, type ItemQuery, listOf } from "./endpoint.ts";

// Input items are numbered beyond any output index, so that one is never taken for the other.
const FIRST_INPUT = 0x8000;

const common = { id: Type.String(), status: Type.Literal("completed") };

const called = { call_id: Type.String(), name: Type.String(), namespace: Type.Optional(Type.String()) };

const orNull = Type.Union([Type.String(), Type.Null()]);

/** An attachment. Bytes that stood in the request are not sent back. */
const Attached = Type.Union([
  Type.Object({
    type: Type.Literal("input_image"),
    image_url: orNull,
    file_id: orNull,
    detail: Type.String(),
  }),
  Type.Object({ type: Type.Literal("input_file"), file_url: orNull, file_id: orNull, filename: orNull }),
]);

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
        Attached,
      ]),
    ),
  }),
  Type.Object({ ...common, type: Type.Literal("function_call"), ...called, arguments: Type.String() }),
  Type.Object({ ...common, type: Type.Literal("custom_tool_call"), ...called, input: Type.String() }),
  Type.Object({
    ...common,
    type: Type.Literal("function_call_output"),
    call_id: Type.String(),
    output: Type.Union([
      Type.String(),
      Type.Array(
        Type.Union([Type.Object({ type: Type.Literal("input_text"), text: Type.String() }), Attached]),
      ),
    ]),
  }),
]);

export const InputList = listOf(ListedItem);

export async function listInput(
  sent: readonly PlacedItem[],
  { limit = DEFAULT_LIMIT, order = "desc", after }: Declared<typeof ItemQuery>,
): Promise<Declared<typeof InputList>> {
  const items = sent.map(inputItem);
  if (order === "desc") items.reverse();
  const start = after === undefined ? 0 : items.findIndex((item) => item.id === after) + 1;
  return await firstPage(items.slice(start), Number(limit));
}

export function inputItem({ item, turn, from, index, tools }: PlacedItem): Declared<typeof ListedItem> {
  const place = (kind: "msg" | "fc") =>
    ({
      id: formatItemId(kind, turn, from === "input" ? FIRST_INPUT + index : index),
      status: "completed",
    }) as const;
  switch (item.type) {
    case "message": {
      const { role, text, attachments } = item;
      const part =
        role === "assistant"
          ? ({ type: "output_text", annotations: [], text } as const)
          : ({ type: "input_text", text } as const);
      const content = [part, ...(attachments ?? []).map(attachedPart)];
      return { ...place("msg"), type: item.type, role, content };
    }
    case "function_call": {
      const { type, name, namespace } = calledTool(tools, item.name);
      const call = { call_id: item.call, name, namespace };
      return type === "custom"
        ? { ...place("fc"), type: "custom_tool_call", ...call, input: customInput(item.params) }
        : { ...place("fc"), type: "function_call", ...call, arguments: item.params };
    }
    case "function_call_output": {
      const parts = (item.attachments ?? []).map(attachedPart);
      const text = { type: "input_text", text: item.output } as const;
      const output = parts.length === 0 ? item.output : [text, ...parts];
      return { ...place("fc"), type: item.type, call_id: item.call, output };
    }
  }
}

function attachedPart({ kind, url, file, name, detail }: KeptAttachment): Declared<typeof Attached> {
  return kind === "image"
    ? { type: "input_image", image_url: url ?? null, file_id: file ?? null, detail: detail ?? "auto" }
    : { type: "input_file", file_url: url ?? null, file_id: file ?? null, filename: name ?? null };
}
