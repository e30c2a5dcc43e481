/** The types that a declaration stands for, here and on the wire, and what it says of the wire where snake_case is not all. */
import type { Static, TArray, TObject, TOptional, TProperties, TRecord, TSchema, TUnion } from "typebox";
import { Type } from "./type.ts";

type ReadonlyDeep<Value> = Value extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: ReadonlyDeep<Value[Key]> }
    : Value;

export type Declared<Schema extends TSchema> = ReadonlyDeep<Static<Schema>>;

export interface Hints {
  readonly name?: string;
  readonly hidden?: true;
  readonly null?: true;
  readonly form?: TSchema;
}

export interface Hinted<Given extends Hints> {
  readonly wire: Given;
}

function hint<Schema extends TSchema, Given extends Hints>(
  schema: Schema,
  given: Given,
): Schema & Hinted<Given> {
  const known = (schema as Partial<Hinted<Hints>>).wire;
  return { ...schema, wire: { ...known, ...given } };
}

/** A property with a name of its own on the wire. */
export function named<const Name extends string, Schema extends TSchema>(name: Name, schema: Schema) {
  return hint(schema, { name });
}

export function hidden<Schema extends TSchema>(schema: Schema) {
  return hint(schema, { hidden: true });
}

/** A property of a request: absent and null are the same to clients. */
export const maybe = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

/** A property that may be absent here, and then is null on the wire. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(hint(schema, { null: true })) as TOptional<Schema & Hinted<{ readonly null: true }>>;
}

/** A thing whose wire form differs in more than names: `form` declares it, `to` and `from` convert. */
export function reshaped<Schema extends TSchema, Form extends TSchema>(
  schema: Schema,
  form: Form,
  convert: {
    readonly to: (value: Declared<Schema>) => Declared<Form>;
    readonly from: (value: Declared<Form>) => Declared<Schema>;
  },
) {
  return hint(schema, { form, ...convert });
}

type Snake<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${Snake<Rest>}`
    : `_${Lowercase<First>}${Snake<Rest>}`
  : Text;

type NameOf<Key, Schema> =
  Schema extends Hinted<{ readonly hidden: true }>
    ? never
    : Schema extends Hinted<{ readonly name: infer Name extends string }>
      ? Name
      : Snake<Key & string>;

type IsOptional<Schema> =
  Schema extends Hinted<{ readonly null: true }> ? false : Schema extends TOptional<TSchema> ? true : false;

type WireObject<Properties extends TProperties> = {
  readonly [Key in keyof Properties as IsOptional<Properties[Key]> extends true
    ? never
    : NameOf<Key, Properties[Key]>]:
    | Wire<Properties[Key]>
    | (Properties[Key] extends Hinted<{ readonly null: true }> ? null : never);
} & {
  readonly [Key in keyof Properties as IsOptional<Properties[Key]> extends true
    ? NameOf<Key, Properties[Key]>
    : never]?: Wire<Properties[Key]>;
};

export type Wire<Schema extends TSchema> =
  Schema extends Hinted<{ readonly form: infer Form extends TSchema }>
    ? Wire<Form>
    : Schema extends TUnion<infer Variants extends TSchema[]>
      ? { [Index in keyof Variants]: Wire<Variants[Index]> }[number]
      : Schema extends TArray<infer Item extends TSchema>
        ? readonly Wire<Item>[]
        : Schema extends TObject<infer Properties extends TProperties>
          ? WireObject<Properties>
          : Schema extends TRecord<string, infer Value extends TSchema>
            ? Readonly<Record<string, Wire<Value>>>
            : Declared<Schema>;

/** A JSON Schema as data: a tool's, or one that a caller brings. */
export const JsonSchema = Type.Record(Type.String(), Type.Unknown());
export type JsonSchema = Declared<typeof JsonSchema>;
