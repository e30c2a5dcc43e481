/** The items of `input`, each checked and reduced to what a turn can hold; and the strict dialect's parser of them. */

import { type Declared, Type } from "../../../kernel/kit/schema.ts";
import type { Attachment } from "../../../kernel/plugin.ts";
import { compile, invalid } from "../wire/refusal.ts";

/** Bytes that came with a message or an output, or where to find them. */
export interface GivenAttachment {
  readonly kind: "image" | "file" | "audio";
  readonly name?: string;
  readonly detail?: string;
  readonly source:
    | { readonly type: "data"; readonly mime: string; readonly data: Uint8Array }
    | { readonly type: "url"; readonly url: string }
    | { readonly type: "file"; readonly id: string };
  /** The path in the request, for a refusal: `input[0].content[1]`. */
  readonly at: string;
}

/** An attachment as the request keeps it; the agent has its bytes. */
export interface KeptAttachment extends Attachment {
  readonly digest: string;
  readonly url?: string;
  readonly file?: string;
}

interface Message<Attached> {
  readonly type: "message";
  readonly role: Role;
  readonly text: string;
  readonly attachments?: readonly Attached[];
  /** The text is a summary of a conversation, which nobody wrote. */
  readonly isSummary?: true;
}

interface Output<Attached> {
  readonly type: "function_call_output";
  readonly call: string;
  readonly output: string;
  readonly attachments?: readonly Attached[];
}

/** `name` is the name under which a model knows the tool. */
interface Call {
  readonly type: "function_call";
  readonly call: string;
  readonly name: string;
  readonly params: string;
}

interface Reasoning {
  readonly type: "reasoning";
  readonly text: string;
}

/** The two kinds of text that a caller keeps for us, encrypted: reasoning, and a summary of a conversation. */
export type SealedKind = "reasoning" | "summary";

export type InputItem =
  | GivenItem
  | { readonly type: "item_reference"; readonly id: string }
  | { readonly type: "sealed"; readonly holds: SealedKind; readonly sealed: string }
  /** A client's own bookkeeping, which no turn can use. */
  | { readonly type: "skipped" };

/** An item after references were resolved and bookkeeping was dropped. */
export type GivenItem = Message<GivenAttachment> | Call | Output<GivenAttachment> | Reasoning;

/** An item with its attachments read and stored. */
export type KeptItem = Message<KeptAttachment> | Call | Output<KeptAttachment>;

/** The caller keeps its reasoning; the row of a request does not hold it. */
export type SaidItem = KeptItem | Reasoning;

export const Role = Type.Enum(["user", "assistant", "system", "developer"], {
  refusal: "must be user, assistant, system or developer",
});
type Role = Declared<typeof Role>;

const Part = Type.Object(
  {
    type: Type.String({ refusal: "must be the part's type" }),
    text: Type.Optional(Type.Unknown()),
    refusal: Type.Optional(Type.Unknown()),
    filename: Type.Optional(Type.Unknown()),
  },
  {
    refusal: "must be a part with a type",
    if: Type.Object({ type: Type.Enum(["input_text", "output_text", "text"]) }),
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's word
    then: Type.Object({ text: Type.String({ refusal: "must be a text" }) }),
  },
);
type Part = Declared<typeof Part>;

const CONTENT = { refusal: "must be a text or an array of parts" };
const OutputContent = Type.Union([Type.String(), Type.Array(Part)], CONTENT);
const Content = Type.Union([Type.String(), Type.Array(Part), Type.Null()], CONTENT);
type Content = Declared<typeof Content>;

export const CallId = Type.String({
  minLength: 1,
  refusal: "must be the call_id of a function call, not empty",
});

const GivenMessage = Type.Object({ role: Role, content: Content });

const GivenCall = Type.Object({
  call_id: CallId,
  name: Type.String({ minLength: 1, refusal: "must be the function's name" }),
  arguments: Type.String({ refusal: "must be a JSON text" }),
});

const CallOutput = Type.Object({ call_id: CallId, output: OutputContent });

export const Reference = Type.Object({ id: Type.String({ refusal: "must be an item's id" }) });

export const Item = Type.Union(
  [
    Type.Object({ type: Type.Optional(Type.Literal("message")), ...GivenMessage.properties }),
    Type.Object({ type: Type.Literal("function_call"), ...GivenCall.properties }),
    Type.Object({ type: Type.Literal("function_call_output"), ...CallOutput.properties }),
    Type.Object({ type: Type.Optional(Type.Literal("item_reference")), ...Reference.properties }),
    Type.Object({ type: Type.Literal("reasoning") }),
  ],
  { $id: "ResponseInputItem" },
);

const checkMessage = compile(GivenMessage);
const checkCall = compile(GivenCall);
const checkOutput = compile(CallOutput);
const checkReference = compile(Reference);

export const parseReference = (value: unknown, at: string): InputItem => ({
  type: "item_reference",
  id: checkReference(value, at).id,
});

const checkObject = compile(
  Type.Object(
    { type: Type.Optional(Type.Unknown()), role: Type.Optional(Type.Unknown()) },
    { refusal: "must be an item: an object" },
  ),
);

/** Clients leave the type out of messages and out of references. */
export function typeOf(value: unknown, at: string): unknown {
  const { type, role } = checkObject(value, at);
  return type ?? (role === undefined ? "item_reference" : "message");
}

/** A body of the largest size could hold half a million, and parsing them would block everybody else for a minute. */
export const MAX_ITEMS = 10_000;

export const tooManyItems = (param: string) =>
  invalid(param, "too_many_items", `"${param}" may have at most ${MAX_ITEMS} items.`);

export function parseItems(
  value: unknown,
  parse: (item: unknown, at: string) => InputItem = parseItem,
): readonly InputItem[] {
  if (typeof value === "string") return [{ type: "message", role: "user", text: value }];
  if (Array.isArray(value)) {
    if (value.length > MAX_ITEMS) throw tooManyItems("input");
    return value.map((item, index) => parse(item, `input[${index}]`));
  }
  if (value === undefined || value === null) throw nothingAsked();
  throw invalid("input", "invalid_input", '"input" must be a text or an array of items.');
}

export const nothingAsked = () =>
  invalid(
    "input",
    "input_required",
    '"input" must say something: a text, or an array of items with a user message.',
  );

export function parseItem(value: unknown, at: string): InputItem {
  const type = typeOf(value, at);
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
  if (type === "item_reference") return parseReference(value, at);
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

/** The agent reads text; anything else becomes a note that it was there. */
function textOfPart({ type, text, refusal, filename }: Part): string {
  if (typeof text === "string") return text;
  if (typeof refusal === "string") return refusal;
  const kind = String(type).replace(/^input_/, "");
  return typeof filename === "string" ? `[${kind}: ${filename}]` : `[${kind}]`;
}
