/**
 * What a model wrote, checked against the schema that a tool gave. The schema is a stranger's: a pattern
 * that backtracks for hours or references that fan out must not hold up the service, so everything that
 * depends on it is done against a clock.
 */
import { createContext, Script } from "node:vm";
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { JsonSchema } from "../kernel/plugin.ts";

export type ParamsVerdict =
  | { readonly ok: true }
  /** `detail` names what is wrong and what is accepted. */
  | { readonly ok: false; readonly detail: string };

export type ParamsCheck = (params: string) => ParamsVerdict;

// Generous, since it is the wall's time and the machine may be busy.
const COMPILE_MILLIS = 3000;
const CHECK_MILLIS = 1000;
const SHOWN_PROBLEMS = 5;
const EXPLAINED_PROBLEMS = 200;
const SHOWN_VALUES = 50;
// Polishing the code takes longer than a tool's few checks ever win back.
const OPTIONS: Options = {
  allErrors: true,
  verbose: true,
  strict: false,
  logger: false,
  code: { optimize: false },
};
/** Characters of schema times characters of params: so little is checked before a clock would have been set up. */
const LITTLE_WORK = 1_000_000;

/** Throws where the schema cannot be used, with the reason. */
export function compileParamsCheck(schema: JsonSchema): ParamsCheck {
  const validate = withinTime(COMPILE_MILLIS, openCompiler(schema));
  // Watching the clock takes a thread for each check, which is most of what a short call costs in this process.
  const size = isBounded(schema) ? JSON.stringify(schema).length : Number.POSITIVE_INFINITY;
  const look = (value: unknown): ParamsVerdict => {
    if (validate(value)) return { ok: true };
    const problems = explain((validate.errors ?? []).slice(0, EXPLAINED_PROBLEMS));
    return { ok: false, detail: problems.slice(0, SHOWN_PROBLEMS).join("; ") };
  };
  return (params) => {
    let value: unknown;
    try {
      value = JSON.parse(params);
    } catch (error) {
      return { ok: false, detail: `not JSON: ${(error as Error).message}` };
    }
    try {
      if (size * params.length <= LITTLE_WORK) return look(value);
      return withinTime(CHECK_MILLIS, () => look(value));
    } catch (error) {
      return { ok: false, detail: `the tool's schema cannot be checked: ${(error as Error).message}` };
    }
  };
}

/** What looks at a value once for each place in the schema, or not at all: without references, the work is schema times value. */
const BOUNDED = new Set(
  `type const enum required minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems
   minProperties maxProperties title description default examples deprecated readOnly writeOnly $schema $comment`.split(
    /\s+/,
  ),
);
const ONE_SCHEMA = new Set(["items", "additionalProperties", "not", "if", "then", "else"]);
const MANY_SCHEMAS = new Set(["properties", "allOf", "anyOf", "oneOf"]);

/** False for patterns, formats, references, comparisons among items, and whatever else is not known to be bounded. */
function isBounded(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return typeof schema === "boolean";
  return Object.entries(schema).every(([keyword, value]) => {
    if (ONE_SCHEMA.has(keyword)) return isBounded(value);
    if (MANY_SCHEMAS.has(keyword)) return Object.values(value as object).every(isBounded);
    return BOUNDED.has(keyword);
  });
}

// For the schema of schemas alone, which takes longest to compile: strangers' schemas stay apart from each other.
let draft7Meta: Ajv | undefined;
let draft2020Meta: Ajv2020 | undefined;

function openMeta(isDraft7: boolean): Ajv | Ajv2020 {
  if (isDraft7) draft7Meta ??= new Ajv(OPTIONS);
  else draft2020Meta ??= new Ajv2020(OPTIONS);
  const meta = (isDraft7 ? draft7Meta : draft2020Meta) as Ajv | Ajv2020;
  meta.validateSchema({});
  return meta;
}

function openCompiler(schema: JsonSchema): () => ValidateFunction {
  const { $schema } = schema;
  const isDraft7 = typeof $schema === "string" && $schema.includes("draft-07");
  const meta = openMeta(isDraft7);
  const options = { ...OPTIONS, validateSchema: false };
  const ajv = isDraft7 ? new Ajv(options) : new Ajv2020(options);
  formats.default(ajv);
  return () => {
    meta.validateSchema(schema, true);
    return ajv.compile(schema);
  };
}

const context = createContext({ work: () => {} });
const script = new Script("work()");

function withinTime<Result>(millis: number, work: () => Result): Result {
  context["work"] = work;
  try {
    return script.runInContext(context, { timeout: millis });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") {
      throw new Error(`it takes longer than ${millis} ms`);
    }
    throw error;
  }
}

const BRANCH = /^(.*\/(?:oneOf|anyOf)\/\d+)\//;

/**
 * Where branches exclude each other by a constant, only the one that was meant says something useful;
 * where none was meant, only the constants do; where it cannot be told, what all of them say.
 */
function explain(errors: readonly ErrorObject[]): readonly string[] {
  const branchOf = (error: ErrorObject) => BRANCH.exec(error.schemaPath)?.[1] ?? "";
  const told = errors.filter(({ keyword }) => keyword !== "oneOf" && keyword !== "anyOf");
  const constants = told.filter(({ keyword }) => keyword === "const");
  const excluded = new Set(constants.map(branchOf));
  const meant = Map.groupBy(
    told.filter((error) => !excluded.has(branchOf(error))),
    branchOf,
  );
  const [first] = constants;
  if (meant.size === 0 && first !== undefined) {
    const rivals = constants.filter(({ instancePath }) => instancePath === first.instancePath);
    const allowedValues = rivals.map(({ params }) => params["allowedValue"]);
    return [describe({ ...first, keyword: "enum", params: { allowedValues } })];
  }
  const sentences = [...meant.values()].map((group) => new Set(group.map(describe)));
  const shared = sentences.reduce((left, right) => left.intersection(right), sentences[0] ?? new Set());
  if (shared.size > 0) return [...shared];
  return [...new Set((told.length > 0 ? told : errors).map(describe))];
}

function describe({ keyword, instancePath, params, parentSchema, data, message }: ErrorObject): string {
  const at = instancePath.slice(1).replaceAll("/", ".");
  const name = at === "" ? "params" : `'${at}'`;
  const below = (key: unknown) => `'${at === "" ? key : `${at}.${key}`}'`;
  switch (keyword) {
    case "required":
      return `${below(params["missingProperty"])} is missing`;
    case "additionalProperties":
      return `${below(params["additionalProperty"])} is not known`;
    case "const":
      return `${name} must be ${JSON.stringify(params["allowedValue"])}`;
    case "enum": {
      const values = params["allowedValues"] as unknown[];
      const shown = values.slice(0, SHOWN_VALUES).map((value) => JSON.stringify(value));
      if (values.length > SHOWN_VALUES) shown.push(`… (${values.length} in all)`);
      return `${name} must be one of ${shown.join(", ")}, given ${show(data)}`;
    }
    case "minimum":
    case "maximum": {
      const { minimum, maximum } = parentSchema as { minimum?: number; maximum?: number };
      return minimum !== undefined && maximum !== undefined
        ? `${name} must be between ${minimum} and ${maximum}, given ${show(data)}`
        : `${name} ${message}, given ${show(data)}`;
    }
    default:
      return `${name} ${message}`;
  }
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
