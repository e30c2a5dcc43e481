/** What a request asks for, whichever door and format it came by. Nothing of HTTP is in it. */
import type { TSchema } from "typebox";
import { type Declared, Type } from "../../../kernel/kit.ts";
import type { Turn } from "../../../kernel/plugin.ts";
import type { Echo } from "../answer/response.ts";
import type { Door } from "../wire/dialect.ts";
import type { FunctionTool, WireTool } from "../wire/format.ts";
import type { ResponseId } from "../wire/id.ts";
import { invalid } from "../wire/refusal.ts";
import type { InputItem } from "./items.ts";

/** What goes to the agent as it is. */
export type TurnSettings = Pick<
  Turn,
  | "callersToolsWin"
  | "context"
  | "format"
  | "generation"
  | "maxToolCalls"
  | "parallelCalls"
  | "requiredTools"
  | "temperature"
  | "toolChoice"
  | "truncation"
>;

export interface CreateRequest {
  /** Decides how items may be mixed, whether `instructions` stay in the history, and what an unknown previous id answers. */
  readonly door: Door["name"];
  /** As the client wrote it. It is echoed, and no more. */
  readonly model: string;
  readonly stream: boolean;
  /** The answer comes at once, `queued`; the turn runs on its own. */
  readonly background: boolean;
  /** False: nothing is left of the request, its turn and its thread when the answer is complete. */
  readonly store: boolean;
  /** The response to go on from. */
  readonly previous: ResponseId | undefined;
  /** The id of the conversation to go on with, as the client wrote it. Never together with `previous`. */
  readonly conversation: string | undefined;
  /** All that was said, in order. What comes after the last word of the assistant is what the turn is about. */
  readonly items: readonly InputItem[];
  readonly instructions: string | undefined;
  /** The tools that the caller runs, as it named them; undefined where the request said nothing about tools. */
  readonly tools: readonly WireTool[] | undefined;
  readonly settings: TurnSettings;
  /** What the answer should hold besides: `reasoning.encrypted_content`. */
  readonly include: readonly string[];
  /** What the response says again. */
  readonly echo: Echo;
  /** Fields and kinds of tools that were left out: the caller is told their names. */
  readonly ignored: readonly string[];
}

/** Absent and null are the same to clients. */
export const maybe = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

/** Fields that both doors know, with the same rules. */
export const SHARED = {
  model: Type.String({
    minLength: 1,
    maxBytes: 256,
    pattern: "^(?!\\s)\\P{Cc}*(?<!\\s)$",
    refusal: "must be a name of 1 to 256 bytes without surrounding whitespace or control characters",
  }),
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
};

export const BODY = { refusal: "must be a JSON object, sent as application/json" };

const FOR_TOOLS = ["tools", "functions", "tool_choice", "function_call"];

/** In a composition that cannot pause a turn for the caller's own tools. */
export function refuseUnwired(body: Readonly<Record<string, unknown>>): void {
  const field = FOR_TOOLS.find((name) => {
    const value = body[name];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
  });
  if (field === undefined) return;
  throw invalid(
    field,
    "external_tools_unavailable",
    `"${field}" is not supported: this service runs without external tools. Leave it out.`,
  );
}

export function refuseDouble(at: string, name: string, seen: Set<string>): void {
  if (seen.has(name)) {
    const words = `"${at}.name": "${name}" is declared twice. Tool names must be unique.`;
    throw invalid(`${at}.name`, "duplicate_tool_name", words);
  }
  seen.add(name);
}

// —— function tools, which both doors take ——————————————————————————————————

export const TOOL = { refusal: "must be an object with type, name and parameters" };

export const ToolName = Type.String({
  pattern: "^[A-Za-z0-9_-]{1,64}$",
  refusal: "must be 1 to 64 letters, digits, underscores or hyphens",
});

export const GIVEN_FUNCTION = {
  name: ToolName,
  description: maybe(Type.String({ refusal: "must be a text" })),
  parameters: maybe(Type.Record(Type.String(), Type.Unknown(), { refusal: "must be a JSON Schema object" })),
  strict: maybe(Type.Boolean({ refusal: "must be true or false" })),
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
