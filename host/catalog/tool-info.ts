/** A tool as others see it. */
import { hash } from "node:crypto";
import type { Capabilities } from "../../capabilities/capabilities.ts";
import { describeCapabilities } from "../../capabilities/describe.ts";
import { changesThings, isRead } from "../../capabilities/methods.ts";
import type { PrivateHosts } from "../../kernel/kit/outbound.ts";
import type { CallWords, ToolOrigin } from "../../kernel/kit/tools.ts";
import type { JsonSchema, ToolInfo } from "../../kernel/plugin.ts";
import type { InstalledTool } from "./catalog.ts";

/** The tools that come with Postern, and how their calls read. */
export const SHIPPED_WORDS: Readonly<Record<string, CallWords>> = {
  convert: { did: "converted", object: ["{value} {from} → {to}"] },
  "read-page": { did: "read", object: ["{url}"] },
  "run-code": { did: "ran_code", counts: ["charts", "files"] },
  weather: { did: "looked_up_weather", object: ["{city}", "{lat}, {lon}"] },
  "web-search": { did: "searched", object: ["{query}"], counts: ["results"] },
};

/** An installed tool is another object once anything about it changes. The private hosts that may be reached can change at any time. */
const known = new WeakMap<InstalledTool, { readonly hosts: string; readonly info: ToolInfo }>();

export function toInfo(tool: InstalledTool, privateHosts: PrivateHosts): ToolInfo {
  const made = known.get(tool);
  const hosts = [...privateHosts].join(" ");
  if (made?.hosts === hosts) return made.info;
  const info = describe(tool, privateHosts);
  known.set(tool, { hosts, info });
  return info;
}

function describe(tool: InstalledTool, privateHosts: PrivateHosts): ToolInfo {
  const facts = describeTool({ ...tool, grants: describeCapabilities(tool.capabilities, privateHosts) });
  const { name, digest, installedAt, capabilities, origin } = tool;
  // The grants in words are for people; a field that no sentence mentions yet must not slip through.
  const sealed = JSON.stringify([name, digest, installedAt, facts.grants, capabilities]);
  const fingerprint = hash("sha256", sealed);
  // What comes from elsewhere is not told in our words, whatever its name.
  const words = origin === undefined && Object.hasOwn(SHIPPED_WORDS, name) ? SHIPPED_WORDS[name] : undefined;
  return { name, ...facts, fingerprint, words, ...(origin !== undefined && shownOrigin(origin)) };
}

/** Every user sees it: not where the operator's files are, nor what an address may have in its query. */
function shownOrigin(origin: ToolOrigin): Pick<ToolInfo, "origin"> {
  if (origin.kind === "file" || origin.kind === "folder") return {};
  const [reference = ""] = origin.kind === "https" ? origin.reference.split("?") : [origin.reference];
  return { origin: { ...origin, reference } };
}

export function describeTool(tool: {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly capabilities: Capabilities;
  readonly grants: readonly string[];
}): Omit<ToolInfo, "name"> {
  const { description, schema, capabilities, grants } = tool;
  const methods = capabilities.http?.allowlist.flatMap((rule) => rule.methods) ?? [];
  const writes = !methods.every(isRead);
  return {
    version: capabilities.version,
    description,
    schema,
    grants,
    writes,
    hints: {
      readOnly: !writes && capabilities.files.every(({ access }) => access === "read"),
      destructive: methods.some(changesThings),
      openWorld: methods.length > 0,
    },
    agentTools: capabilities.agentTools.length > 0 ? capabilities.agentTools : undefined,
    params: Object.keys(capabilities.params).length > 0 ? capabilities.params : undefined,
    hosts: [...new Set(capabilities.http?.allowlist.map(({ host }) => host) ?? [])].filter(
      (host) => host !== "",
    ),
  };
}
