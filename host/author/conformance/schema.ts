/** Checks that a schema tells a model enough, and lets nothing through that the tool does not know. */
import type { JsonSchema } from "../../../kernel/plugin.ts";
import type { Finding } from "./report.ts";

const SHORT = 20;

export function reviewSchema(description: string, schema: JsonSchema): readonly Finding[] {
  const remarks: Finding[] = [];
  const warn = (detail: string) => remarks.push({ subject: "schema", verdict: "warn", detail });
  let properties = 0;
  walk(schema, "params", (node, path) => {
    if (
      node["type"] === "object" &&
      node["properties"] !== undefined &&
      node["additionalProperties"] === undefined
    )
      warn(
        `${path} allows additional properties: set additionalProperties to false, so that a model learns of its mistakes`,
      );
    for (const [name, property] of Object.entries((node["properties"] ?? {}) as Record<string, JsonSchema>)) {
      properties++;
      if (typeof property !== "object" || property === null) continue;
      const isDescribed =
        typeof property["description"] === "string" || "const" in property || "$ref" in property;
      if (!isDescribed) warn(`'${name}' of ${path} has no description: the model sees only its name`);
    }
  });
  return [
    {
      subject: "description",
      verdict: description.trim().length < SHORT ? "warn" : "ok",
      detail:
        description.trim().length < SHORT
          ? `${description.trim().length} characters: say when a model should call it`
          : `${description.length} characters`,
    },
    {
      subject: "schema",
      verdict: "ok",
      detail: `a JSON Schema of ${properties} ${properties === 1 ? "property" : "properties"}`,
    },
    ...remarks,
  ];
}

const LISTS = ["oneOf", "anyOf", "allOf", "prefixItems"];
const MAPS = ["properties", "$defs", "definitions", "patternProperties"];

function walk(node: unknown, path: string, visit: (node: JsonSchema, path: string) => void): void {
  if (typeof node !== "object" || node === null || Array.isArray(node)) return;
  const schema = node as JsonSchema;
  visit(schema, path);
  for (const key of LISTS) {
    const members = schema[key];
    if (!Array.isArray(members)) continue;
    for (const [at, member] of members.entries()) walk(member, `${path}.${key}[${at}]`, visit);
  }
  for (const key of MAPS) {
    const members = schema[key];
    if (typeof members !== "object" || members === null) continue;
    for (const [name, member] of Object.entries(members)) walk(member, `${path}.${name}`, visit);
  }
  walk(schema["items"], `${path}[]`, visit);
}
