/** A tool as its server describes it: bounded, without invisible characters. The digest covers what came. */
import { hash } from "node:crypto";
import { isRecord, withoutHidden } from "../../../kernel/kit/text.ts";
import { findOrders, textsIn } from "../../../kernel/kit/untrusted.ts";
import type { JsonSchema } from "../../../kernel/plugin.ts";

export interface Definition {
  readonly tool: string;
  readonly title?: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** As the server wrote it, where that differs; params are checked against it. */
  readonly exactSchema?: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly openWorld: boolean;
  /** The hash of everything that came under this name, before it was shortened or cleaned. */
  readonly digest: string;
}

export interface Listed {
  readonly definitions: readonly Definition[];
  readonly leftOut: readonly string[];
}

export const MAX_TOOLS = 256;
const MAX_BYTES = 64 * 1024;
const MAX_BYTES_TOTAL = 1024 * 1024;
const MAX_DEPTH = 32;
const MAX_NAME_LENGTH = 256;
const MAX_DESCRIPTION_LENGTH = 4096;
const MAX_TITLE_LENGTH = 200;
const MAX_LEFT_OUT = 20;
const HEADER_KEY = "x-mcp-header";
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_TYPES = new Set<unknown>(["string", "integer", "boolean"]);

/** The SDK's client lets every object with a name through. */
export interface ForeignTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

export function readDefinitions(tools: readonly ForeignTool[]): Listed {
  const definitions = new Map<string, Definition>();
  const leftOut: string[] = [];
  let bytes = 0;
  for (const tool of tools.slice(0, MAX_TOOLS)) {
    const read = readDefinition(tool);
    const name = shortName(tool.name);
    if (typeof read === "string") leftOut.push(`${name}: ${read}`);
    else if (definitions.has(tool.name)) leftOut.push(`${name}: it is listed twice`);
    else if (bytes + read.bytes > MAX_BYTES_TOTAL)
      leftOut.push(`${name}: all tools together are described in more than ${MAX_BYTES_TOTAL} bytes`);
    else {
      bytes += read.bytes;
      definitions.set(tool.name, read.definition);
    }
  }
  const more = tools.length - MAX_TOOLS;
  if (more > 0) leftOut.push(`${more} more: a server may have at most ${MAX_TOOLS} tools`);
  const unsaid = leftOut.length - MAX_LEFT_OUT;
  return {
    definitions: [...definitions.values()],
    leftOut: unsaid > 0 ? [...leftOut.slice(0, MAX_LEFT_OUT), `${unsaid} more`] : leftOut,
  };
}

/** Returns the reason where the tool cannot be used. */
function readDefinition(
  tool: ForeignTool,
): string | { readonly definition: Definition; readonly bytes: number } {
  const { name, title, description = "", inputSchema, outputSchema, annotations = {} } = tool;
  if (name === "" || name.length > MAX_NAME_LENGTH || withoutHidden(name) !== name || /[\n\t]/.test(name))
    return `its name is empty, longer than ${MAX_NAME_LENGTH} characters or has invisible ones in it`;
  const all = [description, inputSchema, annotations, title ?? null, outputSchema ?? null];
  if (!isShallow(all, MAX_DEPTH)) return `it nests deeper than ${MAX_DEPTH} levels`;
  const text = canonical(all);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES) return `it is described in more than ${MAX_BYTES} bytes`;
  if (!isRecord(inputSchema) || inputSchema["type"] !== "object")
    return 'its schema does not have "type": "object" at the top';
  const refusal = refuseHeaders(inputSchema);
  if (refusal !== undefined) return refusal;
  const schema = cleaned(inputSchema) as JsonSchema;
  const isClean = JSON.stringify(schema) === JSON.stringify(inputSchema);
  const shownTitle = title === undefined ? "" : clip(withoutHidden(title), MAX_TITLE_LENGTH);
  const definition: Definition = {
    tool: name,
    title: shownTitle || undefined,
    description: clip(withoutHidden(description), MAX_DESCRIPTION_LENGTH),
    schema,
    exactSchema: isClean ? undefined : inputSchema,
    outputSchema: isRecord(outputSchema) ? outputSchema : undefined,
    readOnly: annotations["readOnlyHint"] === true,
    // The protocol's defaults: a tool that writes may destroy, and any tool may reach out.
    destructive: annotations["readOnlyHint"] !== true && annotations["destructiveHint"] !== false,
    openWorld: annotations["openWorldHint"] !== false,
    digest: hash("sha256", text),
  };
  return { definition, bytes };
}

export function warningsOf({ title = "", description, schema }: Definition): readonly string[] {
  const found = [
    ...findOrders(`${title}\n${description}`).map((order) => `Its description reads like orders: "${order}"`),
    ...findOrders(textsIn(schema).join("\n")).map((order) => `Its schema reads like orders: "${order}"`),
  ];
  return [...new Set(found)];
}

function shortName(name: string): string {
  return `"${clip(withoutHidden(name).replace(/\s+/g, " "), 60)}"`;
}

export function clip(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`.toWellFormed();
}

/** Without recursion, because the value may nest as deeply as its author likes. */
export function isShallow(value: unknown, maxDepth: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return false;
    level = level.flatMap((node) =>
      typeof node === "object" && node !== null ? (Object.values(node) as unknown[]) : [],
    );
  }
  return true;
}

/** Returns the same text for the same value, in whatever order its properties came. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    isRecord(item)
      ? Object.fromEntries(
          Object.keys(item)
            .sort()
            .map((key) => [key, item[key]]),
        )
      : item,
  );
}

export function cleaned(value: unknown): unknown {
  if (typeof value === "string") return withoutHidden(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [withoutHidden(key), cleaned(item)]));
}

/**
 * A schema can ask for params to be repeated in headers (`x-mcp-header`). A client has to leave out a tool that asks for it in a way
 * that is not allowed; the SDK does so without telling us. Returns why the tool cannot be used; the schema must be shallow.
 */
export function refuseHeaders(schema: unknown): string | undefined {
  const names = new Set<string>();
  const visit = (node: unknown, isProperty: boolean, isInChain: boolean): string | undefined => {
    if (typeof node !== "object" || node === null) return undefined;
    const fields = node as Readonly<Record<string, unknown>>;
    if (Object.hasOwn(fields, HEADER_KEY) && !Array.isArray(node)) {
      const name = fields[HEADER_KEY];
      if (!isProperty || !isInChain) return "its schema names a header outside of its properties";
      if (typeof name !== "string" || !HEADER_NAME.test(name)) return "its schema names an invalid header";
      if (!HEADER_TYPES.has(fields["type"]))
        return "its schema puts a value that is not a string, integer or boolean into a header";
      if (names.has(name.toLowerCase())) return "its schema names a header twice";
      names.add(name.toLowerCase());
    }
    for (const [key, value] of Object.entries(fields)) {
      const isProperties = key === "properties" && typeof value === "object" && value !== null;
      const parts = isProperties ? Object.values(value) : [value];
      for (const part of parts) {
        const refusal = visit(part, isProperties, isInChain && isProperties);
        if (refusal !== undefined) return refusal;
      }
    }
    return undefined;
  };
  return visit(schema, false, true);
}
