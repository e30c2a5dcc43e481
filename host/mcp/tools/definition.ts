/**
 * A tool as its server describes it: a stranger's words. They are bounded and freed of what nobody sees before anything else
 * is done with them; the digest is that of what came, so that no change goes unnoticed.
 */
import { createHash } from "node:crypto";
import { findOrders, withoutHidden } from "../../../kernel/kit.ts";
import type { JsonSchema } from "../../../kernel/plugin.ts";
import { refuseHeaders } from "./header-params.ts";

/** What is kept of it. */
export interface Definition {
  /** Its name on the server. */
  readonly tool: string;
  readonly title?: string;
  readonly description: string;
  /** As the model and people see it. */
  readonly schema: JsonSchema;
  /** As the server wrote it, where that differs: what params are checked against. */
  readonly exactSchema?: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly openWorld: boolean;
  /** Of everything that came under this name, before it was shortened or cleaned. */
  readonly digest: string;
}

/** Of the list that a server answers with. */
export interface Listed {
  readonly definitions: readonly Definition[];
  /** Sentences: what was left out, and why. */
  readonly leftOut: readonly string[];
}

export const MAX_TOOLS = 256;
const MAX_BYTES_EACH = 64 * 1024;
const MAX_BYTES_IN_ALL = 1024 * 1024;
const MAX_DEPTH = 32;
const MAX_NAME = 256;
const MAX_DESCRIPTION = 4096;
const MAX_TITLE = 200;
const MOST_LEFT_OUT = 20;

/** What the SDK's client has let through: an object with a name. */
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
    else if (bytes + read.bytes > MAX_BYTES_IN_ALL)
      leftOut.push(`${name}: all tools together are described in more than ${MAX_BYTES_IN_ALL} bytes`);
    else {
      bytes += read.bytes;
      definitions.set(tool.name, read.definition);
    }
  }
  const more = tools.length - MAX_TOOLS;
  if (more > 0) leftOut.push(`${more} more: a server may have at most ${MAX_TOOLS} tools`);
  const unsaid = leftOut.length - MOST_LEFT_OUT;
  return {
    definitions: [...definitions.values()],
    leftOut: unsaid > 0 ? [...leftOut.slice(0, MOST_LEFT_OUT), `${unsaid} more`] : leftOut,
  };
}

/** The reason where the tool cannot be used. */
function readDefinition(
  tool: ForeignTool,
): string | { readonly definition: Definition; readonly bytes: number } {
  const { name, title, description = "", inputSchema, outputSchema, annotations = {} } = tool;
  if (name === "" || name.length > MAX_NAME || withoutHidden(name) !== name || /[\n\t]/.test(name))
    return `its name is empty, longer than ${MAX_NAME} characters or has invisible ones in it`;
  const all = [description, inputSchema, annotations, title ?? null, outputSchema ?? null];
  if (!isShallow(all, MAX_DEPTH)) return `it nests deeper than ${MAX_DEPTH} levels`;
  const text = canonical(all);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES_EACH) return `it is described in more than ${MAX_BYTES_EACH} bytes`;
  if (!isObject(inputSchema) || inputSchema["type"] !== "object")
    return 'its schema does not have "type": "object" at the top';
  const refusal = refuseHeaders(inputSchema);
  if (refusal !== undefined) return refusal;
  const schema = cleaned(inputSchema) as JsonSchema;
  const isClean = JSON.stringify(schema) === JSON.stringify(inputSchema);
  const shownTitle = title === undefined ? "" : clip(withoutHidden(title), MAX_TITLE);
  const definition: Definition = {
    tool: name,
    ...(shownTitle !== "" && { title: shownTitle }),
    description: clip(withoutHidden(description), MAX_DESCRIPTION),
    schema,
    ...(!isClean && { exactSchema: inputSchema }),
    ...(isObject(outputSchema) && { outputSchema }),
    readOnly: annotations["readOnlyHint"] === true,
    // As the protocol has it: without a word, a tool that writes may destroy, and any tool may reach out.
    destructive: annotations["readOnlyHint"] !== true && annotations["destructiveHint"] !== false,
    openWorld: annotations["openWorldHint"] !== false,
    digest: createHash("sha256").update(text).digest("hex"),
  };
  return { definition, bytes };
}

/** What in it reads like orders to a model, in words. */
export function warningsOf({ title = "", description, schema }: Definition): readonly string[] {
  const found = [
    ...findOrders(`${title}\n${description}`).map((order) => `Its description reads like orders: "${order}"`),
    ...findOrders(textsOf(schema).join("\n")).map((order) => `Its schema reads like orders: "${order}"`),
  ];
  return [...new Set(found)];
}

function shortName(name: string): string {
  return `"${clip(withoutHidden(name).replace(/\s+/g, " "), 60)}"`;
}

function clip(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`.toWellFormed();
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A list instead of calls: what comes may nest as deeply as it likes. */
export function isShallow(value: unknown, most: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return false;
    level = level.flatMap((node) =>
      typeof node === "object" && node !== null ? (Object.values(node) as unknown[]) : [],
    );
  }
  return true;
}

/** The same text for the same value, in whatever order its properties came. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    isObject(item)
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
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [withoutHidden(key), cleaned(item)]));
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  return [...keys, ...Object.values(value).flatMap(textsOf)];
}
