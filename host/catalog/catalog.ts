/** The installed tools. They are folders in the home, or rows where several machines share a database. */
import { hash } from "node:crypto";
import type { Capabilities, Choices } from "../../capabilities/capabilities.ts";
import { createCapabilitiesParser } from "../../capabilities/parse.ts";
import { compileCheck } from "../../kernel/kit/schema.ts";
import { visibleLine } from "../../kernel/kit/text.ts";
import type { ToolOrigin } from "../../kernel/kit/tools.ts";
import { Fault, type JsonSchema } from "../../kernel/plugin.ts";

export const parseCapabilities = createCapabilitiesParser(compileCheck, visibleLine);

export interface SeenRelease {
  readonly digest: string;
  readonly version: string;
}

export interface InstalledTool extends Omit<Candidate, "component" | "grants"> {
  readonly name: string;
  readonly installedAt: string;
  readonly folder?: string;
}

export interface BrokenTool {
  readonly name: string;
  readonly reason: string;
}

export interface Candidate {
  readonly component: Uint8Array;
  readonly capabilitiesText: string;
  readonly capabilities: Capabilities;
  readonly digest: string;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly grants: readonly string[];
  readonly choices: Choices;
  /** Absent if the tool came with Postern or was uploaded. */
  readonly origin?: ToolOrigin;
  /** Earlier releases at its place, the newest last. */
  readonly seen?: readonly SeenRelease[];
}

export interface PreviousTool {
  readonly tool: InstalledTool;
  readonly component: Uint8Array<ArrayBuffer>;
  readonly capabilitiesText: string;
}

/** Shipped tools by name: the digest as we installed it. */
export type Offered = Readonly<Record<string, string>>;

export interface Catalog {
  list(): Promise<readonly InstalledTool[]>;
  broken(): Promise<readonly BrokenTool[]>;
  /** The same object for as long as the tool is the same. */
  find(name: string): Promise<InstalledTool | undefined>;
  read(tool: InstalledTool): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Installs it whole or not at all, in the place of `before`, which is kept as the previous version. Where there is another by now,
   * or none was expected, a fault says so and nothing has changed.
   */
  put(name: string, candidate: Candidate, before: InstalledTool | undefined): Promise<InstalledTool>;
  /** The same tool with other settings. A fault where there is another by now. */
  configure(tool: InstalledTool, choices: Choices): Promise<InstalledTool>;
  /** Returns the SHA-256 of a broken tool in hex, as far as what is left of it says so. */
  remains(name: string): Promise<string | undefined>;
  mend(tool: InstalledTool, component: Uint8Array): Promise<void>;
  /**
   * In the place of what has this name and is broken. `digest`: what it was; where nobody can tell, it is put aside instead of deleted.
   * The previous version stays the previous one.
   */
  putOver(name: string, candidate: Candidate, digest: string | undefined): Promise<InstalledTool>;
  /** The version before the installed one; undefined where there was none. A fault where it is not what it was. */
  previous(name: string): Promise<PreviousTool | undefined>;
  /** The previous version goes too. False where there is no such tool. */
  remove(name: string): Promise<boolean>;
  offered(): Promise<Offered>;
  offer(name: string, digest: string): Promise<void>;
  close(): void;
}

export interface ToolRecord {
  readonly sha256: string;
  readonly installed_at: string;
  readonly version: string;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly origin?: ToolOrigin;
  readonly seen?: readonly SeenRelease[];
  readonly settings?: Choices["settings"];
  readonly private_hosts?: Choices["privateHosts"];
}

export function digestOf(component: Uint8Array): string {
  return hash("sha256", component);
}

export function recordOf(candidate: Candidate): ToolRecord {
  const { digest, capabilities, description, schema, origin, seen, choices } = candidate;
  return {
    sha256: digest,
    installed_at: new Date().toISOString(),
    version: capabilities.version,
    description,
    schema,
    origin,
    seen,
    ...choicesInRecord(choices),
  };
}

function choicesInRecord({
  settings,
  privateHosts,
}: Choices): Pick<ToolRecord, "settings" | "private_hosts"> {
  return {
    ...(Object.keys(settings).length > 0 && { settings }),
    ...(privateHosts.length > 0 && { private_hosts: privateHosts }),
  };
}

/** At another time, so that whoever knows the tool reads it anew. */
export function withChoices(record: ToolRecord, choices: Choices): ToolRecord {
  const { settings: _, private_hosts: __, ...rest } = record;
  return { ...rest, installed_at: new Date().toISOString(), ...choicesInRecord(choices) };
}

export function toTool(name: string, record: ToolRecord, capabilitiesText: string): InstalledTool {
  const choices = { settings: record.settings ?? {}, privateHosts: record.private_hosts ?? [] };
  return {
    name,
    digest: record.sha256,
    installedAt: record.installed_at,
    description: record.description,
    schema: record.schema,
    capabilities: parseCapabilities(capabilitiesText, choices),
    capabilitiesText,
    choices,
    origin: record.origin,
    seen: record.seen,
  };
}

/** True where replacing the one with the other would change nothing: the version before stays the previous one. */
export function isSameTool(
  tool: InstalledTool,
  { digest, capabilities }: Pick<Candidate, "digest" | "capabilities">,
): boolean {
  return tool.digest === digest && JSON.stringify(tool.capabilities) === JSON.stringify(capabilities);
}

/** `file`: absent where it is a row. Hashed by a thread of Node's: 12 MB would keep everybody else waiting. */
export async function assertUnchanged(
  tool: InstalledTool,
  component: Uint8Array<ArrayBuffer>,
  file?: string,
): Promise<void> {
  const digest = Buffer.from(await crypto.subtle.digest("SHA-256", component)).toString("hex");
  if (digest === tool.digest) return;
  const [where, what] = file === undefined ? ["in the database", "it"] : ["on disk", file];
  const message = `${tool.name} was changed ${where} after it was installed: ${what} has SHA-256 ${digest}, expected ${tool.digest}. Install it again.`;
  throw new Fault("unavailable", "tool_digest", message, { param: file ?? tool.name });
}
