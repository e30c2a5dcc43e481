/** The body of a chat completion: each field that has an effect here, with its rule; and the request to the agent that it becomes. */

import { type Declared, maybe, Type } from "../../../kernel/kit/schema.ts";
import type { Generation } from "../../../kernel/kit/turns.ts";
import type { Format } from "../../models/services.ts";
import { atLeast, OpenBody } from "../parse/open.ts";
import { parseOpenItem } from "../parse/open-items.ts";
import type { GivenTools } from "../parse/open-tools.ts";
import {
  BODY,
  type CreateRequest,
  flag,
  MAX_FIELD_BYTES,
  refuseUnwired,
  schemaFormat,
  sharedSettings,
  ToolName,
  words,
} from "../parse/request.ts";
import { anyObject } from "../wire/format.ts";
import { compile, invalid } from "../wire/refusal.ts";
import { Message, parseMessages } from "./messages.ts";
import {
  GivenChoice,
  LegacyChoice,
  LegacyFunction,
  parseChoice,
  parseFunctions,
  parseLegacyChoice,
  parseTools,
  Tool,
} from "./tools.ts";

const shared = OpenBody.properties;
const tokens = atLeast(1);
const given = Type.Optional(Type.Unknown());

const Schema = Type.Object(
  {
    name: ToolName,
    description: words,
    schema: maybe(
      anyObject({
        maxBytes: MAX_FIELD_BYTES,
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

/** The Responses format has the first of them too, with the same rules. */
const Fields = {
  model: shared.model,
  stream: shared.stream,
  store: shared.store,
  temperature: shared.temperature,
  top_p: shared.top_p,
  tools: shared.tools,
  parallel_tool_calls: shared.parallel_tool_calls,
  metadata: shared.metadata,
  user: shared.user,
  prompt_cache_key: shared.prompt_cache_key,
  safety_identifier: shared.safety_identifier,
  x_context: shared.x_context,
  x_required_tools: shared.x_required_tools,
  stream_options: maybe(
    Type.Object({ include_usage: flag }, { refusal: "must be an object with include_usage" }),
  ),
  tool_choice: given,
  functions: shared.tools,
  function_call: given,
  response_format: maybe(ResponseFormat),
  n: maybe(Type.Literal(1, { refusal: "must be 1: there is one answer to each request" })),
  logprobs: maybe(
    Type.Literal(false, { refusal: "must be false: the probabilities of tokens are not known here" }),
  ),
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
type Body = Declared<typeof Body>;

/** The whole body for the OpenAPI document. Tools and messages are checked one by one, so that a mistake names its place. */
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

const checkBody = compile(Body);

/** The parts of the request that decide the form of the answer. */
export interface Form {
  readonly model: string;
  /** The last chunk of a stream has the usage, and the others have null. */
  readonly includesUsage: boolean;
  /** The request came with `functions`: a call is rendered as `function_call`. */
  readonly isLegacy: boolean;
  /** The answer is JSON: texts of the assistant before it are no part of it. */
  readonly isJson: boolean;
}

/** `wired` is true when this composition can pause a turn for the caller's own tools. */
export function parseCompletion(value: unknown, wired: boolean) {
  const body = checkBody(value);
  if (!wired) refuseUnwired(body);
  const { choice, tools, ignored = [], isLegacy } = callingOf(body);
  const { instructions, items } = parseMessages(body.messages);
  const format = formatOf(body);
  const { model, temperature } = body;
  const request: CreateRequest = {
    dialect: "open",
    model,
    stream: body.stream ?? false,
    background: false,
    store: body.store ?? true,
    previous: undefined,
    items: items.map(({ item, at }) => parseOpenItem(item, at, tools ?? [])),
    instructions,
    tools,
    context: body.x_context ?? undefined,
    settings: {
      callersToolsWin: true,
      // The older form has room for one call.
      parallelCalls: !isLegacy && (body.parallel_tool_calls ?? true),
      truncation: "disabled",
      generation: generationOf(body),
      toolChoice: choice,
      format,
      ...sharedSettings(body),
    },
    echo: {
      previousResponseId: null,
      instructions: instructions ?? null,
      temperature: temperature ?? null,
      tools: tools ?? [],
      metadata: body.metadata ?? {},
    },
    ignored: [...ignored.map((kind) => `tools.${kind}`), ...ignoredIn(body)],
  };
  const form: Form = {
    model,
    includesUsage: body.stream_options?.include_usage === true,
    isLegacy,
    isJson: format !== undefined,
  };
  return { request, form };
}

function callingOf(body: Body) {
  const { tools, functions } = body;
  if (!functions) {
    if (body.function_call !== undefined && body.function_call !== null && body.function_call !== "none") {
      const message =
        '"function_call" is only for requests with "functions". With "tools" it is "tool_choice".';
      throw invalid("function_call", "invalid_function_call", message);
    }
    const given: Partial<GivenTools> = tools ? parseTools(tools) : {};
    return { ...given, choice: parseChoice(body.tool_choice), isLegacy: false };
  }
  if (tools?.length) {
    const message = '"functions" cannot be combined with "tools". Send one of them.';
    throw invalid("functions", "mutually_exclusive", message);
  }
  const choice = parseLegacyChoice(body.function_call);
  return { tools: parseFunctions(functions), ignored: [], choice, isLegacy: true };
}

const NOTHING: Readonly<Record<string, readonly unknown[]>> = {
  frequency_penalty: [0],
  presence_penalty: [0],
  service_tier: ["auto", "default"],
};

/** The fields that ask for something which has no effect here. */
function ignoredIn(body: object): readonly string[] {
  return Object.entries(body)
    .filter(([name, value]) => {
      if (name in Body.properties || value === null || value === undefined) return false;
      return !NOTHING[name]?.includes(value);
    })
    .map(([name]) => name);
}

function generationOf(body: Body): Generation {
  const stop = [body.stop ?? []].flat().filter((text) => text !== "");
  return {
    topP: body.top_p ?? undefined,
    seed: body.seed ?? undefined,
    stop: stop.length > 0 ? stop : undefined,
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    reasoningEffort: body.reasoning_effort ?? undefined,
    cacheKey: body.prompt_cache_key ?? undefined,
    safetyIdentifier: body.safety_identifier ?? body.user ?? undefined,
  };
}

function formatOf({ response_format: given }: Body): Format | undefined {
  if (!given || given.type === "text") return undefined;
  if (given.type === "json_object") return { type: "json_object" };
  if (!given.json_schema) {
    const message = '"response_format.json_schema" is missing: it has the name and the schema of the answer.';
    throw invalid("response_format.json_schema", "invalid_json_schema", message);
  }
  return schemaFormat(given.json_schema);
}
