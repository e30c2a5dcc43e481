/**
 * Checks what a model wrote as params of the agent's own tools and of the caller's functions. Those of installed tools
 * are checked by the tool host alone, and the model reads its words.
 */

import { type Check, compileCheck, judgeParams, type ParamsVerdict } from "../../../../kernel/kit.ts";
import type { JsonSchema } from "../../../../kernel/plugin.ts";

const checks = new WeakMap<JsonSchema, Check>();

/** Checks arguments of one of the agent's own tools, whose schema is ours. */
export function checkOwnArguments(params: string, schema: JsonSchema): ParamsVerdict {
  const check = checks.get(schema) ?? compileCheck(schema);
  checks.set(schema, check);
  return judgeParams(params, (value) => check(value));
}

const checkObject = compileCheck({ type: "object" });

/**
 * Of a caller's function. Its schema is the caller's to check: in this process, references that fan out or a pattern
 * that backtracks would stop everybody.
 */
export function checkCallersArguments(params: string): ParamsVerdict {
  return judgeParams(params, (value) => checkObject(value));
}
