/** Shapes declared once: their types, their wire form, checking a value, and saying what is wrong with it. */

export { type Check, compileCheck } from "../schema/check.ts";
export { type Declared, JsonSchema, maybe, named, nullable } from "../schema/declare.ts";
export { describeMistake, type Mistake } from "../schema/mistake.ts";
export { bytesOf } from "../schema/size.ts";
export { Time, Type } from "../schema/type.ts";
export { fromWire, toWire } from "../schema/wire-convert.ts";
export { type Rendering, wireSchema } from "../schema/wire-schema.ts";
export { invalidParams, judgeParams, type ParamsVerdict } from "../vocabulary/params.ts";
