/** Checks what a model wrote against a schema: that of a tool, or of somebody who wants an answer of that shape. */
// Not by the kernel's kit: a tool's process would load all of it, and may not.
import { reason } from "../../../kernel/fault.ts";
import type { JsonSchema } from "../../../kernel/schema/declare.ts";
import { describeMistake } from "../../../kernel/schema/mistake.ts";
import { judgeParams, type ParamsVerdict } from "../../../kernel/vocabulary/params.ts";
import { compileBoundedCheck } from "./bounded-check.ts";

export type ValueCheck = (value: unknown, size: number) => readonly string[];

/** Throws, as the check does, where the schema cannot be used, with the reason. */
export function compileValueCheck(schema: JsonSchema): ValueCheck {
  const check = compileBoundedCheck(schema);
  return (value, size) => check(value, size).map((mistake) => describeMistake(mistake, "the answer"));
}

export type ParamsCheck = (params: string) => ParamsVerdict;

export function compileParamsCheck(schema: JsonSchema): ParamsCheck {
  const check = compileBoundedCheck(schema);
  return (params) => {
    try {
      return judgeParams(params, check);
    } catch (error) {
      return { ok: false, detail: `the tool's schema cannot be checked: ${reason(error)}` };
    }
  };
}
