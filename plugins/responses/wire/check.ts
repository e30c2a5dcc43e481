/** What a declaration refuses becomes a fault that names the field in the caller's words. */
import type { TSchema } from "typebox";
import { compileCheck, type Declared, describeMistake, wireSchema } from "../../../kernel/kit.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { invalid } from "./refusal.ts";

/** `at` names what is checked; the answer is the value itself, now known to have the shape. */
export type Check<Shape> = (value: unknown, at?: string) => Shape;

export function compile<Schema extends TSchema>(declared: Schema): Check<Declared<Schema>> {
  const check = compileCheck(wireSchema(declared));
  return (value, at) => {
    const [mistake] = check(value, at);
    if (mistake === undefined) return value as Declared<Schema>;
    const words = `${describeMistake(mistake, "The body")}.`;
    throw mistake.path === ""
      ? new Fault("invalid", "invalid_body", words)
      : invalid(mistake.path, `invalid_${fieldOf(mistake.path)}`, words);
  };
}

/** The last name of a path: `tools[0].name` is about a name, and `input[0]` about the input. */
const fieldOf = (param: string): string =>
  /^[A-Za-z_]+/.exec(param.slice(param.lastIndexOf("../intake") + 1))?.[0] ?? "field";
