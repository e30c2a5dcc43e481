/** Writes the types of the HTTP API from its OpenAPI document: `node plugins/page/generate.ts <url> <token>` against a running service. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface Operation {
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The page speaks the gateway's own API, not those of others that it also answers to. */
const OWN = /^\/api\/(?!v1\/)/;

const MAX_LINE = 100;

/** Sorted by name, so that the order in which plugins mount their routes changes nothing. */
export function typesOf(document: unknown): string {
  const { paths, components } = document as Document;
  const used = new Set<string>(["SocketFrame"]);
  const toType = typeWriter((name) => used.add(name));
  const routes = Object.entries(paths)
    .filter(([path]) => OWN.test(path))
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => {
        const [body, answer] = [operation.requestBody?.content, answerOf(operation)].map(
          (content) => content?.["application/json"]?.schema,
        );
        if (body === undefined && answer === undefined) return "";
        const properties = { ...(body && { body }), ...(answer && { answer }) };
        const type = toType({ properties, required: Object.keys(properties) }, 1);
        return `  readonly "${method.toUpperCase()} ${path}": ${type};\n`;
      }),
    );
  const schemas = new Map<string, string>();
  // A schema that is written may use others, which are then visited too.
  for (const name of used) schemas.set(name, toType(components.schemas[name] as Schema, 0));
  return [
    "/** The types of the HTTP API, from /api/openapi.json: change the routes, not this file. */",
    "// biome-ignore-all format: generate.ts writes it\n",
    "export interface Routes {",
    `${routes.toSorted().join("")}}\n`,
    ...[...schemas].map(([name, type]) => `export type ${name} = ${type};`).toSorted(),
    "",
  ].join("\n");
}

const answerOf = ({ responses }: Operation): Content | undefined =>
  Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1].content;

function typeWriter(use: (name: string) => void) {
  const union = (variants: readonly Schema[], depth: number) =>
    variants.map((variant) => toType(variant, depth)).join(" | ");
  function toType(schema: Schema, depth: number): string {
    const { $ref, type, properties, items, additionalProperties: others, required = [] } = schema;
    if ($ref !== undefined) {
      const name = $ref.slice($ref.lastIndexOf("/") + 1);
      use(name);
      return name;
    }
    if ("const" in schema) return JSON.stringify(schema.const);
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
    const variants = schema.anyOf ?? schema.oneOf;
    if (variants) return union(variants, depth);
    if (typeof type === "object")
      return union(
        type.map((one) => ({ ...schema, type: one })),
        depth,
      );
    if (type === "null") return type;
    if (items) return `readonly ${arrayable(toType(items, depth))}[]`;
    if (properties) {
      const indent = "  ".repeat(depth);
      const fields = Object.entries(properties).map(
        ([name, inner]) =>
          `readonly ${name}${required.includes(name) ? "" : "?"}: ${toType(inner, depth + 1)}`,
      );
      const line = `{ ${fields.join("; ")} }`;
      return line.length <= MAX_LINE && !line.includes("\n")
        ? line
        : `{\n${fields.map((field) => `${indent}  ${field};\n`).join("")}${indent}}`;
    }
    if (type === "object")
      return `Readonly<Record<string, ${typeof others === "object" ? toType(others, depth) : "unknown"}>>`;
    if (type === "integer") return "number";
    return type ?? "unknown";
  }
  return toType;
}

const arrayable = (type: string): string => (/ \| |^readonly /.test(type) ? `(${type})` : type);

if (import.meta.main) {
  const [url, token] = process.argv.slice(2);
  const answer = await fetch(`${url}/api/openapi.json`, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(await answer.text());
  await writeFile(join(import.meta.dirname, "api.ts"), typesOf(await answer.json()));
}
