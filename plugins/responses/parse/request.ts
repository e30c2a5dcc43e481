/** A parsed request, in whichever dialect and format it came, and the fields and faults that the parsers share. */

import type { TObject } from "typebox";
import { type Declared, maybe, Type } from "../../../kernel/kit/schema.ts";
import { Fault } from "../../../kernel/plugin.ts";
import type { AnswerPolicy } from "../../agent/services.ts";
import type { Format } from "../../models/services.ts";
import { anyObject, type Dialect, type FunctionTool, type WireTool } from "../wire/format.ts";
import type { ResponseId } from "../wire/id.ts";
import { invalid } from "../wire/refusal.ts";
import type { InputItem } from "./items.ts";

export interface CreateRequest {
  /** Decides how items may be mixed, whether `instructions` stay in the history, and how an unknown previous id is refused. */
  readonly dialect: Dialect;
  /** The name is echoed and has no other effect: settings choose the model. */
  readonly model: string;
  readonly stream: boolean;
  /** The response is returned at once as `queued`, and the turn runs as a job. */
  readonly background: boolean;
  /** False: nothing is left of the request, its turn and its thread when the answer is complete. */
  readonly store: boolean;
  readonly previous: ResponseId | undefined;
  /** The whole input in order. The items after the assistant's last message are what the turn is about. */
  readonly items: readonly InputItem[];
  readonly instructions: string | undefined;
  /** The tools that the caller runs, as it named them; undefined when the request did not mention tools. */
  readonly tools: readonly WireTool[] | undefined;
  readonly settings: AnswerPolicy;
  readonly context: Readonly<Record<string, unknown>> | undefined;
  readonly echo: Echo;
  /** Fields and kinds of tools that have no effect: a header tells the caller their names. */
  readonly ignored: readonly string[];
}

/** The parts of a request that its response repeats. */
export interface Echo {
  readonly previousResponseId: string | null;
  readonly instructions: string | null;
  readonly temperature: number | null;
  readonly tools: readonly WireTool[];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Fields of the response, under their names on the wire, that differ from the defaults. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly sealsReasoning?: boolean;
}

export const MAX_FIELD_BYTES = 256 * 1024;

export const flag = maybe(Type.Boolean({ refusal: "must be true or false" }));
export const words = maybe(Type.String({ refusal: "must be a text" }));

/** Fields that both dialects have, with the same rules. */
export const SHARED = {
  model: Type.String({
    minLength: 1,
    maxBytes: 256,
    pattern: "^(?!\\s)\\P{Cc}*(?<!\\s)$",
    refusal: "must be a name of 1 to 256 bytes without surrounding whitespace or control characters",
  }),
  stream: flag,
  temperature: maybe(Type.Number({ minimum: 0, maximum: 2, refusal: "must be a number from 0.0 to 2.0" })),
  instructions: words,
  x_context: maybe(
    anyObject({
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
};

type Shared = Declared<TObject<typeof SHARED>>;

export const sharedSettings = ({ x_required_tools, temperature }: Shared): AnswerPolicy => ({
  requiredTools: x_required_tools ?? undefined,
  temperature: temperature ?? undefined,
});

/** A format with a schema that the answer must match, as both formats of the API have it. */
export interface GivenSchema {
  readonly name: string;
  readonly description?: string | null;
  readonly schema?: Readonly<Record<string, unknown>> | null;
  readonly strict?: boolean | null;
}

export const schemaFormat = ({ name, description, schema, strict }: GivenSchema): Format => ({
  type: "json_schema",
  name,
  description: description ?? undefined,
  schema: schema ?? {},
  strict: strict ?? false,
});

export const BODY = { refusal: "must be a JSON object, sent as application/json" };

const FOR_TOOLS = ["tools", "functions", "tool_choice", "function_call"];

/** For a composition that cannot pause a turn for the caller's own tools. */
export function refuseUnwired(body: Readonly<Record<string, unknown>>): void {
  const field = FOR_TOOLS.find((name) => {
    const value = body[name];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
  });
  if (field === undefined) return;
  const message = `"${field}" is not supported: this service runs without external tools. Leave it out.`;
  throw invalid(field, "external_tools_unavailable", message);
}

export function refuseDouble(at: string, name: string, seen: Set<string>): void {
  if (seen.has(name)) {
    const words = `"${at}.name": "${name}" is declared twice. Tool names must be unique.`;
    throw invalid(`${at}.name`, "duplicate_tool_name", words);
  }
  seen.add(name);
}

export const TOOL = { refusal: "must be an object with type, name and parameters" };

export const ToolName = Type.String({
  pattern: "^[A-Za-z0-9_-]{1,64}$",
  refusal: "must be 1 to 64 letters, digits, underscores or hyphens",
});

export const GIVEN_FUNCTION = {
  name: ToolName,
  description: words,
  parameters: maybe(anyObject({ refusal: "must be a JSON Schema object" })),
  strict: flag,
};

export const GivenFunction = Type.Object(GIVEN_FUNCTION, TOOL);
type GivenFunction = Declared<typeof GivenFunction>;

export const functionTool = ({ name, description, parameters, strict }: GivenFunction): FunctionTool => ({
  type: "function",
  name,
  description: description ?? null,
  parameters: parameters ?? null,
  strict: strict ?? null,
});

/** The same for another user's response: whether it exists is nobody's business. */
export const previousNotFound = (): Fault =>
  new Fault(
    "missing",
    "previous_response_not_found",
    '"previous_response_id" names no response of yours. Begin a new thread, or use the id of one that is there.',
    { param: "previous_response_id" },
  );
