/** A caller's tools under the names that a model calls them by, and back: the same names in every request. */

import { hash } from "node:crypto";
import type { ExternalTool } from "../../agent/services.ts";
import type { CustomTool, FunctionTool, WireTool } from "./format.ts";

export interface CallersTool {
  readonly type: "function" | "custom";
  readonly name: string;
  readonly namespace?: string;
}

/** A function as a model is offered it, and the caller's tool that it stands for. */
export interface OfferedTool {
  readonly offer: ExternalTool;
  readonly tool: CallersTool;
}

const MAX_NAME_LENGTH = 64;

/** A request may name thousands of tools thousands of times: its catalog is read once. */
interface Catalog {
  readonly offered: readonly OfferedTool[];
  readonly byOffer: ReadonlyMap<string, CallersTool>;
  readonly byTool: ReadonlyMap<string, string>;
}

const catalogs = new WeakMap<readonly WireTool[], Catalog>();

function catalogOf(tools: readonly WireTool[]): Catalog {
  const known = catalogs.get(tools);
  if (known !== undefined) return known;
  const offered = nameAll(tools);
  const catalog = {
    offered,
    byOffer: new Map(offered.map(({ offer, tool }) => [offer.name, tool])),
    byTool: new Map(offered.map(({ offer, tool }) => [keyOf(tool), offer.name])),
  };
  catalogs.set(tools, catalog);
  return catalog;
}

type ToolKey = Pick<CallersTool, "name" | "namespace">;

const keyOf = ({ name, namespace }: ToolKey): string => JSON.stringify([name, namespace]);

export const offerTools = (tools: readonly WireTool[]): readonly OfferedTool[] => catalogOf(tools).offered;

function nameAll(tools: readonly WireTool[]): readonly OfferedTool[] {
  const plain = tools.filter((tool) => tool.type !== "namespace");
  const taken = new Set(plain.map(({ name }) => name));
  return tools.flatMap((tool) => {
    if (tool.type !== "namespace") return [{ offer: offerOf(tool, tool.name), tool: identityOf(tool) }];
    return tool.tools.map((inner) => {
      const name = uniqueName(tool.name, inner.name, taken);
      taken.add(name);
      return { offer: offerOf(inner, name), tool: { ...identityOf(inner), namespace: tool.name } };
    });
  });
}

/** The caller's tool that a model called. A name that none of them has is taken for a function of that name. */
export function calledTool(tools: readonly WireTool[], name: string): CallersTool {
  return catalogOf(tools).byOffer.get(name) ?? { type: "function", name };
}

/** The name under which a model knows the caller's tool; undefined when it is none of these. */
export const offeredName = (tools: readonly WireTool[], tool: ToolKey): string | undefined =>
  catalogOf(tools).byTool.get(keyOf(tool));

/** Extracts the input of a custom tool from the arguments that a model wrote for its function. */
export function customInput(params: string): string {
  try {
    const { input } = Object(JSON.parse(params)) as { input?: unknown };
    return typeof input === "string" ? input : params;
  } catch {
    return params;
  }
}

export const customParams = (input: string): string => JSON.stringify({ input });

const identityOf = ({ type, name }: FunctionTool | CustomTool): CallersTool => ({ type, name });

function offerOf(tool: FunctionTool | CustomTool, name: string): ExternalTool {
  if (tool.type === "function") {
    const { description, parameters } = tool;
    return { name, description: description ?? undefined, parameters: parameters ?? undefined };
  }
  const description = [tool.description ?? "", grammarOf(tool)].filter((text) => text !== "").join("\n\n");
  return { name, description: description || undefined, parameters: CUSTOM_PARAMETERS };
}

const CUSTOM_PARAMETERS = {
  type: "object",
  properties: { input: { type: "string", description: "The whole input of the tool, as plain text" } },
  required: ["input"],
  additionalProperties: false,
};

/** A grammar cannot be enforced here, but a model can read it. */
function grammarOf({ format }: CustomTool): string {
  const { type, definition, syntax } = (format ?? {}) as Readonly<Record<string, unknown>>;
  if (type !== "grammar" || typeof definition !== "string") return "";
  const kind = typeof syntax === "string" ? ` (${syntax})` : "";
  return `The input must match this grammar${kind}:\n${definition}`;
}

function uniqueName(namespace: string, name: string, taken: ReadonlySet<string>): string {
  const whole = `${namespace}__${name}`;
  const readable = whole.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  if (readable === whole && whole.length <= MAX_NAME_LENGTH && !taken.has(whole)) return whole;
  for (let attempt = 0; ; attempt++) {
    const mark = hash("sha256", JSON.stringify([namespace, name, attempt]), "hex").slice(0, 8);
    const candidate = `${readable.slice(0, MAX_NAME_LENGTH - mark.length - 1)}_${mark}`;
    if (!taken.has(candidate)) return candidate;
  }
}
