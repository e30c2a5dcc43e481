/**
 * A tool's JSON Schema as a list of parameters to fill. Strangers write schemas, so this is one bounded look: a fixed
 * number of nodes is read, whatever refers to what, and nothing in them is compiled or run, `pattern` least of all.
 */
import type { JsonSchema } from "../../../kernel/plugin.ts";

export type Params = Record<string, unknown>;
type Node = Readonly<Record<string, unknown>>;

export interface Property {
  readonly name: string;
  readonly required: boolean;
  /** A JSON type, or "choice" where the values are listed. */
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly choices: readonly unknown[];
  readonly least: number;
  readonly most: number;
}

/** One shape the parameters may take; a schema without alternatives has one. */
export interface Branch {
  readonly description: string;
  /** Parameters with only one possible value, which tell the branches apart. */
  readonly fixed: Readonly<Params>;
  readonly properties: readonly Property[];
}

const TYPES = ["string", "number", "integer", "boolean", "array", "object"];
/** Of nodes for one value; of branches, and of parameters and choices together, for a whole schema. */
const MOST = { nodes: 8, branches: 24, values: 256, characters: 500 };

export function isRecord(value: unknown): value is Params {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function parseRecord(text: string): Params {
  const value = parseJson(text);
  return isRecord(value) ? value : {};
}

export function branchesOf(schema: JsonSchema): readonly Branch[] {
  const budget = { left: MOST.values };
  const base = nodesOf(schema, schema);
  const options = optionsOf(base).map((option) => [...nodesOf(option, schema), ...base]);
  return (options.length > 0 ? options : [base]).map((nodes) => toBranch(nodes, schema, budget));
}

/** A node with what it refers to and what it is made of, nearest first: a few at most, and none twice. */
function nodesOf(start: unknown, root: JsonSchema): Node[] {
  const nodes = new Set([start].filter(isRecord));
  for (const node of nodes) {
    for (const next of [follow(root, textOf(node["$ref"])), ...listOf(node["allOf"], MOST.nodes)])
      if (isRecord(next) && nodes.size < MOST.nodes) nodes.add(next);
  }
  return [...nodes];
}

function follow(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith("#/") || reference.length > MOST.characters) return undefined;
  const step = (at: unknown, key: string) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined);
  return reference.slice(2).split("/").reduce<unknown>(step, root);
}

function optionsOf(nodes: readonly Node[]): readonly Node[] {
  return listOf(first(nodes, "oneOf") ?? first(nodes, "anyOf"), MOST.branches).filter(isRecord);
}

function toBranch(nodes: readonly Node[], root: JsonSchema, budget: { left: number }): Branch {
  const required = new Set(nodes.flatMap((node) => listOf(node["required"], MOST.values)));
  const raw = nodes.flatMap(({ properties }) => (isRecord(properties) ? Object.entries(properties) : []));
  // The nearest node wins, so it comes last.
  const named = [...new Map(raw.reverse())].reverse().filter(([name]) => name.length < MOST.characters);
  const all = named.flatMap(([name, node]): Property[] => {
    if (budget.left <= 0) return [];
    return [{ name, required: required.has(name), ...toProperty(nodesOf(node, root), root, budget) }];
  });
  const isFixed = ({ choices }: Property) => choices.length === 1;
  const needed = all.filter((one) => isFixed(one) && one.required);
  const fixed = needed.map(({ name, choices }) => [name, choices[0]]);
  const description = textOf(first(nodes, "description")).slice(0, MOST.characters);
  return { description, fixed: Object.fromEntries(fixed), properties: all.filter((one) => !isFixed(one)) };
}

function toProperty(own: readonly Node[], root: JsonSchema, budget: { left: number }) {
  // Of the alternatives for one value, the first that is not null stands for all.
  const option = optionsOf(own).find(({ type }) => type !== "null");
  const nodes = [...own, ...nodesOf(option, root)];
  const get = (key: string) => first(nodes, key);
  const choices = listOf(get("const") ?? get("enum"), budget.left).filter((one) => typeof one !== "object");
  budget.left -= choices.length + 1;
  const type = TYPES.find((one) => listOf(get("type"), TYPES.length).includes(one)) ?? "string";
  const bound = (...keys: readonly string[]) => keys.map(get).find((value) => typeof value === "number");
  const above = (bound("exclusiveMinimum") ?? -Infinity) + Number.MIN_VALUE;
  return {
    type: choices.length > 0 ? "choice" : type,
    format: textOf(get("format")),
    description: textOf(get("description")).slice(0, MOST.characters),
    choices,
    least: bound("minimum", "minLength", "minItems") ?? above,
    most: bound("maximum", "exclusiveMaximum", "maxLength", "maxItems") ?? Infinity,
  };
}

/** The tool itself checks everything else. */
export function fits({ type, choices, least, most }: Property, value: unknown): boolean {
  if (type === "choice") return choices.includes(value);
  const kind = Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value;
  const size = typeof value === "string" || Array.isArray(value) ? value.length : value;
  const isRight = kind === type || (kind === "integer" && type === "number");
  return isRight && (typeof size !== "number" || (size >= least && size <= most));
}

function first(nodes: readonly Node[], key: string): unknown {
  return nodes.find((node) => node[key] !== undefined)?.[key];
}

function listOf(value: unknown, most: number): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value.slice(0, most) : [value];
}
