/** The schemas of what the chat completions format sends, whole and in chunks. */
import type { TSchema } from "typebox";
import { type Declared, Type } from "../../../kernel/kit/schema.ts";
import { WireUsage as PlainUsage } from "../../../kernel/kit/turns.ts";

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

const FinishReason = Type.Enum(["stop", "length", "tool_calls", "content_filter", "function_call"]);
export type FinishReason = Declared<typeof FinishReason>;

const FunctionCall = Type.Object({
  name: Type.String(),
  arguments: Type.String({ description: "A JSON text" }),
});

const ToolCall = Type.Union([
  Type.Object({ id: Type.String(), type: Type.Literal("function"), function: FunctionCall }),
  Type.Object({
    id: Type.String(),
    type: Type.Literal("custom"),
    custom: Type.Object({ name: Type.String(), input: Type.String() }),
  }),
]);
export type ToolCall = Declared<typeof ToolCall>;

const reasoning = Type.Optional(Type.String({ description: "Reasoning, from models that show it" }));

const Annotation = Type.Object({
  type: Type.Literal("url_citation"),
  url_citation: Type.Object({
    url: Type.String(),
    title: Type.String(),
    start_index: Type.Integer(),
    end_index: Type.Integer(),
  }),
});
export type Annotation = Declared<typeof Annotation>;

const annotations = Type.Optional(Type.Array(Annotation, { description: "What the answer rests on" }));

const Message = Type.Object({
  role: Type.Literal("assistant"),
  content: orNull(Type.String()),
  refusal: Type.Null(),
  reasoning_content: reasoning,
  tool_calls: Type.Optional(Type.Array(ToolCall)),
  function_call: Type.Optional(FunctionCall),
  annotations,
});

const { total_tokens, cached_tokens, reasoning_tokens, cost, cost_details } = PlainUsage.properties;

const Usage = Type.Object(
  {
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    total_tokens,
    prompt_tokens_details: Type.Object({ cached_tokens }),
    completion_tokens_details: Type.Object({ reasoning_tokens }),
    cost,
    cost_details,
  },
  { $id: "ChatCompletionUsage" },
);
export type CompletionUsage = Declared<typeof Usage>;

/** Fields of ours that the format does not have. */
const Postern = Type.Object({
  receipts: Type.Array(Type.String(), {
    description: "The receipts of the agent's own tool calls, in their order",
  }),
  thread_id: Type.String(),
  turn_id: Type.String(),
});

const head = {
  id: Type.String(),
  created: Type.Integer({ description: "Seconds since 1970" }),
  model: Type.String(),
  service_tier: Type.Literal("default"),
  system_fingerprint: Type.Null(),
};

export const Completion = Type.Object(
  {
    ...head,
    object: Type.Literal("chat.completion"),
    choices: Type.Array(
      Type.Object({
        index: Type.Literal(0),
        message: Message,
        logprobs: Type.Null(),
        finish_reason: FinishReason,
      }),
      { minItems: 1, maxItems: 1 },
    ),
    usage: Usage,
    metadata: Type.Record(Type.String(), Type.String()),
    x_postern: Postern,
  },
  { $id: "ChatCompletion" },
);
export type Completion = Declared<typeof Completion>;

const CallDelta = Type.Object({
  index: Type.Integer(),
  id: Type.Optional(Type.String()),
  type: Type.Optional(Type.Enum(["function", "custom"])),
  function: Type.Optional(Type.Object({ name: Type.Optional(Type.String()), arguments: Type.String() })),
  custom: Type.Optional(Type.Object({ name: Type.Optional(Type.String()), input: Type.String() })),
});

const Delta = Type.Object({
  role: Type.Optional(Type.Literal("assistant")),
  content: Type.Optional(Type.String()),
  refusal: Type.Optional(Type.Null()),
  reasoning_content: reasoning,
  tool_calls: Type.Optional(Type.Array(CallDelta)),
  function_call: Type.Optional(Type.Object({ name: Type.Optional(Type.String()), arguments: Type.String() })),
  annotations,
});
export type Delta = Declared<typeof Delta>;

export const Chunk = Type.Object(
  {
    ...head,
    object: Type.Literal("chat.completion.chunk"),
    choices: Type.Array(
      Type.Object({
        index: Type.Literal(0),
        delta: Delta,
        logprobs: Type.Null(),
        finish_reason: orNull(FinishReason),
      }),
      { maxItems: 1 },
    ),
    usage: Type.Optional(orNull(Usage)),
    x_postern: Type.Optional(Postern),
  },
  { $id: "ChatCompletionChunk" },
);
export type Chunk = Declared<typeof Chunk>;

export type Head = Pick<Completion, "id" | "created" | "model" | "service_tier" | "system_fingerprint">;
