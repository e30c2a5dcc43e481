/** Puts Ajv's errors into words: one error, one problem. */
import type { ErrorObject } from "ajv";
import type { AuthorWords, SchemaNode } from "./mistake.ts";

const SHOWN_VALUES = 50;
const SHOWN_CHARACTERS = 60;
const NOT_EMPTY = "must not be empty";

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
  null: "null",
};

export function problemOf(error: ErrorObject, authorWords: AuthorWords): string {
  const { keyword, params, data } = error;
  const node = (error.parentSchema ?? {}) as SchemaNode;
  switch (keyword) {
    case "required": {
      const property = propertyOf(node, params["missingProperty"]);
      const words = property && (authorWords(property) ?? constantWords(property));
      return words === undefined ? "is missing" : `is missing: it ${words}`;
    }
    case "additionalProperties":
    case "unevaluatedProperties": {
      const known = Object.keys((node["properties"] ?? {}) as object);
      return known.length === 0 ? "is not known" : `is not known; known are ${listed(known, String)}`;
    }
    default: {
      const words = authorWords(node) ?? requirement(error, node);
      const given = words === NOT_EMPTY ? undefined : show(data, keyword === "type");
      return given === undefined ? words : `${words}, given ${given}`;
    }
  }
}

function propertyOf(node: SchemaNode, name: unknown): SchemaNode | undefined {
  const properties = node["properties"] as Readonly<Record<string, unknown>> | undefined;
  const property = properties?.[String(name)];
  return typeof property === "object" && property !== null ? (property as SchemaNode) : undefined;
}

function constantWords(node: SchemaNode): string | undefined {
  return Object.hasOwn(node, "const") ? `must be ${JSON.stringify(node["const"])}` : undefined;
}

/** Returns what a value that fits none of these must be: `must be a string or null`. */
export function joinRequirements(errors: readonly ErrorObject[]): string {
  const values = errors.map(valuesOf);
  if (values.every((list) => list !== undefined)) return oneOfWords(values.flat());
  const words = errors.map((error) => requirement(error, {}).replace(/^must be /, ""));
  return `must be ${[...new Set(words)].join(" or ")}`;
}

/** The values that an error says are the only ones accepted. */
export function valuesOf({ keyword, params }: ErrorObject): readonly unknown[] | undefined {
  if (keyword === "const") return [params["allowedValue"]];
  return keyword === "enum" ? (params["allowedValues"] as readonly unknown[]) : undefined;
}

function requirement({ keyword, params, schema, message }: ErrorObject, node: SchemaNode): string {
  const limit = params["limit"] as number;
  switch (keyword) {
    case "type": {
      const types = [params["type"] as string | readonly string[]].flat();
      return `must be ${types.map((type) => TYPES[type] ?? type).join(" or ")}`;
    }
    case "const":
      return oneOfWords([params["allowedValue"]]);
    case "enum":
      return oneOfWords(params["allowedValues"] as readonly unknown[]);
    case "minimum":
    case "maximum": {
      const { minimum, maximum } = node;
      if (minimum !== undefined && maximum !== undefined) return `must be between ${minimum} and ${maximum}`;
      return keyword === "minimum" ? `must be at least ${limit}` : `must be at most ${limit}`;
    }
    case "minLength":
    case "minItems":
      return limit === 1 ? NOT_EMPTY : `must have at least ${limit} ${unitOf(keyword)}`;
    case "maxLength":
    case "maxItems":
      return `must have at most ${limit} ${unitOf(keyword)}`;
    case "maxBytes":
      return `must take at most ${schema} bytes`;
    case "oneOf":
      return "fits more than one of the accepted shapes";
    default:
      return message ?? "is not valid";
  }
}

const unitOf = (keyword: string): string => (keyword.endsWith("Items") ? "items" : "characters");

export function oneOfWords(values: readonly unknown[]): string {
  const [only] = values;
  if (values.length === 1) return `must be ${JSON.stringify(only)}`;
  return `must be one of ${listed(values, (value) => JSON.stringify(value))}`;
}

function listed<Value>(values: readonly Value[], write: (value: Value) => string): string {
  const shown = values.slice(0, SHOWN_VALUES).map(write);
  if (values.length > SHOWN_VALUES) shown.push(`… (${values.length} in all)`);
  return shown.join(", ");
}

/** Never the inside of an object or an array: it may be of any size, and of any depth. */
export function show(value: unknown, showsKind: boolean): string | undefined {
  if (typeof value === "string")
    return value.length > SHOWN_CHARACTERS
      ? `${JSON.stringify(value.slice(0, SHOWN_CHARACTERS - 3))}…`
      : JSON.stringify(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (!showsKind) return undefined;
  return Array.isArray(value) ? "an array" : "an object";
}
