/** The tools of a chat and which of them may be called, in today's form and in the older one of `functions`. */

import { type Declared, maybe, Type } from "../../../kernel/kit/schema.ts";
import type { ToolChoice } from "../../models/services.ts";
import type { GivenTools } from "../parse/open-tools.ts";
import { functionTool, GIVEN_FUNCTION, refuseDouble, ToolName, words } from "../parse/request.ts";
import type { CustomTool, WireTool } from "../wire/format.ts";
import { compile, invalid } from "../wire/refusal.ts";

export const LegacyFunction = Type.Object(GIVEN_FUNCTION, {
  refusal: "must be an object with name and parameters",
});

const Grammar = Type.Object(
  {
    syntax: Type.Enum(["lark", "regex"], { refusal: "must be lark or regex" }),
    definition: Type.String({ refusal: "must be a text" }),
  },
  { refusal: "must be an object with syntax and definition" },
);
const Custom = Type.Object(
  {
    name: ToolName,
    description: words,
    format: maybe(
      Type.Object(
        {
          type: Type.Enum(["text", "grammar"], { refusal: "must be text or grammar" }),
          grammar: maybe(Grammar),
        },
        { refusal: "must be an object with a type" },
      ),
    ),
  },
  { refusal: "must be an object with a name" },
);

/** For the OpenAPI document. */
export const Tool = Type.Union([
  Type.Object({ type: Type.Literal("function"), function: LegacyFunction }),
  Type.Object({ type: Type.Literal("custom"), custom: Custom }),
  Type.Object({ type: Type.String({ description: "Any other kind is left out" }) }),
]);

const checkKind = compile(
  Type.Object(
    { type: Type.String({ refusal: "must be a tool's type" }) },
    { refusal: "must be an object with type and function" },
  ),
);
const checkFunction = compile(LegacyFunction);
const checkCustom = compile(Custom);

export function parseTools(values: readonly unknown[]): GivenTools {
  const seen = new Set<string>();
  const ignored: string[] = [];
  const tools: WireTool[] = [];
  for (const [index, value] of values.entries()) {
    const at = `tools[${index}]`;
    const { type } = checkKind(value, at);
    if (type !== "function" && type !== "custom") {
      ignored.push(type);
      continue;
    }
    const inner = (value as Readonly<Record<string, unknown>>)[type];
    const place = `${at}.${type}`;
    const isFunction = type === "function";
    const tool = isFunction
      ? functionTool(checkFunction(inner, place))
      : customTool(checkCustom(inner, place));
    refuseDouble(place, tool.name, seen);
    tools.push(tool);
  }
  return { tools, ignored };
}

export function parseFunctions(values: readonly unknown[]): readonly WireTool[] {
  const seen = new Set<string>();
  return values.map((value, index) => {
    const tool = functionTool(checkFunction(value, `functions[${index}]`));
    refuseDouble(`functions[${index}]`, tool.name, seen);
    return tool;
  });
}

function customTool({ name, description, format }: Declared<typeof Custom>): CustomTool {
  return {
    type: "custom",
    name,
    description: description ?? undefined,
    format: format ? { type: format.type, ...format.grammar } : undefined,
  };
}

const chosen = Type.String({ minLength: 1, maxLength: 128, refusal: "must be a tool's name" });
const Named = Type.Object({ name: chosen }, { refusal: "must be an object with a name" });
const Allowed = Type.Object(
  {
    mode: Type.Enum(["auto", "required"], { refusal: "must be auto or required" }),
    tools: Type.Array(Type.Unknown(), { maxItems: 128, refusal: "must be an array of at most 128 tools" }),
  },
  { refusal: "must be an object with mode and tools" },
);
const CHOICE = "must be none, auto, required or an object with the type of a choice";

/** For the OpenAPI document. */
export const GivenChoice = Type.Union([
  Type.Enum(["none", "auto", "required"]),
  Type.Object({ type: Type.Literal("function"), function: Named }),
  Type.Object({ type: Type.Literal("custom"), custom: Named }),
  Type.Object({ type: Type.Literal("allowed_tools"), allowed_tools: Allowed }),
]);
export const LegacyChoice = Type.Union([Type.Enum(["none", "auto"]), Named]);

const checkChoice = compile(
  Type.Object(
    {
      type: Type.Enum(["function", "custom", "allowed_tools"], {
        refusal: "must be function, custom or allowed_tools",
      }),
    },
    { refusal: CHOICE },
  ),
);
const checkTool = compile(
  Type.Object(
    { type: Type.Enum(["function", "custom"], { refusal: "must be function or custom" }) },
    { refusal: "must be a tool: an object with a type" },
  ),
);
const checkAllowed = compile(Allowed);
const checkNamed = compile(Named);

/** A name that none of the caller's tools has is taken for one of the agent's own. */
export function parseChoice(value: unknown): ToolChoice | undefined {
  if (value === undefined || value === null || value === "auto") return undefined;
  if (value === "none" || value === "required") return value;
  if (typeof value === "string")
    throw invalid("tool_choice", "invalid_tool_choice", `"tool_choice" ${CHOICE}.`);
  const { type } = checkChoice(value, "tool_choice");
  if (type !== "allowed_tools") return { mode: "required", names: [nameOf(value, type, "tool_choice")] };
  const { allowed_tools } = value as Readonly<Record<string, unknown>>;
  const { mode, tools } = checkAllowed(allowed_tools, "tool_choice.allowed_tools");
  const names = tools.map((tool, index) => {
    const at = `tool_choice.allowed_tools.tools[${index}]`;
    return nameOf(tool, checkTool(tool, at).type, at);
  });
  // No tool is left that could be called.
  return names.length === 0 ? "none" : { mode, names };
}

const nameOf = (value: unknown, type: "function" | "custom", at: string): string =>
  checkNamed((value as Readonly<Record<string, unknown>>)[type], `${at}.${type}`).name;

export function parseLegacyChoice(value: unknown): ToolChoice | undefined {
  if (value === undefined || value === null || value === "auto") return undefined;
  if (value === "none") return value;
  if (typeof value === "string") {
    const message = '"function_call" must be none, auto or an object with a name.';
    throw invalid("function_call", "invalid_function_call", message);
  }
  return { mode: "required", names: [checkNamed(value, "function_call").name] };
}
