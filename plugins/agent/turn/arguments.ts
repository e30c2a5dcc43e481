/**
 * Checks what a model wrote as params of the agent's own tools and of the caller's functions. Those of installed tools
 * are checked by the tool host alone, and the model reads its words.
 */
import { LRUCache } from "lru-cache";
import type { JsonSchema } from "../../../kernel/plugin.ts";
import { compileCheck } from "../../../kernel/vocabulary/schema/check.ts";
import type { Mistake } from "../../../kernel/vocabulary/schema/mistake.ts";
import { judgeParams, type ParamsVerdict } from "../../../kernel/vocabulary/schema/params.ts";

type Check = (value: unknown, size: number) => readonly Mistake[];

// The agent's own are few; callers send theirs with every request, and a handful of them is in use at any time.
const MOST_KEPT = 200;
const CHECKS_NOTHING: Check = () => [];

const checks = new LRUCache<string, Check>({ max: MOST_KEPT });

/** `isOurs`: the schema is the agent's own, not a caller's. */
export async function checkArguments(
  params: string,
  schema: JsonSchema,
  isOurs: boolean,
): Promise<ParamsVerdict> {
  const key = `${isOurs} ${JSON.stringify(schema)}`;
  let check = checks.get(key);
  if (check === undefined) {
    check = isOurs ? compileOwn(schema) : await compileCallers(schema);
    checks.set(key, check);
  }
  return judgeParams(params, check);
}

function compileOwn(schema: JsonSchema): Check {
  const check = compileCheck(schema);
  return (value) => check(value);
}

/** A schema that cannot be used, or takes too long, checks nothing: the caller's function still does. */
async function compileCallers(schema: JsonSchema): Promise<Check> {
  const { compileBoundedCheck } = await import("../../../kernel/vocabulary/schema/bounded.ts");
  try {
    const check = compileBoundedCheck(withoutPatterns(schema) as JsonSchema);
    return (value, size) => {
      try {
        return check(value, size);
      } catch {
        return [];
      }
    };
  } catch {
    return CHECKS_NOTHING;
  }
}

/** A pattern from a stranger can keep a regular expression busy for hours, so the caller checks its own. */
function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (typeof schema !== "object" || schema === null) return schema;
  const { $schema: _, pattern, format, patternProperties, ...rest } = schema as Record<string, unknown>;
  // A property may itself be called "pattern" or "format"; then its value is a schema, not a string.
  const kept: Record<string, unknown> = {
    ...rest,
    ...(typeof pattern === "object" && { pattern }),
    ...(typeof format === "object" && { format }),
  };
  if (typeof patternProperties === "object") kept["additionalProperties"] = true;
  return Object.fromEntries(Object.entries(kept).map(([name, value]) => [name, withoutPatterns(value)]));
}
