/** Ajv with our keywords. */
import { createRequire } from "node:module";
import type { Ajv2020 } from "ajv/dist/2020.js";
import { bytesOf } from "./size.ts";

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
