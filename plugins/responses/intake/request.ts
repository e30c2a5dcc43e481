/** The body of a create request: every rule and limit that can be checked without asking anyone. */
import type { TSchema } from "typebox";
import type { ExternalTool } from "../../../kernel/plugin.ts";
import { bytesOf } from "../../../kernel/vocabulary/schema/check.ts";
import type { Declared } from "../../../kernel/vocabulary/wire/form.ts";
import { Type } from "../../../kernel/vocabulary/wire/type.ts";
import { parseResponseId, type ResponseId } from "../answer/id.ts";
import type { Echo } from "../answer/response.ts";
import type { WireTool } from "../answer/wire.ts";
import { invalid } from "../refusal.ts";
import { compile } from "./check.ts";
import { parseItems } from "./input.ts";
import { type InputItem, Item } from "./items.ts";

export interface CreateRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly previous: ResponseId | undefined;
  readonly items: readonly InputItem[];
  readonly instructions: string | undefined;
  readonly context: Readonly<Record<string, unknown>> | undefined;
  readonly temperature: number | undefined;
  /** Undefined where the request said nothing about tools. */
  readonly tools: readonly WireTool[] | undefined;
  readonly requiredTools: readonly string[] | undefined;
  readonly echo: Echo;
}

const MOST_METADATA = 16 * 1024;

/** Absent and null are the same to clients. */
const maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));

const Body = Type.Object(
  {
    model: Type.String({
      minLength: 1,
      maxBytes: 256,
      pattern: "^(?!\\s)\\P{Cc}*(?<!\\s)$",
      refusal: "must be a name of 1 to 256 bytes without surrounding whitespace or control characters",
    }),
    previous_response_id: maybe(
      Type.String({
        pattern: "^resp_[0-9a-f]{64}$",
        refusal: "must be the id of an earlier response: resp_ and 64 hexadecimal digits",
      }),
    ),
    stream: maybe(Type.Boolean({ refusal: "must be true or false" })),
    temperature: maybe(Type.Number({ minimum: 0, maximum: 2, refusal: "must be a number from 0.0 to 2.0" })),
    instructions: maybe(Type.String({ refusal: "must be a text" })),
    x_context: maybe(
      Type.Record(Type.String(), Type.Unknown(), {
        maxBytes: 10 * 1024,
        refusal: "must be an object of at most 10 KiB as JSON",
      }),
    ),
    x_required_tools: maybe(
      Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
        maxItems: 64,
        description: "Tools whose error fails the response, with the code `required_tool_failed`",
        refusal: "must be an array of at most 64 tool names",
      }),
    ),
    tools: maybe(
      Type.Array(Type.Unknown(), {
        maxBytes: 16 * 1024,
        refusal: "must be an array of function tools, at most 16 KiB as JSON",
      }),
    ),
    tool_choice: Type.Optional(Type.Unknown()),
    input: Type.Optional(Type.Unknown()),
    metadata: Type.Optional(Type.Unknown()),
  },
  { refusal: "must be a JSON object, sent as application/json" },
);
type Body = Declared<typeof Body>;

const kind = Type.Literal("function", {
  refusal: 'must be "function": other kinds of tools are not supported',
});
const tool = {
  name: Type.String({
    pattern: "^[A-Za-z0-9_-]{1,64}$",
    refusal: "must be 1 to 64 letters, digits, underscores or hyphens",
  }),
  description: maybe(Type.String({ refusal: "must be a text" })),
  parameters: maybe(Type.Record(Type.String(), Type.Unknown(), { refusal: "must be a JSON Schema object" })),
  strict: maybe(Type.Boolean({ refusal: "must be true or false" })),
};

const TOOL = { refusal: "must be an object with type, name and parameters" };
const GivenTool = Type.Object(tool, TOOL);
type GivenTool = Declared<typeof GivenTool>;

/** The whole body. Tools and items are checked one by one, so that a mistake is named in the caller's words. */
export const CreateBody = Type.Object(
  {
    ...Body.properties,
    tools: maybe(Type.Array(Type.Object({ type: kind, ...tool }))),
    input: Type.Union([Type.String(), Type.Array(Item)]),
    metadata: maybe(Type.Record(Type.String(), Type.Unknown())),
  },
  { $id: "CreateResponse" },
);

const checkBody = compile(Body);
const checkKind = compile(Type.Object({ type: kind }, TOOL));
const checkGiven = compile(GivenTool);

function checkTool(value: unknown, at: string): GivenTool {
  // The type first: what another kind of tool lacks besides is of no interest.
  checkKind(value, at);
  return checkGiven(value, at);
}

/** `wired`: whether this composition can pause a turn for the caller's own tools. */
export function parseRequest(value: unknown, wired: boolean): CreateRequest {
  const body = checkBody(value);
  if (!wired) refuseUnwired(body);
  const given = body.tools ?? undefined;
  const tools = given?.map((tool, index) => wireTool(checkTool(tool, `tools[${index}]`)));
  if (tools) refuseDoubles(tools);
  const temperature = body.temperature ?? undefined;
  const instructions = body.instructions ?? undefined;
  const previousResponseId = body.previous_response_id ?? undefined;
  return {
    model: body.model,
    stream: body.stream ?? false,
    previous: previousResponseId === undefined ? undefined : parseResponseId(previousResponseId),
    items: parseItems(body.input),
    instructions,
    context: body.x_context ?? undefined,
    temperature,
    tools,
    requiredTools: body.x_required_tools ?? undefined,
    echo: {
      previousResponseId: previousResponseId ?? null,
      instructions: instructions ?? null,
      temperature: temperature ?? null,
      tools: tools ?? [],
      metadata: metadataOf(body.metadata),
    },
  };
}

function refuseUnwired({ tools, tool_choice }: Body): void {
  const field = tools?.length
    ? "tools"
    : tool_choice === undefined || tool_choice === null
      ? undefined
      : "tool_choice";
  if (field === undefined) return;
  throw invalid(
    field,
    "external_tools_unavailable",
    `"${field}" is not supported: this service runs without external tools. Leave it out.`,
  );
}

function refuseDoubles(tools: readonly WireTool[]): void {
  const seen = new Set<string>();
  for (const [index, { name }] of tools.entries()) {
    if (seen.has(name)) {
      throw invalid(
        `tools[${index}].name`,
        "duplicate_tool_name",
        `"tools[${index}].name": "${name}" is declared twice. Tool names must be unique.`,
      );
    }
    seen.add(name);
  }
}

const wireTool = ({ name, description, parameters, strict }: GivenTool): WireTool => ({
  type: "function",
  name,
  description: description ?? null,
  parameters: parameters ?? null,
  strict: strict ?? null,
});

export const externalTool = ({ name, description, parameters }: WireTool): ExternalTool => ({
  name,
  ...(description !== null && { description }),
  ...(parameters !== null && { parameters }),
});

/** Said again, as far as it is something that can be: it is the caller's own note, never an error. */
function metadataOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return (bytesOf(value) ?? Number.POSITIVE_INFINITY) <= MOST_METADATA
    ? (value as Record<string, unknown>)
    : {};
}
