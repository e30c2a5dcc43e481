/** Checks what a model wrote as a tool's arguments, in words that let it mend them. */
import type { ValidateFunction } from "ajv";
import { type JsonSchema, reason } from "../../../kernel/plugin.ts";

export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: string; readonly message: string };

// Schemas come from tools and callers; a handful of them is in use at any time.
const MOST_KEPT = 200;
const MOST_TOLD = 5;

const validators = new Map<string, ValidateFunction | undefined>();

export async function checkArguments(params: string, schema: JsonSchema): Promise<Checked> {
  let value: unknown;
  try {
    value = JSON.parse(params);
  } catch (error) {
    return {
      ok: false,
      code: "malformed_arguments",
      message: `The arguments are not valid JSON (${reason(error)}). Call again with a JSON object.`,
    };
  }
  const validate = await validatorOf(schema);
  if (validate === undefined || validate(value)) return { ok: true, value };
  const problems = (validate.errors ?? []).map(({ instancePath, message, params: detail }) => {
    const values = detail["allowedValues"] ?? detail["allowedValue"] ?? detail["additionalProperty"];
    return `${instancePath === "" ? "the arguments" : instancePath.slice(1).replaceAll("/", ".")} ${message}${
      values === undefined ? "" : ` (${[values].flat().join(", ")})`
    }`;
  });
  const told = [...new Set(problems)].slice(0, MOST_TOLD).join("; ");
  return { ok: false, code: "invalid_arguments", message: `The arguments do not fit the schema: ${told}.` };
}

async function validatorOf(schema: JsonSchema): Promise<ValidateFunction | undefined> {
  const key = JSON.stringify(schema);
  if (validators.has(key)) return validators.get(key);
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  let validate: ValidateFunction | undefined;
  try {
    validate = new Ajv2020({ strict: false, validateFormats: false, allErrors: true, logger: false }).compile(
      withoutPatterns(schema) as JsonSchema,
    );
  } catch {
    // A schema nobody can compile checks nothing; the tool itself still does.
  }
  if (validators.size >= MOST_KEPT) validators.clear();
  validators.set(key, validate);
  return validate;
}

/** A pattern from a stranger can keep a regular expression busy for hours, so the tool checks its own. */
function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (typeof schema !== "object" || schema === null) return schema;
  const { $schema: _, pattern, patternProperties, ...rest } = schema as Record<string, unknown>;
  // A property may itself be called "pattern"; then its value is a schema, not a string.
  const kept: Record<string, unknown> = { ...rest, ...(typeof pattern === "object" && { pattern }) };
  if (typeof patternProperties === "object") kept["additionalProperties"] = true;
  return Object.fromEntries(Object.entries(kept).map(([name, value]) => [name, withoutPatterns(value)]));
}
