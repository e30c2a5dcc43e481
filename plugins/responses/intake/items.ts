/** The items of `input`, each checked and reduced to what a turn can hold. */

import { invalid } from "../refusal.ts";
import { compile } from "./check.ts";

export type InputItem =
  | { readonly type: "message"; readonly role: Role; readonly text: string }
  | { readonly type: "function_call"; readonly call: string; readonly name: string; readonly params: string }
  | { readonly type: "function_call_output"; readonly call: string; readonly output: string }
  | { readonly type: "item_reference"; readonly id: string }
  /** A client's own bookkeeping, such as reasoning, which no turn can use. */
  | { readonly type: "skipped" };

/** What is left of the items once references are followed and bookkeeping is dropped. */
export type SaidItem = Extract<InputItem, { type: "message" | "function_call" | "function_call_output" }>;

export type Role = "user" | "assistant" | "system" | "developer";

interface Part {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly refusal?: unknown;
  readonly filename?: unknown;
}

type Content = string | readonly Part[] | null | undefined;

const CONTENT = {
  type: ["string", "array", "null"],
  refusal: "must be a text or an array of parts",
  items: {
    type: "object",
    refusal: "must be a part with a type",
    required: ["type"],
    properties: { type: { type: "string", refusal: "must be the part's type" } },
    allOf: [
      {
        if: { properties: { type: { enum: ["input_text", "output_text", "text"] } } },
        // biome-ignore lint/suspicious/noThenProperty: JSON Schema's word
        then: { required: ["text"], properties: { text: { type: "string", refusal: "must be a text" } } },
      },
    ],
  },
};

const checkMessage = compile<{ readonly role: Role; readonly content: Content }>({
  type: "object",
  required: ["role", "content"],
  properties: {
    role: {
      enum: ["user", "assistant", "system", "developer"],
      refusal: "must be user, assistant, system or developer",
    },
    content: CONTENT,
  },
});

const CALL_ID = {
  type: "string",
  minLength: 1,
  refusal: "must be the call_id of a function call, not empty",
};

const checkCall = compile<{ readonly call_id: string; readonly name: string; readonly arguments: string }>({
  type: "object",
  required: ["call_id", "name", "arguments"],
  properties: {
    call_id: CALL_ID,
    name: { type: "string", minLength: 1, refusal: "must be the function's name" },
    arguments: { type: "string", refusal: "must be a JSON text" },
  },
});

const checkOutput = compile<{ readonly call_id: string; readonly output: Content }>({
  type: "object",
  required: ["call_id", "output"],
  properties: { call_id: CALL_ID, output: { ...CONTENT, type: ["string", "array"] } },
});

const checkReference = compile<{ readonly id: string }>({
  type: "object",
  required: ["id"],
  properties: { id: { type: "string", refusal: "must be an item's id" } },
});

const checkObject = compile<{ readonly type?: unknown; readonly role?: unknown }>({
  type: "object",
  refusal: "must be an item: an object",
});

export function parseItem(value: unknown, at: string): InputItem {
  const item = checkObject(value, at);
  // Clients leave the type out of messages, and out of references.
  const type = item.type ?? (item.role === undefined ? "item_reference" : "message");
  if (type === "message") {
    const { role, content } = checkMessage(value, at);
    return { type, role, text: textOf(content) };
  }
  if (type === "function_call") {
    const call = checkCall(value, at);
    return { type, call: call.call_id, name: call.name, params: call.arguments };
  }
  if (type === "function_call_output") {
    const { call_id, output } = checkOutput(value, at);
    return { type, call: call_id, output: textOf(output) };
  }
  if (type === "item_reference") return { type, id: checkReference(value, at).id };
  if (type === "reasoning") return { type: "skipped" };
  throw invalid(
    `${at}.type`,
    "invalid_type",
    `"${at}.type" must be message, function_call, function_call_output, item_reference or reasoning.`,
  );
}

function textOf(content: Content): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(textOfPart).join("\n");
}

/** The agent reads text; of anything else it is told that it was there. */
function textOfPart({ type, text, refusal, filename }: Part): string {
  if (typeof text === "string") return text;
  if (typeof refusal === "string") return refusal;
  const kind = String(type).replace(/^input_/, "");
  return typeof filename === "string" ? `[${kind}: ${filename}]` : `[${kind}]`;
}
