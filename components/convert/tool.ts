/// <reference path="../../wit/guest.d.ts" />
/** Converts between units of measurement. Computation only, so it needs no capabilities. */
import type { Tool } from "postern:tool/tool@0.1.0";
import { findUnit, KIND_NAMES, type Unit, unitsOf } from "./units.ts";

const SCHEMA = {
  type: "object",
  properties: {
    value: { type: "number", description: "The value to convert" },
    from: { type: "string", description: "The unit of the value, such as miles, kg, °F or km/h" },
    to: { type: "string", description: "The unit to convert to" },
  },
  required: ["value", "from", "to"],
  additionalProperties: false,
};

export const tool: Tool = {
  description: () =>
    `Convert a value from one unit of measurement to another: ${KIND_NAMES.join(", ")}. Exact factors; not for currencies.`,
  schema: () => JSON.stringify(SCHEMA),
  execute({ params }) {
    const { value, from, to } = read(params);
    const [source, target] = [findUnit(from), findUnit(to)];
    if (source === undefined) return { error: unknown(from) };
    if (target === undefined) return { error: unknown(to) };
    if (source.kind !== target.kind) {
      const other = unitsOf(source.kind).join(", ");
      return {
        error: `Cannot convert ${source.symbol} (${source.kind}) to ${target.symbol} (${target.kind}). Instead of ${to}, use one of: ${other}`,
      };
    }
    return {
      output: JSON.stringify({
        value,
        from: source.symbol,
        result: convert(value, source, target),
        to: target.symbol,
      }),
    };
  },
};

/** The host has already checked the params; a caller that skips it still gets a readable error. */
function read(text: string): { readonly value: number; readonly from: string; readonly to: string } {
  try {
    const { value, from, to } = JSON.parse(text) ?? {};
    return { value: Number(value), from: String(from), to: String(to) };
  } catch {
    return { value: Number.NaN, from: "", to: "" };
  }
}

/** Twelve digits are more precise than any factor, and hide binary rounding errors. */
function convert(value: number, from: Unit, to: Unit): number {
  const base = value * from.factor + from.offset;
  return Number(((base - to.offset) / to.factor).toPrecision(12));
}

function unknown(name: string): string {
  return `Unknown unit "${name}". Known units: ${KIND_NAMES.map((kind) => `${kind} (${unitsOf(kind).join(", ")})`).join("; ")}`;
}
