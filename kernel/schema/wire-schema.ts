/** The JSON Schema of what a declared thing is on the wire. */
import type { TSchema } from "typebox";
import type { JsonSchema } from "./declare.ts";
import { type Shape, wireName } from "./wire-convert.ts";

export interface Rendering {
  /** No property but the declared: for what we send. What we are sent may have more, and it is ignored. */
  readonly closed?: boolean;
  /** Keeps the schema of a named thing and returns a reference to it. */
  refer?(name: string, render: () => JsonSchema): JsonSchema;
  /** Changes the words beside the structure of each schema. */
  reword?(keywords: JsonSchema): JsonSchema;
}

export function wireSchema(declared: TSchema, rendering: Rendering = {}): JsonSchema {
  const { $id, wire, ...rest } = declared as Shape;
  if (wire?.form) return wireSchema(wire.form, rendering);
  const renderRest = () => renderBody(rest, rendering);
  return $id === undefined || rendering.refer === undefined ? renderRest() : rendering.refer($id, renderRest);
}

function renderBody(shape: Shape, rendering: Rendering): JsonSchema {
  const { anyOf, items, properties, required = [], patternProperties, ...others } = shape;
  const { if: condition, then: consequence, ...keywords } = others;
  const { enum: values } = shape as { readonly enum?: unknown };
  const of = (inner: Shape) => wireSchema(inner, rendering);
  const rest = {
    ...(rendering.reword?.(keywords) ?? keywords),
    ...(condition && { if: of(condition) }),
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's word
    ...(consequence && { then: of(consequence) }),
  };
  if (anyOf) return { ...joinVariants(anyOf.map(of), areTagged(anyOf)), ...rest };
  if (items) return { ...rest, items: of(items) };
  if (patternProperties) {
    const [value = {}] = Object.values(patternProperties);
    return { ...rest, ...(Object.keys(value).length > 0 && { additionalProperties: of(value) }) };
  }
  if (!properties) return isTexts(values) ? { type: "string", ...rest } : rest;
  const sent = Object.entries(properties).filter(([, inner]) => !inner.wire?.hidden);
  return {
    ...rest,
    ...(rendering.closed && { additionalProperties: false }),
    required: sent
      .filter(([key, inner]) => required.includes(key) || inner.wire?.null)
      .map(([key, inner]) => wireName(key, inner)),
    properties: Object.fromEntries(
      sent.map(([key, inner]) => [wireName(key, inner), inner.wire?.null ? orNull(of(inner)) : of(inner)]),
    ),
  };
}

const isTexts = (values: unknown): boolean =>
  Array.isArray(values) && values.every((value) => typeof value === "string");

/** True where a property that all of them must have says which of them it is. */
function areTagged(variants: readonly Shape[]): boolean {
  return Object.keys(variants[0]?.properties ?? {}).some((key) =>
    variants.every(({ properties, required }) => {
      const tag = properties?.[key] as { readonly const?: unknown; readonly enum?: unknown } | undefined;
      return (tag?.const ?? tag?.enum) !== undefined && required?.includes(key);
    }),
  );
}

function orNull(schema: JsonSchema): JsonSchema {
  return joinVariants([schema, { type: "null" }], false);
}

/** One schema with several types where they can be told apart by type alone: it explains mistakes better than branches. */
function joinVariants(variants: readonly JsonSchema[], exclude: boolean): JsonSchema {
  if (exclude) return { oneOf: variants };
  const keywords = variants.flatMap((variant) => Object.keys(variant));
  const types = variants.map(({ type }) => type);
  const isSimple =
    new Set(keywords).size === keywords.length - variants.length + 1 &&
    new Set(types).size === types.length &&
    types.every((type) => typeof type === "string") &&
    !keywords.includes("enum") &&
    !keywords.includes("const");
  return isSimple ? { ...Object.assign({}, ...variants), type: types } : { anyOf: variants };
}
