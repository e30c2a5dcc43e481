/** What a model wrote, checked against the schema that a tool gave. */
import { type JsonSchema, reason } from "../kernel/plugin.ts";
import { compileBoundedCheck } from "../kernel/vocabulary/schema/bounded.ts";
import { judgeParams, type ParamsVerdict } from "../kernel/vocabulary/schema/params.ts";

export type ParamsCheck = (params: string) => ParamsVerdict;

/** Throws where the schema cannot be used, with the reason. */
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
