/** The tools of a request through the open door. Kinds that only their maker can run are left out and named. */
import { type Declared, Type } from "../../../kernel/kit.ts";
import { compile } from "../wire/check.ts";
import type { CustomTool, FunctionTool, WireTool } from "../wire/format.ts";
import { invalid } from "../wire/refusal.ts";
import {
  functionTool,
  GIVEN_FUNCTION,
  GivenFunction,
  maybe,
  refuseDouble,
  TOOL,
  ToolName,
} from "./request.ts";

const GIVEN_CUSTOM = {
  name: ToolName,
  description: maybe(Type.String({ refusal: "must be a text" })),
  format: maybe(Type.Record(Type.String(), Type.Unknown(), { refusal: "must be an object with a type" })),
};
const GivenCustom = Type.Object(GIVEN_CUSTOM, TOOL);

const GIVEN_NAMESPACE = {
  // It is only a part of the names that models see.
  name: Type.String({ minLength: 1, maxLength: 128, refusal: "must be a name of 1 to 128 characters" }),
  description: maybe(Type.String({ refusal: "must be a text" })),
};
const GivenNamespace = Type.Object({
  ...GIVEN_NAMESPACE,
  tools: Type.Array(Type.Unknown(), { refusal: "must be an array of function and custom tools" }),
});

const aFunction = Type.Object({ type: Type.Literal("function"), ...GIVEN_FUNCTION });
const aCustom = Type.Object({ type: Type.Literal("custom"), ...GIVEN_CUSTOM });

/** For the OpenAPI document. */
export const OpenTool = Type.Union([
  aFunction,
  aCustom,
  Type.Object({
    type: Type.Literal("namespace"),
    ...GIVEN_NAMESPACE,
    tools: Type.Array(Type.Union([aFunction, aCustom])),
  }),
  Type.Object({ type: Type.String({ description: "Any other kind is left out" }) }),
]);

const checkKind = compile(Type.Object({ type: Type.String({ refusal: "must be a tool's type" }) }, TOOL));
const checkFunction = compile(GivenFunction);
const checkCustom = compile(GivenCustom);
const checkNamespace = compile(GivenNamespace);

export interface GivenTool {
  readonly value: unknown;
  /** Where it is in the request. */
  readonly at: string;
}

export interface GivenTools {
  readonly tools: readonly WireTool[];
  /** Kinds that were left out. */
  readonly ignored: readonly string[];
}

export function parseTools(given: readonly GivenTool[]): GivenTools {
  const seen = new Set<string>();
  const ignored: string[] = [];
  const tools: WireTool[] = [];
  for (const { value, at } of given) {
    const { type } = checkKind(value, at);
    if (type === "namespace") tools.push(namespaceOf(value, at, ignored));
    else {
      const tool = simpleTool(value, type, at);
      if (tool) tools.push(tool);
      else ignored.push(type);
    }
    const name = tools.at(-1)?.name;
    if (type === "function" || type === "custom") refuseDouble(at, name ?? "", seen);
  }
  refuseSameNamespace(tools);
  return { tools, ignored };
}

function namespaceOf(value: unknown, at: string, ignored: string[]): WireTool {
  const { name, description, tools: given } = checkNamespace(value, at);
  const seen = new Set<string>();
  const tools: (FunctionTool | CustomTool)[] = [];
  for (const [index, inner] of given.entries()) {
    const place = `${at}.tools[${index}]`;
    const { type } = checkKind(inner, place);
    const tool = simpleTool(inner, type, place);
    if (tool === undefined) {
      ignored.push(type);
      continue;
    }
    refuseDouble(place, tool.name, seen);
    tools.push(tool);
  }
  return { type: "namespace", name, description: description ?? "", tools };
}

function simpleTool(value: unknown, type: string, at: string): FunctionTool | CustomTool | undefined {
  if (type === "function") return functionTool(checkFunction(value, at));
  return type === "custom" ? customTool(checkCustom(value, at)) : undefined;
}

const customTool = ({ name, description, format }: Declared<typeof GivenCustom>): CustomTool => ({
  type: "custom",
  name,
  ...(typeof description === "string" && { description }),
  ...(format && { format }),
});

function refuseSameNamespace(tools: readonly WireTool[]): void {
  const seen = new Set<string>();
  for (const tool of tools) {
    if (tool.type !== "namespace") continue;
    if (seen.has(tool.name)) {
      const words = `"tools" has the namespace "${tool.name}" twice. Put all of its tools into one.`;
      throw invalid("tools", "duplicate_tool_name", words);
    }
    seen.add(tool.name);
  }
}
