/** The dialects, and the schemas of what the Responses format sends: every key is always there, and null when there is no value. */
import type { TObject, TProperties, TSchema, TSchemaOptions } from "typebox";
import { type Declared, JsonSchema, Type } from "../../../kernel/kit/schema.ts";
import { WireUsage as PlainUsage } from "../../../kernel/kit/turns.ts";

/** Strict is the specification, to the byte; open is what the clients of today expect. Older ones are pinned to `/v1`. */
export type Dialect = "strict" | "open";

export const PREFIXES: Readonly<Record<Dialect, readonly string[]>> = {
  strict: ["/api/v1", "/v1"],
  open: ["/openai/v1"],
};

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
export const anyObject = (options?: TSchemaOptions) => Type.Record(Type.String(), Type.Unknown(), options);
const empty = Type.Array(Type.Unknown(), { maxItems: 0 });
const seconds = Type.Integer({ description: "Seconds since 1970" });

const Citation = Type.Object({
  type: Type.Literal("url_citation"),
  url: Type.String(),
  title: Type.String(),
  start_index: Type.Integer({ description: "Where the answer names the address; its end where it does not" }),
  end_index: Type.Integer(),
});
export type Citation = Declared<typeof Citation>;

const TextPart = Type.Object({
  type: Type.Literal("output_text"),
  text: Type.String(),
  annotations: Type.Array(Citation, { description: "What the answer rests on; empty in the strict dialect" }),
  logprobs: empty,
});
export type TextPart = Declared<typeof TextPart>;

const ItemStatus = Type.Enum(["in_progress", "completed", "incomplete"]);
export type ItemStatus = Declared<typeof ItemStatus>;

const MessageItem = Type.Object({
  type: Type.Literal("message"),
  id: Type.String(),
  status: ItemStatus,
  role: Type.Literal("assistant"),
  content: Type.Array(TextPart),
});
export type MessageItem = Declared<typeof MessageItem>;

const FunctionCallItem = Type.Object({
  type: Type.Literal("function_call"),
  id: Type.String(),
  call_id: Type.String(),
  name: Type.String(),
  arguments: Type.String({ description: "A JSON text" }),
  status: ItemStatus,
});

const StrictOutputItem = Type.Union([MessageItem, FunctionCallItem], { $id: "ResponseOutputItem" });

const namespace = Type.Optional(Type.String());

const CallItem = Type.Union([
  Type.Object({ ...FunctionCallItem.properties, namespace }),
  Type.Object({
    type: Type.Literal("custom_tool_call"),
    id: Type.String(),
    call_id: Type.String(),
    name: Type.String(),
    namespace,
    input: Type.String(),
    status: ItemStatus,
  }),
]);
export type CallItem = Declared<typeof CallItem>;

const SummaryPart = Type.Object({ type: Type.Literal("summary_text"), text: Type.String() });

const ReasoningItem = Type.Object({
  type: Type.Literal("reasoning"),
  id: Type.String(),
  summary: Type.Array(SummaryPart),
  encrypted_content: Type.Optional(
    Type.String({ description: "The same, sealed: for requests whose history is not stored here" }),
  ),
});
export type ReasoningItem = Declared<typeof ReasoningItem>;

const OutputItem = Type.Union([MessageItem, ...CallItem.anyOf, ReasoningItem], { $id: "OpenOutputItem" });
export type OutputItem = Declared<typeof OutputItem>;

const FunctionTool = Type.Object({
  type: Type.Literal("function"),
  name: Type.String(),
  description: orNull(Type.String()),
  parameters: orNull(JsonSchema),
  strict: orNull(Type.Boolean()),
});
export type FunctionTool = Declared<typeof FunctionTool>;

/** A tool that takes a text instead of arguments. Custom tools and namespaces exist in the open dialect only. */
const CustomTool = Type.Object({
  type: Type.Literal("custom"),
  name: Type.String(),
  description: Type.Optional(Type.String()),
  format: Type.Optional(anyObject()),
});
export type CustomTool = Declared<typeof CustomTool>;

const NamespaceTool = Type.Object({
  type: Type.Literal("namespace"),
  name: Type.String(),
  description: Type.String(),
  tools: Type.Array(Type.Union([FunctionTool, CustomTool])),
});

const WireTool = Type.Union([FunctionTool, CustomTool, NamespaceTool]);
export type WireTool = Declared<typeof WireTool>;

const WireError = Type.Object({ type: Type.String(), code: Type.String(), message: Type.String() });
export type WireError = Declared<typeof WireError>;

const { input_tokens, output_tokens, total_tokens, cached_tokens, reasoning_tokens, cost, cost_details } =
  PlainUsage.properties;

const StrictUsage = Type.Object({
  input_tokens,
  input_tokens_details: Type.Object({ cached_tokens }),
  output_tokens,
  output_tokens_details: Type.Object({ reasoning_tokens }),
  total_tokens,
  cost,
  cost_details,
});

export const WireUsage = Type.Object({
  ...StrictUsage.properties,
  input_tokens_details: Type.Object({
    cached_tokens,
    cache_write_tokens: Type.Optional(Type.Integer({ description: "0: it is not known" })),
  }),
});
export type WireUsage = Declared<typeof WireUsage>;

const ResponseStatus = Type.Enum(["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]);
export type ResponseStatus = Declared<typeof ResponseStatus>;

const whole = {
  id: Type.String(),
  object: Type.Literal("response"),
  created_at: seconds,
  completed_at: orNull(seconds),
  status: ResponseStatus,
  model: Type.String(),
  previous_response_id: orNull(Type.String()),
  instructions: orNull(Type.String()),
  error: orNull(WireError),
  temperature: Type.Number(),
  metadata: anyObject(),
  truncation: Type.Enum(["auto", "disabled"]),
  store: Type.Boolean(),
  service_tier: Type.Literal("default"),
};

export const StrictResponse = Type.Object(
  {
    ...whole,
    usage: StrictUsage,
    incomplete_details: orNull(Type.Object({ reason: Type.Literal("cancelled") })),
    output: Type.Array(StrictOutputItem),
    tools: Type.Array(FunctionTool),
    tool_choice: Type.Literal("auto"),
    parallel_tool_calls: Type.Literal(false),
    text: Type.Object({ format: Type.Object({ type: Type.Literal("text") }) }),
    top_p: Type.Literal(1),
    presence_penalty: Type.Literal(0),
    frequency_penalty: Type.Literal(0),
    top_logprobs: Type.Literal(0),
    reasoning: Type.Null(),
    max_output_tokens: Type.Null(),
    max_tool_calls: Type.Null(),
    background: Type.Literal(false),
    safety_identifier: Type.Null(),
    prompt_cache_key: Type.Null(),
  },
  { $id: "Response" },
);

/** The response that the clients of today expect: it echoes the settings of the request. */
export const ResponseObject = Type.Object(
  {
    ...whole,
    usage: WireUsage,
    incomplete_details: orNull(
      Type.Object({ reason: Type.Enum(["cancelled", "max_output_tokens", "content_filter"]) }),
    ),
    output: Type.Array(OutputItem),
    tools: Type.Array(WireTool),
    tool_choice: Type.Union([Type.String(), anyObject()]),
    parallel_tool_calls: Type.Boolean(),
    text: anyObject(),
    top_p: Type.Number(),
    presence_penalty: Type.Number(),
    frequency_penalty: Type.Number(),
    top_logprobs: Type.Integer(),
    reasoning: orNull(anyObject()),
    max_output_tokens: orNull(Type.Integer()),
    max_tool_calls: orNull(Type.Integer()),
    background: Type.Boolean(),
    safety_identifier: orNull(Type.String()),
    prompt_cache_key: orNull(Type.String()),
    conversation: Type.Optional(orNull(Type.Object({ id: Type.String() }))),
    access_programs: Type.Optional(Type.Null()),
  },
  { $id: "OpenResponse" },
);
export type ResponseObject = Declared<typeof ResponseObject>;

const inItem = { item_id: Type.String(), output_index: Type.Integer() };
const inPart = { ...inItem, content_index: Type.Literal(0) };
const inSummary = { ...inItem, summary_index: Type.Literal(0) };

const lifecycle = [
  "response.in_progress",
  "response.completed",
  "response.incomplete",
  "response.failed",
] as const;
const StrictLifecycle = Type.Enum(["response.created", ...lifecycle]);
const OpenLifecycle = Type.Enum(["response.created", "response.queued", ...lifecycle]);
const ItemEvent = Type.Enum(["response.output_item.added", "response.output_item.done"]);

const textAndCalls = [
  Type.Object({
    type: Type.Enum(["response.content_part.added", "response.content_part.done"]),
    part: TextPart,
    ...inPart,
  }),
  eventOf("response.output_text.delta", { delta: Type.String(), logprobs: empty, ...inPart }),
  eventOf("response.output_text.done", { text: Type.String(), logprobs: empty, ...inPart }),
  eventOf("response.function_call_arguments.delta", { delta: Type.String(), ...inItem }),
  eventOf("response.function_call_arguments.done", {
    name: Type.String(),
    arguments: Type.String(),
    ...inItem,
  }),
] as const;

function eventOf<const Name extends string, Fields extends TProperties>(type: Name, fields: Fields) {
  return Type.Object({ type: Type.Literal(type), ...fields });
}

const StrictStreamEvent = Type.Union([
  Type.Object({ type: StrictLifecycle, response: StrictResponse }),
  Type.Object({ type: ItemEvent, output_index: Type.Integer(), item: StrictOutputItem }),
  ...textAndCalls,
]);

/** One event of a stream, before it gets its `sequence_number`. */
const StreamEvent = Type.Union([
  Type.Object({ type: OpenLifecycle, response: ResponseObject }),
  Type.Object({ type: ItemEvent, output_index: Type.Integer(), item: OutputItem }),
  ...textAndCalls,
  Type.Object({
    type: Type.Enum(["response.reasoning_summary_part.added", "response.reasoning_summary_part.done"]),
    part: SummaryPart,
    ...inSummary,
  }),
  eventOf("response.reasoning_summary_text.delta", { delta: Type.String(), ...inSummary }),
  eventOf("response.reasoning_summary_text.done", { text: Type.String(), ...inSummary }),
  eventOf("response.output_text.annotation.added", {
    annotation: Citation,
    annotation_index: Type.Integer(),
    ...inPart,
  }),
  eventOf("response.custom_tool_call_input.delta", { delta: Type.String(), ...inItem }),
  eventOf("response.custom_tool_call_input.done", { input: Type.String(), ...inItem }),
]);
export type StreamEvent = Declared<typeof StreamEvent>;

const sent = ({ properties }: TObject) => Type.Object({ ...properties, sequence_number: Type.Integer() });

export const StrictEvent = Type.Union(StrictStreamEvent.anyOf.map(sent), { $id: "ResponseEvent" });
export const SentEvent = Type.Union(StreamEvent.anyOf.map(sent), { $id: "OpenResponseEvent" });

export const DeletedResponse = Type.Object({
  id: Type.String(),
  object: Type.Literal("response"),
  deleted: Type.Literal(true),
});
