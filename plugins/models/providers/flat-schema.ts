/** Providers want no `oneOf` on top: they are shown every property, with the branches in words. The real schema still rules. */

import { isRecord } from "../../../kernel/kit/text.ts";
import type { JsonSchema } from "../../../kernel/plugin.ts";
import type { ModelTool } from "../services.ts";

// A description that is longer than this costs more than it explains.
const MAX_EXACT_LENGTH = 4000;

export function describeForProvider(tool: ModelTool): { description: string; inputSchema: JsonSchema } {
  const { $schema: _, ...schema } = tool.schema;
  const listed = [schema["oneOf"], schema["anyOf"]].find(Array.isArray) as readonly unknown[] | undefined;
  const branches = listed?.filter(isRecord) ?? [];
  if (branches.length === 0) {
    return { description: tool.description, inputSchema: { properties: {}, ...schema, type: "object" } };
  }
  const exact = JSON.stringify({ oneOf: branches });
  return {
    description:
      exact.length > MAX_EXACT_LENGTH
        ? tool.description
        : `${tool.description}\n\nThe arguments match exactly one of these: ${exact}`,
    inputSchema: mergeBranches(schema, branches),
  };
}

function mergeBranches(schema: JsonSchema, branches: readonly JsonSchema[]): JsonSchema {
  const named = new Map<string, unknown[]>();
  for (const each of [schema, ...branches])
    for (const [name, property] of Object.entries(propertiesOf(each)))
      named.getOrInsertComputed(name, () => []).push(property);
  const required = branches
    .map((branch) => new Set(requiredOf(branch)))
    .reduce((common, names) => common.intersection(names));
  return {
    ...(schema["$defs"] !== undefined && { $defs: schema["$defs"] }),
    ...(schema["definitions"] !== undefined && { definitions: schema["definitions"] }),
    type: "object",
    properties: Object.fromEntries(named.entries().map(([name, all]) => [name, mergeProperties(all)])),
    required: [...new Set([...requiredOf(schema), ...required])],
    ...(branches.every((branch) => branch["additionalProperties"] === false) && {
      additionalProperties: false,
    }),
  };
}

/** One property as several branches have it: the values of all, or, where that cannot be said, the first. */
function mergeProperties(all: readonly unknown[]): unknown {
  const [first] = all;
  const values = all.map(valuesOf);
  if (!isRecord(first) || all.length === 1 || values.some(({ length }) => length === 0)) return first;
  const { const: _, ...rest } = first;
  return { ...rest, enum: [...new Set(values.flat())] };
}

function valuesOf(property: unknown): readonly unknown[] {
  if (!isRecord(property)) return [];
  if ("const" in property) return [property["const"]];
  return Array.isArray(property["enum"]) ? property["enum"] : [];
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, unknown>> {
  return isRecord(schema["properties"]) ? schema["properties"] : {};
}

function requiredOf(schema: JsonSchema): readonly unknown[] {
  return Array.isArray(schema["required"]) ? schema["required"] : [];
}
