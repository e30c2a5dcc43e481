/** From our names to those of the wire and back. What a declaration does not mention is left out; free-form stays as it is. */
import type { TSchema } from "typebox";
import { isRecord } from "../text/json.ts";
import type { Declared, Hints, Wire } from "./declare.ts";

export interface Shape extends TSchema {
  readonly $id?: string;
  readonly const?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly if?: Shape;
  readonly then?: Shape;
  readonly wire?: Omit<Hints, "form"> & {
    readonly form?: Shape;
    readonly to?: Convert;
    readonly from?: Convert;
  };
}

type Convert = (value: unknown) => unknown;
type Fields = Readonly<Record<string, unknown>>;
type Direction = "to" | "from";

export function wireName(key: string, { wire }: Shape): string {
  return wire?.name ?? key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function toWire<Schema extends TSchema>(schema: Schema, value: Declared<Schema>): Wire<Schema> {
  return converter(schema as Shape, "to")(value) as Wire<Schema>;
}

/** The value must have been checked against the declaration's wire schema. */
export function fromWire<Schema extends TSchema>(schema: Schema, value: unknown): Declared<Schema> {
  return converter(schema as Shape, "from")(value) as Declared<Schema>;
}

const made = { to: new WeakMap<Shape, Convert>(), from: new WeakMap<Shape, Convert>() };

// A converter is made once for each declaration: every event of every turn goes through here.
function converter(shape: Shape, direction: Direction): Convert {
  let convert = made[direction].get(shape);
  if (convert === undefined) {
    convert = makeConverter(shape, direction);
    made[direction].set(shape, convert);
  }
  return convert;
}

const same: Convert = (value) => value;

function makeConverter(shape: Shape, direction: Direction): Convert {
  const { wire, anyOf, items, properties, patternProperties } = shape;
  if (wire?.form) {
    const ofForm = converter(wire.form, direction);
    const { to = same, from = same } = wire;
    return direction === "to" ? (value) => ofForm(to(value)) : (value) => from(ofForm(value));
  }
  if (anyOf) return unionConverter(anyOf, direction);
  if (properties) return objectConverter(properties, direction);
  if (items) {
    const each = converter(items, direction);
    return each === same ? same : (list) => (list as readonly unknown[]).map((item) => each(item));
  }
  const [ofValues] = Object.values(patternProperties ?? {});
  const each = ofValues ? converter(ofValues, direction) : same;
  if (each === same) return same;
  return (record) =>
    Object.fromEntries(Object.entries(record as Fields).map(([key, value]) => [key, each(value)]));
}

function objectConverter(properties: Readonly<Record<string, Shape>>, direction: Direction): Convert {
  const fields = Object.entries(properties)
    .filter(([, shape]) => !shape.wire?.hidden)
    .map(([key, shape]) => {
      const name = wireName(key, shape);
      const [source, target] = direction === "to" ? [key, name] : [name, key];
      return { source, target, convert: converter(shape, direction), isNull: shape.wire?.null === true };
    });
  return (value) => {
    const converted: Record<string, unknown> = {};
    for (const { source, target, convert, isNull } of fields) {
      const given = (value as Fields)[source];
      if (isNull && (given === undefined || given === null)) {
        if (direction === "to") converted[target] = null;
      } else if (given !== undefined) converted[target] = convert(given);
    }
    return converted;
  };
}

/** Picks the variant whose constant the value has; a value that is no object stays as it is. */
function unionConverter(variants: readonly Shape[], direction: Direction): Convert {
  const objects = variants.filter(({ properties }) => properties !== undefined);
  const [first] = objects;
  if (first === undefined) return same;
  if (objects.length === 1) {
    const only = converter(first, direction);
    return (value) => (isRecord(value) ? only(value) : value);
  }
  const tag = Object.keys(first.properties ?? {}).find((key) =>
    objects.every(({ properties }) => properties?.[key]?.const !== undefined),
  );
  if (tag === undefined) throw new Error("the variants of a declared union share no constant");
  const byTag = new Map(
    objects.map((shape) => [shape.properties?.[tag]?.const, converter(shape, direction)] as const),
  );
  return (value) => {
    if (!isRecord(value)) return value;
    const convert = byTag.get(value[tag]);
    if (convert === undefined) throw new Error(`no variant has the ${tag} ${String(value[tag])}`);
    return convert(value);
  };
}
