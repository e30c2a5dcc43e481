/** The single values of a call, each with what its schema says about it. */
import { isRecord } from "../../../kernel/kit/text.ts";
import type { JsonSchema } from "../../../kernel/plugin.ts";
import { isScalar, type Scalar } from "../outputs/records.ts";
import { isUsualName, leadsOut, type Role, roleOf } from "./param-roles.ts";

export interface Leaf {
  /** The path of the value: `message.to`. */
  readonly name: string;
  /** The same with the places in lists: `/to/0`. */
  readonly at: string;
  readonly role: Role;
  readonly value: Scalar;
  readonly property: Property;
  /** True where it says where on the network something is. */
  readonly leadsOut: boolean;
  /** Stands for values beyond the limit. */
  readonly isRest?: true;
}

export interface Property {
  readonly format?: string;
  readonly choices: readonly unknown[];
  readonly default?: unknown;
}

interface Parts {
  readonly schema: JsonSchema;
  readonly params: unknown;
  readonly roles?: Readonly<Record<string, Role>> | undefined;
}

const MAX_LEAVES = 500;
const MAX_DEPTH = 40;
const MAX_BRANCHES = 40;
/** So many names that no schema gives may be usual ones. */
const MAX_UNKNOWN = 20;

export function leavesOf({ schema, params, roles = {} }: Parts): readonly Leaf[] {
  const found: Leaf[] = [];
  let unknown = 0;
  const add = (path: readonly string[], at: string, nodes: readonly JsonSchema[], value: Scalar): void => {
    const property = propertyOf(nodes);
    const name = path.join(".");
    const told = [name, path[0] ?? ""].find((one) => Object.hasOwn(roles, one));
    const role = (told !== undefined && roles[told]) || roleOf(path, property.format);
    found.push({ name, at, role, value, property, leadsOut: leadsOut(path, property.format) });
  };
  const rest = (path: readonly string[]): void => {
    if (found.at(-1)?.isRest) return;
    const property = { choices: [] };
    const name = path.join(".");
    found.push({ name, at: "", role: "destination", value: "…", property, leadsOut: true, isRest: true });
  };
  const walk = (value: unknown, path: readonly string[], at: string, nodes: readonly JsonSchema[]): void => {
    if (found.length >= MAX_LEAVES || path.length > MAX_DEPTH) rest(path);
    else if (isScalar(value)) add(path, at, nodes, value);
    else if (Array.isArray(value)) {
      const items = nodes.flatMap((node) => branchesOf(node["items"], schema));
      for (const [index, one] of value.entries()) {
        if (found.at(-1)?.isRest) return;
        walk(one, path, `${at}/${index}`, items.length > 0 ? items : nodes);
      }
    } else if (typeof value === "object" && value !== null)
      for (const [name, one] of Object.entries(value)) {
        if (found.at(-1)?.isRest) return;
        const known = nodes.flatMap((node) => branchesOf(ownOf(node["properties"], name), schema));
        // A name that the schema does not give is a value as well: it can be an address, or carry something.
        if (known.length === 0 && (++unknown > MAX_UNKNOWN || !isUsualName(name)))
          add(path, `${at}/${name}/name`, [], name);
        const others = () => nodes.flatMap((node) => branchesOf(node["additionalProperties"], schema));
        walk(one, [...path, name], `${at}/${name}`, known.length > 0 ? known : others());
      }
  };
  walk(params, [], "", branchesOf(schema, schema));
  return found;
}

function ownOf(from: unknown, name: string): unknown {
  return isRecord(from) && Object.hasOwn(from, name) ? from[name] : undefined;
}

/** A schema with everything it is composed of; references lead to places in the same document. */
function branchesOf(node: unknown, root: JsonSchema): readonly JsonSchema[] {
  const found: JsonSchema[] = [];
  const waiting = [node];
  while (waiting.length > 0 && found.length < MAX_BRANCHES) {
    const one = waiting.shift();
    if (!isRecord(one) || found.includes(one)) continue;
    found.push(one);
    for (const kind of ["anyOf", "oneOf", "allOf"]) {
      const parts = one[kind];
      if (Array.isArray(parts)) waiting.push(...parts.slice(0, MAX_BRANCHES));
    }
    if (typeof one["$ref"] === "string") waiting.push(resolve(one["$ref"], root));
  }
  return found;
}

function resolve(reference: string, root: JsonSchema): unknown {
  if (!reference.startsWith("#")) return undefined;
  const names = reference.slice(1).split("/").slice(1, MAX_DEPTH);
  return names.reduce<unknown>(
    (node, name) => ownOf(node, name.replaceAll("~1", "/").replaceAll("~0", "~")),
    root,
  );
}

function propertyOf(nodes: readonly JsonSchema[]): Property {
  const formats = nodes.flatMap(({ format }) => (typeof format === "string" ? [format] : []));
  // If they differ, the one that makes it a destination counts.
  const format = formats.find((one) => roleOf([""], one) === "destination") ?? formats[0];
  const withDefault = nodes.find((node) => Object.hasOwn(node, "default"));
  return {
    format,
    choices: nodes.flatMap((node) =>
      Array.isArray(node["enum"]) ? node["enum"] : Object.hasOwn(node, "const") ? [node["const"]] : [],
    ),
    default: withDefault?.["default"],
  };
}
