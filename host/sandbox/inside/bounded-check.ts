/** The check against a stranger's schema, held to a clock: a pattern may backtrack for hours, and references fan out. */
import { createContext, Script } from "node:vm";
import { Ajv, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { JsonSchema } from "../../../kernel/schema/declare.ts";
import { explain } from "../../../kernel/schema/explain.ts";
import type { Mistake } from "../../../kernel/schema/mistake.ts";

/** `size` is how long the value is as JSON. Throws, with the reason, where the check takes too long. */
export type BoundedCheck = (value: unknown, size: number) => readonly Mistake[];

// Generous, since it is the wall's time and the machine may be busy.
const COMPILE_MS = 3000;
const CHECK_MS = 1000;
// Polishing the code takes longer than a tool's few checks ever win back.
const OPTIONS: Options = {
  allErrors: true,
  verbose: true,
  strict: false,
  logger: false,
  code: { optimize: false },
};
/** Characters of schema times characters of value: so little is checked before a clock would have been set up. */
const LITTLE_WORK = 1_000_000;

/** Throws where the schema cannot be used, with the reason. */
export function compileBoundedCheck(schema: JsonSchema): BoundedCheck {
  const validate = withinTime(COMPILE_MS, openCompiler(schema));
  // Watching the clock takes a thread for each check, which is most of what a short call costs in this process.
  const schemaSize = isBounded(schema) ? JSON.stringify(schema).length : Number.POSITIVE_INFINITY;
  return (value, size) => {
    const look = () => (validate(value) ? [] : explain(validate.errors ?? [], value));
    return schemaSize * size <= LITTLE_WORK ? look() : withinTime(CHECK_MS, look);
  };
}
/** Keywords that look at a value at most once for each place in the schema: without references, the work is schema times value. */
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

// Only the schema of schemas, which takes longest to compile, is shared: strangers' schemas stay apart from each other.
let draft7Meta: Ajv | undefined;
let draft2020Meta: Ajv2020 | undefined;

function openMeta(isDraft7: boolean): Ajv | Ajv2020 {
  if (isDraft7) draft7Meta ??= new Ajv(OPTIONS);
  else draft2020Meta ??= new Ajv2020(OPTIONS);
  const meta = (isDraft7 ? draft7Meta : draft2020Meta) as Ajv | Ajv2020;
  void meta.validateSchema({});
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
    void meta.validateSchema(schema, true);
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
