/** The body of a chat completion: the fields that mean something here, each with its rule. The others are ignored. */

import { type Declared, Type } from "../../../kernel/kit.ts";
import type { Format, Generation } from "../../../kernel/plugin.ts";
import { OpenBody } from "../parse/body.ts";
import { BODY, maybe } from "../parse/request.ts";
import { compile } from "../wire/check.ts";
import { invalid } from "../wire/refusal.ts";
import { Message } from "./messages.ts";
import { GivenChoice, LegacyChoice, LegacyFunction, Tool } from "./tools.ts";

const LARGEST = 256 * 1024;

/** Fields that the Responses format has too, with the same rules. */
const {
  model,
  stream,
  store,
  temperature,
  top_p,
  tools,
  parallel_tool_calls,
  metadata,
  user,
  prompt_cache_key,
  safety_identifier,
  x_context,
  x_required_tools,
} = OpenBody.properties;

const flag = maybe(Type.Boolean({ refusal: "must be true or false" }));
const tokens = maybe(
  Type.Integer({ minimum: 1, maximum: 1_000_000_000, refusal: "must be a whole number, at least 1" }),
);
const given = Type.Optional(Type.Unknown());

const FormatName = Type.String({
  pattern: "^[A-Za-z0-9_-]{1,64}$",
  refusal: "must be 1 to 64 letters, digits, underscores or hyphens",
});
const Schema = Type.Object(
  {
    name: FormatName,
    description: maybe(Type.String({ refusal: "must be a text" })),
    schema: maybe(
      Type.Record(Type.String(), Type.Unknown(), {
        maxBytes: LARGEST,
        refusal: "must be a JSON Schema object of at most 256 KiB",
      }),
    ),
    strict: flag,
  },
  { refusal: "must be an object with name and schema" },
);
const ResponseFormat = Type.Object(
  {
    type: Type.Enum(["text", "json_object", "json_schema"], {
      refusal: "must be text, json_object or json_schema",
    }),
    json_schema: maybe(Schema),
  },
  { refusal: "must be an object with a type" },
);

const Fields = {
  model,
  stream,
  store,
  temperature,
  top_p,
  tools,
  parallel_tool_calls,
  metadata,
  user,
  prompt_cache_key,
  safety_identifier,
  x_context,
  x_required_tools,
  stream_options: maybe(
    Type.Object({ include_usage: flag }, { refusal: "must be an object with include_usage" }),
  ),
  tool_choice: given,
  functions: tools,
  function_call: given,
  response_format: maybe(ResponseFormat),
  n: maybe(Type.Literal(1, { refusal: "must be 1: there is one answer to each request" })),
  stop: maybe(
    Type.Union(
      [
        Type.String({ maxLength: 1024 }),
        Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 4 }),
      ],
      { refusal: "must be a text or an array of at most 4, of at most 1024 characters each" },
    ),
  ),
  seed: maybe(Type.Integer({ refusal: "must be a whole number" })),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  reasoning_effort: maybe(
    Type.String({ pattern: "^[a-z]{1,16}$", refusal: "must be a word such as low, medium or high" }),
  ),
  modalities: maybe(
    Type.Array(Type.Enum(["text"], { refusal: "must be text: there is no audio in the answers" }), {
      refusal: 'must be ["text"]',
    }),
  ),
  audio: Type.Optional(
    Type.Null({ refusal: "cannot be given: there is no audio in the answers. Leave it out" }),
  ),
};

const Body = Type.Object(
  {
    ...Fields,
    messages: Type.Array(Type.Unknown(), {
      minItems: 1,
      refusal: "must be an array of at least one message",
    }),
  },
  BODY,
);
export type Body = Declared<typeof Body>;

/** The whole body. Tools and messages are checked one by one, so that a mistake is named in the caller's words. */
export const CompletionBody = Type.Object(
  {
    ...Fields,
    messages: Type.Array(Message, { minItems: 1 }),
    tools: maybe(Type.Array(Tool)),
    tool_choice: maybe(GivenChoice),
    functions: maybe(Type.Array(LegacyFunction)),
    function_call: maybe(LegacyChoice),
  },
  { $id: "CreateChatCompletion" },
);

export const checkBody = compile(Body);

/** What a field may say without asking for anything. */
const NOTHING: Readonly<Record<string, readonly unknown[]>> = {
  frequency_penalty: [0],
  presence_penalty: [0],
  logprobs: [false],
  service_tier: ["auto", "default"],
};

/** Fields that ask for something that is not done. */
export function ignoredIn(body: object): readonly string[] {
  return Object.entries(body)
    .filter(([name, value]) => {
      if (name in Body.properties || value === null || value === undefined) return false;
      return !NOTHING[name]?.includes(value);
    })
    .map(([name]) => name);
}

export function generationOf(body: Body): Generation {
  const stop = [body.stop ?? []].flat().filter((text) => text !== "");
  const most = body.max_completion_tokens ?? body.max_tokens;
  const safety = body.safety_identifier ?? body.user;
  return {
    ...(isGiven(body.top_p) && { topP: body.top_p }),
    ...(isGiven(body.seed) && { seed: body.seed }),
    ...(stop.length > 0 && { stop }),
    ...(isGiven(most) && { maxOutputTokens: most }),
    ...(isGiven(body.reasoning_effort) && { reasoningEffort: body.reasoning_effort }),
    ...(isGiven(body.prompt_cache_key) && { cacheKey: body.prompt_cache_key }),
    ...(isGiven(safety) && { safetyIdentifier: safety }),
  };
}

export function formatOf({ response_format: given }: Body): Format | undefined {
  if (!given || given.type === "text") return undefined;
  if (given.type === "json_object") return { type: "json_object" };
  if (!given.json_schema)
    throw invalid(
      "response_format.json_schema",
      "invalid_json_schema",
      '"response_format.json_schema" is missing: it has the name and the schema of the answer.',
    );
  const { name, description, schema, strict } = given.json_schema;
  return {
    type: "json_schema",
    name,
    schema: schema ?? {},
    strict: strict ?? false,
    ...(typeof description === "string" && { description }),
  };
}

const isGiven = <Value>(value: Value | null | undefined): value is Value =>
  value !== null && value !== undefined;
