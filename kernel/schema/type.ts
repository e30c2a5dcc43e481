/** TypeBox's builders, with its signatures and schemas: loading TypeBox itself takes a start from 300 ms to 500. */
import type { Type as TypeBox } from "typebox";

type Options = Readonly<Record<string, unknown>>;
type Schema = Record<string, unknown>;

const scalar =
  (type: string) =>
  (options?: Options): Schema => ({ type, ...options });

/** Hidden as in TypeBox: no validator would know the word. */
function Optional(schema: Schema): Schema {
  return Object.defineProperty({ ...schema }, "~optional", { value: true });
}

function Object_(properties: Readonly<Record<string, Schema>>, options?: Options): Schema {
  const required = Object.keys(properties).filter((key) => !("~optional" in (properties[key] ?? {})));
  return { type: "object", ...(required.length > 0 && { required }), properties, ...options };
}

const BUILDERS = {
  String: scalar("string"),
  Number: scalar("number"),
  Integer: scalar("integer"),
  Boolean: scalar("boolean"),
  Null: scalar("null"),
  Unknown: (options?: Options) => ({ ...options }),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Enum: (values: readonly string[], options?: Options) => ({ enum: values, ...options }),
  Array: (items: Schema, options?: Options) => ({ type: "array", items, ...options }),
  Union: (anyOf: readonly Schema[], options?: Options) => ({ anyOf, ...options }),
  Object: Object_,
  Record: (_key: Schema, value: Schema, options?: Options) => ({
    type: "object",
    patternProperties: { "^.*$": value },
    ...options,
  }),
  Optional,
};

export const Type = BUILDERS as unknown as Pick<typeof TypeBox, keyof typeof BUILDERS>;

export const Time = Type.String({ format: "date-time" });
