/** JSON Schemas compiled once; what they refuse becomes a fault that names the field in the caller's words. */
import { Ajv, type ErrorObject, type SchemaObject, type ValidateFunction } from "ajv";
import { Fault } from "../../../kernel/plugin.ts";
import { invalid } from "../refusal.ts";

// Strict compiling finds our own mistakes; the schema of schemas would take most of a first request.
const ajv = new Ajv({ verbose: true, allowUnionTypes: true, validateSchema: false });

/** What a field must be, told to whoever sent something else. */
ajv.addKeyword({ keyword: "refusal", schemaType: "string" });
/** Bytes of a text as it is, of anything else as compact JSON: sorting its keys would not change the count. */
ajv.addKeyword({
  keyword: "maxBytes",
  schemaType: "number",
  errors: false,
  validate: (most: number, value: unknown) => (bytesOf(value) ?? Number.POSITIVE_INFINITY) <= most,
});

/** `at` names what is checked; the answer is the value itself, now known to have the shape. */
export type Check<Shape> = (value: unknown, at?: string) => Shape;

export function compile<Shape>(schema: SchemaObject): Check<Shape> {
  // Compiled when first needed: a start should not wait for what perhaps nobody asks.
  let compiled: ValidateFunction<Shape> | undefined;
  return (value, at = "") => {
    compiled ??= ajv.compile<Shape>(schema);
    const validate = compiled;
    if (validate(value)) return value;
    throw refuse(validate.errors?.[0] as ErrorObject, at);
  };
}

function refuse(error: ErrorObject, at: string): Fault {
  const missing =
    error.keyword === "required" ? (error.params as { missingProperty: string }).missingProperty : undefined;
  const param = join(at, [
    ...error.instancePath.split("/").slice(1),
    ...(missing === undefined ? [] : [missing]),
  ]);
  const parent = error.parentSchema as SchemaObject & { refusal?: string };
  const must = missing === undefined ? (parent.refusal ?? error.message ?? "is not valid") : "is required";
  const words = `${param === "" ? "The body" : `"${param}"`} ${must}.`;
  return param === ""
    ? new Fault("invalid", "invalid_body", words)
    : invalid(param, `invalid_${fieldOf(param)}`, words);
}

function join(at: string, pointer: readonly string[]): string {
  return pointer
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce(
      (path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path === "" ? step : `${path}.${step}`),
      at,
    );
}

/** The last name of a path: `tools[0].name` is about a name. */
const fieldOf = (param: string): string => /([A-Za-z_]+)(?:\[\d+\])*$/.exec(param)?.[1] ?? "field";

/** Undefined for what nests too deeply to be written down. */
export function bytesOf(value: unknown): number | undefined {
  try {
    return Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
