/** The body of a create request: every rule and limit that can be checked without asking anyone. */
import type { ExternalTool } from "../../../kernel/plugin.ts";
import { bytesOf } from "../../../kernel/vocabulary/schema/check.ts";
import { parseResponseId, type ResponseId } from "../answer/id.ts";
import type { Echo } from "../answer/response.ts";
import type { WireTool } from "../answer/wire.ts";
import { invalid } from "../refusal.ts";
import { compile } from "./check.ts";

export interface CreateRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly previous: ResponseId | undefined;
  readonly input: unknown;
  readonly instructions: string | undefined;
  readonly context: Readonly<Record<string, unknown>> | undefined;
  readonly temperature: number | undefined;
  /** Undefined where the request said nothing about tools. */
  readonly tools: readonly WireTool[] | undefined;
  readonly echo: Echo;
}

interface Body {
  readonly model: string;
  readonly previous_response_id?: string | null;
  readonly stream?: boolean | null;
  readonly temperature?: number | null;
  readonly instructions?: string | null;
  readonly x_context?: Readonly<Record<string, unknown>> | null;
  readonly tools?: readonly unknown[] | null;
  readonly tool_choice?: unknown;
  readonly input?: unknown;
  readonly metadata?: unknown;
}

const MOST_METADATA = 16 * 1024;

const checkBody = compile<Body>({
  type: "object",
  refusal: "must be a JSON object, sent as application/json",
  required: ["model"],
  properties: {
    model: {
      type: "string",
      minLength: 1,
      maxBytes: 256,
      pattern: "^(?!\\s)\\P{Cc}*(?<!\\s)$",
      refusal: "must be a name of 1 to 256 bytes without surrounding whitespace or control characters",
    },
    previous_response_id: {
      type: ["string", "null"],
      pattern: "^resp_[0-9a-f]{64}$",
      refusal: "must be the id of an earlier response: resp_ and 64 hexadecimal digits",
    },
    stream: { type: ["boolean", "null"], refusal: "must be true or false" },
    temperature: {
      type: ["number", "null"],
      minimum: 0,
      maximum: 2,
      refusal: "must be a number from 0.0 to 2.0",
    },
    instructions: { type: ["string", "null"], refusal: "must be a text" },
    x_context: {
      type: ["object", "null"],
      maxBytes: 10 * 1024,
      refusal: "must be an object of at most 10 KB as JSON",
    },
    tools: {
      type: ["array", "null"],
      maxBytes: 16 * 1024,
      refusal: "must be an array of function tools, at most 16 KiB as JSON",
    },
  },
});

interface GivenTool {
  readonly name: string;
  readonly description?: string | null;
  readonly parameters?: Readonly<Record<string, unknown>> | null;
  readonly strict?: boolean | null;
}

const checkTool = compile<GivenTool>({
  type: "object",
  refusal: "must be an object with type, name and parameters",
  // The type first: what another kind of tool lacks besides is of no interest.
  allOf: [
    {
      required: ["type"],
      properties: {
        type: { const: "function", refusal: 'must be "function": no other kind of tool is taken here' },
      },
    },
  ],
  required: ["name"],
  properties: {
    name: {
      type: "string",
      pattern: "^[A-Za-z0-9_-]{1,64}$",
      refusal: "must be 1 to 64 letters, digits, underscores or hyphens",
    },
    description: { type: ["string", "null"], refusal: "must be a text" },
    parameters: { type: ["object", "null"], refusal: "must be a JSON Schema object" },
    strict: { type: ["boolean", "null"], refusal: "must be true or false" },
  },
});

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
    input: body.input,
    instructions,
    context: body.x_context ?? undefined,
    temperature,
    tools,
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
    `"${field}" cannot be used here: this service runs without the wiring for callers' own tools. Leave it out.`,
  );
}

function refuseDoubles(tools: readonly WireTool[]): void {
  const seen = new Set<string>();
  for (const [index, { name }] of tools.entries()) {
    if (seen.has(name)) {
      throw invalid(
        `tools[${index}].name`,
        "duplicate_tool_name",
        `"tools[${index}].name": "${name}" is declared twice. Give each tool a name of its own.`,
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
