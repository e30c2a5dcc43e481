/// <reference path="../../wit/guest.d.ts" />
/** Converts between units of measurement: nothing but computation, so it needs no capability at all. */
import type { Tool } from "postern:tool/tool@0.1.0";
import { findUnit, KIND_NAMES, type Unit, unitsOf } from "./units.ts";

interface Params {
  readonly value: number;
  readonly from: string;
  readonly to: string;
}

const SCHEMA = {
  type: "object",
  properties: {
    value: { type: "number", description: "How many of the unit to convert from" },
    from: { type: "string", description: "The unit it is in, such as miles, kg, °F or km/h" },
    to: { type: "string", description: "The unit it shall be in" },
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
        error: `${source.symbol} measures ${source.kind} and ${target.symbol} ${target.kind}; give one of ${other} instead of ${to}`,
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

/** The host has checked them already; whoever calls past it gets a sentence all the same. */
function read(text: string): Params {
  try {
    const { value, from, to } = JSON.parse(text) ?? {};
    return { value: Number(value), from: String(from), to: String(to) };
  } catch {
    return { value: Number.NaN, from: "", to: "" };
  }
}

/** Twelve digits are more than any factor deserves, and hide what binary fractions add. */
function convert(value: number, from: Unit, to: Unit): number {
  const base = value * from.factor + from.offset;
  return Number(((base - to.offset) / to.factor).toPrecision(12));
}

function unknown(name: string): string {
  return `"${name}" is not a unit known here; it knows ${KIND_NAMES.map((kind) => `${kind} (${unitsOf(kind).join(", ")})`).join("; ")}`;
}
