/** The installed tools. They are folders in the home, or rows where several machines share a database. */
import { createHash } from "node:crypto";
import type { Capabilities } from "../../capabilities/capabilities.ts";
import { createCapabilitiesParser } from "../../capabilities/parse.ts";
import { compileCheck, type ToolOrigin, visibleLine } from "../../kernel/kit.ts";
import { Fault, type JsonSchema } from "../../kernel/plugin.ts";

export const parseCapabilities = createCapabilitiesParser(compileCheck, visibleLine);

export interface SeenRelease {
  readonly digest: string;
  readonly version: string;
}

export interface InstalledTool {
  readonly name: string;
  /** SHA-256 of the component, in hex. */
  readonly digest: string;
  readonly installedAt: string;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly capabilities: Capabilities;
  /** Absent where it came with Postern or was uploaded. */
  readonly origin?: ToolOrigin;
  /** What its place had until now, the last one last. */
  readonly seen?: readonly SeenRelease[];
  /** Absent where it is a row of the database. */
  readonly folder?: string;
}

/** Something in a tool's place that cannot be loaded, and why. */
export interface BrokenTool {
  readonly name: string;
  readonly reason: string;
}

/** A component that passed every check. */
export interface Candidate {
  readonly component: Uint8Array;
  readonly capabilitiesText: string;
  readonly capabilities: Capabilities;
  readonly digest: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** Sentences: what it may do. */
  readonly grants: readonly string[];
  readonly origin?: ToolOrigin;
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
  /** The component's bytes, which are those that were installed, or a fault. */
  read(tool: InstalledTool): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Installs it whole or not at all, in the place of `before`, which is kept as the previous version. Where there is another by now,
   * or none was expected, a fault says so and nothing has changed.
   */
  put(name: string, candidate: Candidate, before: InstalledTool | undefined): Promise<InstalledTool>;
  /** Returns the SHA-256 of a broken tool in hex, as far as what is left of it says so. */
  remains(name: string): Promise<string | undefined>;
  /** Writes the component of a tool again, byte for byte as it was installed. */
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
}

export function digestOf(component: Uint8Array): string {
  return createHash("sha256").update(component).digest("hex");
}

export function recordOf(candidate: Candidate): ToolRecord {
  const { digest, capabilities, description, schema, origin, seen } = candidate;
  return {
    sha256: digest,
    installed_at: new Date().toISOString(),
    version: capabilities.version,
    description,
    schema,
    origin,
    seen,
  };
}

export function toTool(name: string, record: ToolRecord, capabilitiesText: string): InstalledTool {
  return {
    name,
    digest: record.sha256,
    installedAt: record.installed_at,
    description: record.description,
    schema: record.schema,
    capabilities: parseCapabilities(capabilitiesText),
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

/** `file`: absent where it is a row. */
export function assertUnchanged(tool: InstalledTool, component: Uint8Array, file?: string): void {
  const digest = digestOf(component);
  if (digest === tool.digest) return;
  const [where, what] = file === undefined ? ["in the database", "it"] : ["on disk", file];
  throw new Fault(
    "unavailable",
    "tool_digest",
    `${tool.name} was changed ${where} after it was installed: ${what} has SHA-256 ${digest}, expected ${tool.digest}. Install it again.`,
    { param: file ?? tool.name },
  );
}
