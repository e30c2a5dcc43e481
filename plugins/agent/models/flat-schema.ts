/**
 * Providers want an object at the top of a tool's schema and no `oneOf` there. A schema with branches is
 * shown to them as one object that has every property; the exact branches go into the description, and
 * the arguments are checked against the real schema anyway.
 */
import type { JsonSchema } from "../../../kernel/plugin.ts";
import type { ModelTool } from "./model.ts";

// A description that is longer than this costs more than it explains.
const LONGEST_EXACT = 4000;

export function describeForProvider(tool: ModelTool): { description: string; inputSchema: JsonSchema } {
  const { $schema: _, ...schema } = tool.schema;
  const branches = [schema["oneOf"], schema["anyOf"]].find(Array.isArray) as JsonSchema[] | undefined;
  if (branches === undefined) {
    return { description: tool.description, inputSchema: { properties: {}, ...schema, type: "object" } };
  }
  const exact = JSON.stringify({ oneOf: branches });
  return {
    description:
      exact.length > LONGEST_EXACT
        ? tool.description
        : `${tool.description}\n\nThe arguments match exactly one of these: ${exact}`,
    inputSchema: mergeBranches(schema, branches),
  };
}

function mergeBranches(schema: JsonSchema, branches: readonly JsonSchema[]): JsonSchema {
  const properties: Record<string, JsonSchema> = { ...propertiesOf(schema) };
  for (const branch of branches) {
    for (const [name, property] of Object.entries(propertiesOf(branch))) {
      properties[name] =
        properties[name] === undefined ? property : mergeProperty(properties[name], property);
    }
  }
  const required = branches
    .map((branch) => new Set(requiredOf(branch)))
    .reduce((common, names) => common.intersection(names));
  return {
    ...(schema["$defs"] !== undefined && { $defs: schema["$defs"] }),
    ...(schema["definitions"] !== undefined && { definitions: schema["definitions"] }),
    type: "object",
    properties,
    required: [...new Set([...requiredOf(schema), ...required])],
    ...(branches.every((branch) => branch["additionalProperties"] === false) && {
      additionalProperties: false,
    }),
  };
}

/** Two branches that name one property: the values of both, or, where that cannot be said, the first. */
function mergeProperty(one: JsonSchema, other: JsonSchema): JsonSchema {
  const values = [...valuesOf(one), ...valuesOf(other)];
  if (valuesOf(one).length === 0 || valuesOf(other).length === 0) return one;
  const { const: _, ...rest } = one;
  return { ...rest, enum: [...new Set(values)] };
}

function valuesOf(property: JsonSchema): readonly unknown[] {
  if ("const" in property) return [property["const"]];
  return Array.isArray(property["enum"]) ? property["enum"] : [];
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return (schema["properties"] ?? {}) as Record<string, JsonSchema>;
}

function requiredOf(schema: JsonSchema): readonly string[] {
  return Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];
}
