/** The body of a create request through the open door: what today's clients send, each field honoured, echoed or named. */
import { type Declared, Type } from "../../../kernel/kit.ts";
import { OpenItem } from "./open-items.ts";
import { OpenTool } from "./open-tools.ts";
import { BODY, maybe, SHARED } from "./request.ts";
import { OpenToolChoice } from "./tool-choice.ts";

const flag = () => maybe(Type.Boolean({ refusal: "must be true or false" }));
const fromTo = (minimum: number, maximum: number) =>
  maybe(Type.Number({ minimum, maximum, refusal: `must be a number from ${minimum} to ${maximum}` }));
const atLeast = (minimum: number) =>
  maybe(
    Type.Integer({
      minimum,
      maximum: 1_000_000_000,
      refusal: `must be a whole number, at least ${minimum}`,
    }),
  );
const words = (most: number) =>
  maybe(Type.String({ maxLength: most, refusal: `must be a text of at most ${most} characters` }));

export const LARGEST_FIELD = 256 * 1024;

const Format = Type.Object(
  {
    type: Type.Enum(["text", "json_object", "json_schema"], {
      refusal: "must be text, json_object or json_schema",
    }),
    name: Type.Optional(Type.Unknown()),
    description: maybe(Type.String({ refusal: "must be a text" })),
    schema: Type.Optional(Type.Unknown()),
    strict: flag(),
  },
  {
    refusal: "must be an object with a type",
    if: Type.Object({ type: Type.Literal("json_schema") }),
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's word
    then: Type.Object({
      name: Type.String({
        pattern: "^[A-Za-z0-9_-]{1,64}$",
        refusal: "must be 1 to 64 letters, digits, underscores or hyphens",
      }),
      schema: Type.Record(Type.String(), Type.Unknown(), { refusal: "must be a JSON Schema object" }),
    }),
  },
);
export type GivenFormat = Declared<typeof Format>;

export const Metadata = Type.Record(
  Type.String(),
  Type.String({ maxLength: 512, refusal: "must be a text of at most 512 characters" }),
  {
    maxProperties: 16,
    propertyNames: { maxLength: 64 },
    refusal: "must be an object of at most 16 texts, with keys of at most 64 characters",
  },
);

const effort = Type.String({ pattern: "^[a-z_]{1,32}$", refusal: "must be a level, such as low or high" });

export const OpenBody = Type.Object(
  {
    ...SHARED,
    background: flag(),
    store: flag(),
    parallel_tool_calls: flag(),
    previous_response_id: words(512),
    conversation: maybe(
      Type.Union([Type.String({ maxLength: 512 }), Type.Object({ id: Type.String({ maxLength: 512 }) })], {
        refusal: "must be a conversation's id, or an object with it",
      }),
    ),
    prompt: Type.Optional(Type.Unknown()),
    tools: maybe(
      Type.Array(Type.Unknown(), {
        maxBytes: LARGEST_FIELD,
        refusal: "must be an array of tools, at most 256 KiB as JSON",
      }),
    ),
    // It is said again in the response, so it must not be larger than what it chooses from.
    tool_choice: Type.Optional(
      Type.Unknown({ maxBytes: LARGEST_FIELD, refusal: "must be at most 256 KiB as JSON" }),
    ),
    input: Type.Optional(Type.Unknown()),
    text: maybe(
      Type.Object(
        {
          format: maybe(Format),
          verbosity: maybe(Type.String({ maxLength: 32, refusal: "must be low, medium or high" })),
        },
        { maxBytes: LARGEST_FIELD, refusal: "must be an object with a format, at most 256 KiB as JSON" },
      ),
    ),
    reasoning: maybe(
      Type.Object(
        { effort: maybe(effort), summary: maybe(effort), generate_summary: maybe(effort) },
        { refusal: "must be an object with effort and summary" },
      ),
    ),
    metadata: maybe(Metadata),
    include: maybe(
      Type.Array(Type.String({ maxLength: 128, refusal: "must be a name" }), {
        maxItems: 64,
        refusal: "must be an array of at most 64 names",
      }),
    ),
    truncation: maybe(Type.Enum(["auto", "disabled"], { refusal: "must be auto or disabled" })),
    service_tier: words(64),
    prompt_cache_key: words(512),
    safety_identifier: words(512),
    user: words(512),
    // The published rule, which clients know.
    max_output_tokens: atLeast(16),
    max_tool_calls: atLeast(1),
    top_p: fromTo(0, 1),
    top_logprobs: fromTo(0, 20),
    presence_penalty: fromTo(-2, 2),
    frequency_penalty: fromTo(-2, 2),
    stream_options: maybe(Type.Record(Type.String(), Type.Unknown(), { refusal: "must be an object" })),
  },
  BODY,
);
export type OpenBody = Declared<typeof OpenBody>;

/** The whole body, for the OpenAPI document. */
export const OpenCreateBody = Type.Object(
  {
    ...OpenBody.properties,
    tools: maybe(Type.Array(OpenTool)),
    tool_choice: maybe(OpenToolChoice),
    input: Type.Union([Type.String(), Type.Array(OpenItem)]),
  },
  { $id: "CreateOpenResponse" },
);
