/** A tool's JSON Schema as parameters to fill. It is a stranger's: reading is bounded, and nothing in it is run. */
import { isRecord } from "../../../kernel/kit/text.ts";
import type { JsonSchema } from "../../../kernel/plugin.ts";

export type Params = Record<string, unknown>;
type Node = Readonly<Params>;

const TYPES = ["string", "number", "integer", "boolean", "array", "object"];
/** Nodes are counted for one value; branches, and parameters with their choices, for a whole schema. */
const MAX = { nodes: 8, branches: 24, values: 256, characters: 500 };

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const first = (nodes: readonly Node[], key: string) => nodes.find((node) => node[key] !== undefined)?.[key];
const listOf = (value: unknown, most: number): readonly unknown[] =>
  value === undefined ? [] : Array.isArray(value) ? value.slice(0, most) : [value];

export function branchesOf(schema: JsonSchema): readonly Branch[] {
  const budget = { left: MAX.values };
  const base = nodesOf(schema, schema);
  const options = optionsOf(base).map((option) => [...nodesOf(option, schema), ...base]);
  return (options.length > 0 ? options : [base]).map((nodes) => toBranch(nodes, schema, budget));
}

/** A node with what it refers to and what it is made of, nearest first. */
function nodesOf(start: unknown, root: JsonSchema): Node[] {
  const nodes = new Set([start].filter(isRecord));
  for (const node of nodes)
    for (const next of [follow(root, textOf(node["$ref"])), ...listOf(node["allOf"], MAX.nodes)])
      if (isRecord(next) && nodes.size < MAX.nodes) nodes.add(next);
  return [...nodes];
}

function follow(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith("#/") || reference.length > MAX.characters) return undefined;
  const step = (at: unknown, key: string) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined);
  return reference.slice(2).split("/").reduce<unknown>(step, root);
}

const optionsOf = (nodes: readonly Node[]): readonly Node[] =>
  listOf(first(nodes, "oneOf") ?? first(nodes, "anyOf"), MAX.branches).filter(isRecord);

/** One shape the parameters may take. Those with one possible value, which tell the branches apart, are `fixed`. */
export type Branch = Readonly<ReturnType<typeof toBranch>>;

function toBranch(nodes: readonly Node[], root: JsonSchema, budget: { left: number }) {
  const required = new Set(nodes.flatMap((node) => listOf(node["required"], MAX.values)));
  const raw = nodes.flatMap(({ properties }) => (isRecord(properties) ? Object.entries(properties) : []));
  // The nearest node wins, so it comes last.
  const named = [...new Map(raw.reverse())].reverse().filter(([name]) => name.length < MAX.characters);
  const all = named.flatMap(([name, node]): Property[] => {
    if (budget.left <= 0) return [];
    return [{ name, required: required.has(name), ...toValue(nodesOf(node, root), root, budget) }];
  });
  const fixed = all.filter(({ choices, required }) => choices.length === 1 && required);
  return {
    description: textOf(first(nodes, "description")).slice(0, MAX.characters),
    fixed: Object.fromEntries(fixed.map(({ name, choices }) => [name, choices[0]])) as Node,
    properties: all.filter(({ choices }) => choices.length !== 1),
  };
}

/** The type is a JSON type, or "choice" where the values are listed. */
export type Property = Readonly<{ name: string; required: boolean } & ReturnType<typeof toValue>>;

function toValue(own: readonly Node[], root: JsonSchema, budget: { left: number }) {
  // The first alternative that is not null stands for all of them.
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
    description: textOf(get("description")).slice(0, MAX.characters),
    choices,
    least: bound("minimum", "minLength", "minItems") ?? above,
    most: bound("maximum", "exclusiveMaximum", "maxLength", "maxItems") ?? Infinity,
  };
}

/** Checks the type, the choices and the size; the tool itself checks the rest. */
export function fits({ type, choices, least, most }: Property, value: unknown): boolean {
  if (type === "choice") return choices.includes(value);
  const kind = Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value;
  const size = typeof value === "string" || Array.isArray(value) ? value.length : value;
  const isRight = kind === type || (kind === "integer" && type === "number");
  return isRight && (typeof size !== "number" || (size >= least && size <= most));
}
