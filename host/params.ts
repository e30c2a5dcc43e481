/** What a model wrote, checked against the schema that a tool gave. */
import type { JsonSchema } from "../kernel/plugin.ts";
import { compileBoundedCheck } from "../kernel/schema/bounded.ts";
import { describeMistakes } from "../kernel/schema/mistake.ts";

export type ParamsVerdict =
  | { readonly ok: true }
  /** `detail` names what is wrong and what is accepted. */
  | { readonly ok: false; readonly detail: string };

export type ParamsCheck = (params: string) => ParamsVerdict;

/** Throws where the schema cannot be used, with the reason. */
export function compileParamsCheck(schema: JsonSchema): ParamsCheck {
  const check = compileBoundedCheck(schema);
  return (params) => {
    let value: unknown;
    try {
      value = JSON.parse(params);
    } catch (error) {
      return { ok: false, detail: `not JSON: ${(error as Error).message}` };
    }
    try {
      const mistakes = check(value, params.length);
      return mistakes.length === 0
        ? { ok: true }
        : { ok: false, detail: describeMistakes(mistakes, "params") };
    } catch (error) {
      return { ok: false, detail: `the tool's schema cannot be checked: ${(error as Error).message}` };
    }
  };
}
