/** `tool_choice` in all its forms, as the agent understands it. */

import { type Declared, Type } from "../../../kernel/kit.ts";
import type { ToolChoice } from "../../../kernel/plugin.ts";
import { compile } from "../wire/check.ts";
import type { WireTool } from "../wire/format.ts";
import { invalid } from "../wire/refusal.ts";
import { offeredName } from "../wire/tool-names.ts";
import { maybe } from "./request.ts";

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

export interface GivenChoice {
  readonly choice: ToolChoice | undefined;
  readonly ignored: readonly string[];
}

const CALLERS: ReadonlySet<string> = new Set(["function", "custom"]);

/** `tools`: the caller's; a name that none of them has is taken for one of the agent's own. */
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
  // Nothing is left that could be called.
  return { choice: names.length === 0 ? "none" : { mode, names }, ignored };
}

function nameOf(given: Declared<typeof Named>, at: string, tools: readonly WireTool[]): string {
  const { name } = checkChosen(given, at);
  const namespace = given.namespace ?? undefined;
  return offeredName(tools, { name, ...(namespace !== undefined && { namespace }) }) ?? name;
}
