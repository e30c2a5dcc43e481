/** The tools of a request in the open dialect, and which of them may be called. Kinds that only their maker can run are ignored. */

import { bytesOf, type Declared, maybe, Type } from "../../../kernel/kit/schema.ts";
import type { ToolChoice } from "../../models/services.ts";
import { anyObject, type CustomTool, type FunctionTool, type WireTool } from "../wire/format.ts";
import { compile, invalid } from "../wire/refusal.ts";
import { offeredName } from "../wire/tool-names.ts";
import {
  functionTool,
  GIVEN_FUNCTION,
  GivenFunction,
  MAX_FIELD_BYTES,
  refuseDouble,
  TOOL,
  ToolName,
  words,
} from "./request.ts";

const GIVEN_CUSTOM = {
  name: ToolName,
  description: words,
  format: maybe(anyObject({ refusal: "must be an object with a type" })),
};
const GivenCustom = Type.Object(GIVEN_CUSTOM, TOOL);

const GIVEN_NAMESPACE = {
  // A namespace is only a part of the names that models see.
  name: Type.String({ minLength: 1, maxLength: 128, refusal: "must be a name of 1 to 128 characters" }),
  description: words,
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
  /** The path in the request, such as `tools[0]`. */
  readonly at: string;
}

export interface GivenTools {
  readonly tools: readonly WireTool[];
  readonly ignored: readonly string[];
}

export function parseTools(given: readonly GivenTool[]): GivenTools {
  const ignored: string[] = [];
  const namespaces = new Set<string>();

  /** Other kinds are ignored, as is a namespace within another. */
  function parseOne({ value, at }: GivenTool, seen: Set<string>): readonly (FunctionTool | CustomTool)[] {
    const { type } = checkKind(value, at);
    if (type !== "function" && type !== "custom") {
      ignored.push(type);
      return [];
    }
    const isFunction = type === "function";
    const tool = isFunction ? functionTool(checkFunction(value, at)) : customTool(checkCustom(value, at));
    refuseDouble(at, tool.name, seen);
    return [tool];
  }

  function namespaceOf({ value, at }: GivenTool): WireTool {
    const { name, description, tools: inner } = checkNamespace(value, at);
    const seen = new Set<string>();
    const tools = inner.flatMap((tool, index) =>
      parseOne({ value: tool, at: `${at}.tools[${index}]` }, seen),
    );
    if (namespaces.has(name)) {
      const message = `"tools" has the namespace "${name}" twice. Put all of its tools into one.`;
      throw invalid("tools", "duplicate_tool_name", message);
    }
    namespaces.add(name);
    return { type: "namespace", name, description: description ?? "", tools };
  }

  const seen = new Set<string>();
  const tools = given.flatMap((one): readonly WireTool[] =>
    checkKind(one.value, one.at).type === "namespace" ? [namespaceOf(one)] : parseOne(one, seen),
  );
  return { tools, ignored };
}

const customTool = ({ name, description, format }: Declared<typeof GivenCustom>): CustomTool => ({
  type: "custom",
  name,
  description: description ?? undefined,
  format: format ?? undefined,
});

const checkAdditional = compile(
  Type.Object({ tools: Type.Array(Type.Unknown(), { refusal: "must be an array of tools" }) }),
);

/** The tools of a request with those in its items, as Codex sends them. A later item's tool replaces an earlier one. */
export function allTools(
  tools: readonly unknown[] | null | undefined,
  input: unknown,
): readonly GivenTool[] | undefined {
  const given = (tools ?? undefined)?.map((value, index) => ({ value, at: `tools[${index}]` }));
  const added = additionalTools(input);
  if (added.length === 0) return given;
  const byName = new Map(added.map((tool) => [keyOf(tool), tool]));
  const all = [...(given ?? []).filter((tool) => !byName.has(keyOf(tool))), ...byName.values()];
  // A value that nests too deeply has no size.
  if ((bytesOf(all.map(({ value }) => value)) ?? Number.POSITIVE_INFINITY) > MAX_FIELD_BYTES)
    throw invalid("input", "tools_too_large", "The tools of a request must be at most 256 KiB as JSON.");
  return all;
}

function additionalTools(input: unknown): readonly GivenTool[] {
  if (!Array.isArray(input)) return [];
  return input.flatMap((item: unknown, index) => {
    if (Object(item).type !== "additional_tools") return [];
    const { tools } = checkAdditional(item, `input[${index}]`);
    return tools.map((value, place) => ({ value, at: `input[${index}].tools[${place}]` }));
  });
}

/** A tool without a proper name equals no other: `parseTools` refuses it. */
function keyOf({ value, at }: GivenTool): string {
  const { type, name } = Object(value) as { readonly type?: unknown; readonly name?: unknown };
  if (typeof name !== "string") return at;
  return `${type === "namespace" ? "namespace" : "tool"} ${name}`;
}

const WORDS = 'must be "auto", "none", "required" or an object with the type of a choice';

const Named = Type.Object({
  type: Type.String({ refusal: "must be a tool's type" }),
  name: Type.Optional(Type.Unknown()),
  namespace: maybe(Type.String({ refusal: "must be a namespace's name" })),
});
const Chosen = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128, refusal: "must be a tool's name" }),
});
const Allowed = Type.Object({
  mode: Type.Enum(["auto", "required"], { refusal: "must be auto or required" }),
  tools: Type.Array(Named, { maxItems: 128, refusal: "must be an array of at most 128 tools" }),
});

export const OpenToolChoice = Type.Union([
  Type.Enum(["auto", "none", "required"]),
  Type.Object({
    type: Type.String(),
    name: Type.Optional(Type.String()),
    namespace: maybe(Type.String()),
    mode: Type.Optional(Type.Enum(["auto", "required"])),
    tools: Type.Optional(Type.Array(Named)),
  }),
]);

const checkNamed = compile(Named);
const checkChosen = compile(Chosen);
const checkAllowed = compile(Allowed);

interface GivenChoice {
  readonly choice: ToolChoice | undefined;
  readonly ignored: readonly string[];
}

const CALLERS: ReadonlySet<string> = new Set(["function", "custom"]);

/** A name that none of the caller's `tools` has is taken for one of the agent's own. */
export function parseToolChoice(value: unknown, tools: readonly WireTool[]): GivenChoice {
  if (value === undefined || value === null || value === "auto") return { choice: undefined, ignored: [] };
  if (value === "none" || value === "required") return { choice: value, ignored: [] };
  if (typeof value !== "object")
    throw invalid("tool_choice", "invalid_tool_choice", `"tool_choice" ${WORDS}.`);
  const given = checkNamed(value, "tool_choice");
  if (given.type === "allowed_tools") return parseAllowed(value, tools);
  if (!CALLERS.has(given.type)) return { choice: undefined, ignored: [`tool_choice.${given.type}`] };
  return { choice: { mode: "required", names: [nameOf(given, "tool_choice", tools)] }, ignored: [] };
}

function parseAllowed(value: unknown, tools: readonly WireTool[]): GivenChoice {
  const { mode, tools: allowed } = checkAllowed(value, "tool_choice");
  const names = allowed.flatMap((tool, index) =>
    CALLERS.has(tool.type) ? [nameOf(tool, `tool_choice.tools[${index}]`, tools)] : [],
  );
  const ignored = allowed.filter(({ type }) => !CALLERS.has(type)).map(({ type }) => `tool_choice.${type}`);
  // No tool is left that could be called.
  return { choice: names.length === 0 ? "none" : { mode, names }, ignored };
}

function nameOf(given: Declared<typeof Named>, at: string, tools: readonly WireTool[]): string {
  const { name } = checkChosen(given, at);
  return offeredName(tools, { name, namespace: given.namespace ?? undefined }) ?? name;
}
