/** The JSON Schema of what a declared thing is on the wire. */
import type { TSchema } from "typebox";
import type { JsonSchema } from "../turn.ts";
import { type Shape, wireName } from "./convert.ts";

export interface Rendering {
  /** No property but the declared: for what we send. What we are sent may have more, and it is ignored. */
  readonly closed?: boolean;
  /** Keeps the schema of a thing that has a name, and answers a reference to it. */
  refer?(name: string, render: () => JsonSchema): JsonSchema;
  /** Changes the words beside the structure of each schema. */
  reword?(keywords: JsonSchema): JsonSchema;
}

export function wireSchema(declared: TSchema, rendering: Rendering = {}): JsonSchema {
  return render(declared, rendering);
}

function render(shape: Shape, rendering: Rendering): JsonSchema {
  const { $id, wire, ...rest } = shape;
  if (wire?.form) return render(wire.form, rendering);
  const renderRest = () => renderBody(rest, rendering);
  return $id === undefined || rendering.refer === undefined ? renderRest() : rendering.refer($id, renderRest);
}

function renderBody(shape: Shape, rendering: Rendering): JsonSchema {
  const { anyOf, items, properties, required = [], patternProperties, ...keywords } = shape;
  const { enum: values } = shape as { readonly enum?: unknown };
  const rest = rendering.reword?.(keywords) ?? keywords;
  const of = (inner: Shape) => render(inner, rendering);
  if (anyOf) return { ...rest, [anyOf.every(isObject) ? "oneOf" : "anyOf"]: anyOf.map(of) };
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

const isObject = ({ properties }: Shape): boolean => properties !== undefined;

function orNull(schema: JsonSchema): JsonSchema {
  return typeof schema["type"] === "string"
    ? { ...schema, type: [schema["type"], "null"] }
    : { anyOf: [schema, { type: "null" }] };
}
