/** Checks a value against a JSON Schema of ours and says what is wrong. A stranger's is checked in the stranger's process. */
import type { ValidateFunction } from "ajv/dist/2020.js";
import { compilerOf } from "./compiler.ts";
import type { JsonSchema } from "./declare.ts";
import { explain } from "./explain.ts";
import type { AuthorWords, Mistake } from "./mistake.ts";

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
