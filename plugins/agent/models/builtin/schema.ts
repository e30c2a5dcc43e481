/** A tool's JSON Schema as the built-in model reads it: branches of named properties, and a validator. */
import type { ErrorObject, ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { JsonSchema } from "../../../../kernel/plugin.ts";
import { matchesPattern } from "./pattern.ts";

export interface Property {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

/** One shape the parameters may take; a schema without alternatives has one. */
export interface Branch {
  readonly index: number;
  readonly description: string;
  /** Properties with only one possible value, which tell the branches apart. */
  readonly fixed: Readonly<Record<string, unknown>>;
  /** The properties left to fill. */
  readonly properties: readonly Property[];
}

export type Params = Record<string, unknown>;

const MAX_BRANCHES = 32;
const MAX_DEPTH = 6;

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function branchesOf(schema: JsonSchema): readonly Branch[] {
  const base = flatten(schema, schema, 0);
  const alternatives = [base["oneOf"], base["anyOf"]].find(Array.isArray) ?? [];
  const shapes = alternatives
    .slice(0, MAX_BRANCHES)
    .filter(isRecord)
    .map((alternative) => merge(base, flatten(alternative, schema, 1)));
  return (shapes.length > 0 ? shapes : [base]).map((shape, index) => toBranch(shape, schema, index));
}

function toBranch(shape: JsonSchema, root: JsonSchema, index: number): Branch {
  const required = new Set(Array.isArray(shape["required"]) ? shape["required"] : []);
  const fixed: Record<string, unknown> = {};
  const properties: Property[] = [];
  for (const [name, raw] of Object.entries(isRecord(shape["properties"]) ? shape["properties"] : {})) {
    const property = flatten(isRecord(raw) ? raw : {}, root, 1);
    const only = onlyValue(property);
    if (only !== undefined) {
      if (required.has(name)) fixed[name] = only;
    } else {
      properties.push({ name, schema: property, required: required.has(name) });
    }
  }
  return { index, description: textOf(shape["description"]), fixed, properties };
}

function onlyValue(schema: JsonSchema): unknown {
  if ("const" in schema) return schema["const"];
  const values = schema["enum"];
  return Array.isArray(values) && values.length === 1 ? values[0] : undefined;
}

/** Follows local references and folds `allOf` in, as far as a person would read it. */
function flatten(schema: JsonSchema, root: JsonSchema, depth: number): JsonSchema {
  if (depth > MAX_DEPTH) return schema;
  let flat = schema;
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    const target = follow(root, reference);
    if (target) flat = merge(flatten(target, root, depth + 1), schema);
  }
  const parts = schema["allOf"];
  if (Array.isArray(parts)) {
    for (const part of parts) if (isRecord(part)) flat = merge(flat, flatten(part, root, depth + 1));
  }
  return flat;
}

function follow(root: JsonSchema, reference: string): JsonSchema | undefined {
  if (!reference.startsWith("#/")) return undefined;
  let place: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isRecord(place) || !Object.hasOwn(place, key)) return undefined;
    place = place[key];
  }
  return isRecord(place) ? place : undefined;
}

function merge(base: JsonSchema, over: JsonSchema): JsonSchema {
  const properties = { ...asRecord(base["properties"]), ...asRecord(over["properties"]) };
  const required = [...asList(base["required"]), ...asList(over["required"])];
  return { ...base, ...over, properties, required };
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The JSON type of a property, "null" left aside. */
export function typeOf(schema: JsonSchema): string | undefined {
  const type = schema["type"];
  if (Array.isArray(type))
    return type.find((one): one is string => typeof one === "string" && one !== "null");
  return typeof type === "string" ? type : undefined;
}

export interface Problem {
  /** The top-level property at fault, where one is. */
  readonly property: string | undefined;
  readonly message: string;
}

/** The validator keeps one expression for each text, which is what `toString` tells apart. */
const guarded = (pattern: string) => ({
  test: (text: string) => matchesPattern(pattern, text),
  toString: () => pattern,
});

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  validateFormats: true,
  logger: false,
  addUsedSchema: false,
  code: {
    regExp: Object.assign(guarded, { code: "pattern" }),
  },
});
addFormats.default(ajv);

/** By text: the same schema comes as a new object with every request. */
const validators = new Map<string, ValidateFunction | null>();
const MOST_VALIDATORS = 500;

/** What the schema says against these parameters; a schema that cannot be compiled says nothing. */
export function problemsOf(schema: JsonSchema, params: unknown): readonly Problem[] {
  const validate = validatorOf(schema);
  if (!validate || validate(params)) return [];
  return (validate.errors ?? []).map(toProblem);
}

function validatorOf(schema: JsonSchema): ValidateFunction | null {
  const key = JSON.stringify(schema);
  const known = validators.get(key);
  if (known !== undefined) return known;
  // Dialect and identity are left aside: two callers may give different schemas the same name.
  const { $schema: _dialect, $id: _id, id: _oldId, $async: _async, ...own } = schema;
  let validate: ValidateFunction | null = null;
  try {
    validate = ajv.compile(own);
  } catch {
    validate = null;
  } finally {
    ajv.removeSchema(own);
  }
  if (validators.size >= MOST_VALIDATORS) validators.clear();
  validators.set(key, validate);
  return validate;
}

function toProblem(error: ErrorObject): Problem {
  const named = textOf(error.params["missingProperty"]) || textOf(error.params["additionalProperty"]);
  const first = error.instancePath.split("/")[1]?.replaceAll("~1", "/").replaceAll("~0", "~");
  return { property: first ?? (named || undefined), message: error.message ?? error.keyword };
}
