/**
 * Checks a value against a JSON Schema of ours and says what is wrong with it, in the one way everybody does. What becomes
 * of a mistake is the caller's choice. A stranger's schema is checked in the stranger's process.
 */
import { createRequire } from "node:module";
import type { Ajv2020, ValidateFunction } from "ajv/dist/2020.js";
import type { JsonSchema } from "./declare.ts";
import type { AuthorWords } from "./error-words.ts";
import { explain } from "./explain.ts";
import type { Mistake } from "./mistake.ts";

/** No mistakes for a value that fits. `at` says where the value stands in something larger, such as `tools[0]`. */
export type Check = (value: unknown, at?: string) => readonly Mistake[];

export interface CheckOptions {
  /** Reads texts as what the schema wants and changes the value accordingly: a query has nothing but texts. */
  readonly coerces?: boolean;
  /** Replaces the text that the schema has under `refusal`. */
  readonly authorWords?: AuthorWords;
}

const NONE: readonly Mistake[] = [];
/** A value of millions of wrong items would make millions of errors; of such a one only the first is explained. */
const MANY_NODES = 10_000;

/** A schema's own check, where one was compiled when the package was built: see `.package/bundle.ts`. */
export const COMPILED: unique symbol = Symbol.for("postern.compiled");

const refusalOf: AuthorWords = ({ refusal }) => (typeof refusal === "string" ? refusal : undefined);

/** Compiled when a value first comes: a start should not wait for what perhaps nobody asks. */
export function compileCheck(schema: JsonSchema, options: CheckOptions = {}): Check {
  const { coerces = false, authorWords = refusalOf } = options;
  const ready = (schema as { readonly [COMPILED]?: ValidateFunction })[COMPILED];
  const fits = once(() => ready ?? compilerOf(coerces, false).compile(schema));
  const findAll = once(() => compilerOf(coerces, true).compile(schema));
  return (value, at = "") => {
    let validate: ValidateFunction = fits();
    if (validate(value)) return NONE;
    if (hasFewNodes(value)) {
      validate = findAll();
      validate(value);
    }
    return explain(validate.errors ?? [], value, { at, authorWords });
  };
}

/** Bytes of a text as it is, of anything else as compact JSON; undefined for what nests too deeply to be written. */
export function bytesOf(value: unknown): number | undefined {
  try {
    return Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const compilers = new Map<string, Ajv2020>();

export function compilerOf(coerceTypes: boolean, allErrors: boolean): Ajv2020 {
  const key = `${coerceTypes} ${allErrors}`;
  const known = compilers.get(key);
  if (known !== undefined) return known;
  // Loaded with the first value: it takes longer than most of a start.
  const ajv2020 = createRequire(import.meta.url)("ajv/dist/2020.js") as typeof import("ajv/dist/2020.js");
  const compiler = new ajv2020.Ajv2020({
    verbose: true,
    allErrors,
    coerceTypes,
    // Strict compiling finds our own mistakes; the schema of schemas would take most of a first request.
    allowUnionTypes: true,
    formats: { "date-time": (text: string) => !Number.isNaN(Date.parse(text)) },
    validateSchema: false,
    // Polishing the code takes longer than it wins back.
    code: { optimize: false, source: true, esm: true },
  });
  compiler.addKeyword({ keyword: "refusal", schemaType: "string" });
  // The constants of the branches say it too; editors and OpenAPI read this one.
  compiler.addKeyword({ keyword: "discriminator", schemaType: "object" });
  compiler.addKeyword({
    keyword: "maxBytes",
    schemaType: "number",
    errors: false,
    validate: (most: number, value: unknown) => (bytesOf(value) ?? Number.POSITIVE_INFINITY) <= most,
  });
  compilers.set(key, compiler);
  return compiler;
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function hasFewNodes(value: unknown): boolean {
  const waiting = [value];
  for (let count = 0; waiting.length > 0; count++) {
    if (count + waiting.length > MANY_NODES) return false;
    const node = waiting.pop();
    if (typeof node !== "object" || node === null) continue;
    const values = Object.values(node);
    if (count + waiting.length + values.length > MANY_NODES) return false;
    waiting.push(...values);
  }
  return true;
}
