/**
 * The installed tools: one folder each under <home>/tools, written by `install.ts`. Another process may
 * install or remove while the service runs; the folder's modification time tells, so nothing is watched.
 */
import { createHash, randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Capabilities } from "../../capabilities/capabilities.ts";
import { Fault, type JsonSchema, reason } from "../../kernel/plugin.ts";
import { parseCapabilities } from "./capabilities-file.ts";
import { dropReplaced } from "./replaced.ts";

export interface InstalledTool {
  readonly name: string;
  /** SHA-256 of the component, in hex. */
  readonly digest: string;
  readonly installedAt: string;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly capabilities: Capabilities;
  readonly folder: string;
}

/** A folder that does not hold a tool, and why. */
export interface BrokenTool {
  readonly name: string;
  readonly reason: string;
}

export interface Catalog {
  readonly folder: string;
  list(): Promise<readonly InstalledTool[]>;
  broken(): Promise<readonly BrokenTool[]>;
  find(name: string): Promise<InstalledTool | undefined>;
  /** The component's bytes, which are those that were installed, or a fault. */
  read(tool: InstalledTool): Promise<Uint8Array<ArrayBuffer>>;
  /** False where there is no such tool. */
  remove(name: string): Promise<boolean>;
}

/** What `tool.json` holds. */
export interface ToolRecord {
  readonly sha256: string;
  readonly installed_at: string;
  readonly version: string;
  readonly description: string;
  readonly schema: JsonSchema;
}

export const FILES = {
  component: "component.wasm",
  capabilities: "capabilities.json",
  record: "tool.json",
};

// File times move in steps; a change within one step of the last reading would go unseen.
const TIME_STEP_MILLIS = 50;

interface Reading {
  readonly modified: number;
  readonly settled: boolean;
  readonly tools: ReadonlyMap<string, InstalledTool>;
  readonly broken: readonly BrokenTool[];
}

export function digestOf(component: Uint8Array): string {
  return createHash("sha256").update(component).digest("hex");
}

export function openCatalog(home: string): Catalog {
  const folder = join(home, "tools");
  let last: Promise<Reading> | undefined;

  async function current(): Promise<Reading> {
    const modified = modifiedAt(folder);
    const known = await last?.catch(() => undefined);
    if (known?.settled && known.modified === modified) return known;
    last = readTools(folder, modified);
    return last;
  }

  return {
    folder,
    list: async () => [...(await current()).tools.values()],
    broken: async () => (await current()).broken,
    find: async (name) => (await current()).tools.get(name),
    read: readComponent,
    async remove(name) {
      if (modifiedAt(folder) === 0 || name.startsWith(".")) return false;
      if (!(await readdir(folder)).includes(name)) return false;
      await dropReplaced(folder, name);
      // Gone at once for whoever looks, however long the deleting takes.
      const doomed = join(folder, `.old-${randomUUID()}`);
      await rename(join(folder, name), doomed);
      await rm(doomed, { recursive: true, force: true });
      return true;
    },
  };
}

/** Every call asks: a look takes two microseconds, and a hundred with a thread to wait for it. */
function modifiedAt(folder: string): number {
  return statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

async function readTools(folder: string, modified: number): Promise<Reading> {
  const began = Date.now();
  const tools = new Map<string, InstalledTool>();
  const broken: BrokenTool[] = [];
  const names = modified === 0 ? [] : (await readdir(folder)).filter((name) => !name.startsWith("."));
  const readings = names.sort().map(async (name) => {
    try {
      return await readTool(join(folder, name), name);
    } catch (error) {
      return { name, reason: reason(error) };
    }
  });
  for (const found of await Promise.all(readings)) {
    if ("reason" in found) broken.push(found);
    else tools.set(found.name, found);
  }
  return { modified, settled: began - modified > TIME_STEP_MILLIS, tools, broken };
}

export async function readTool(folder: string, name: string): Promise<InstalledTool> {
  const read = (file: string) => readFile(join(folder, file), "utf8");
  const record: ToolRecord = JSON.parse(await read(FILES.record));
  return {
    name,
    digest: record.sha256,
    installedAt: record.installed_at,
    description: record.description,
    schema: record.schema,
    capabilities: parseCapabilities(await read(FILES.capabilities)),
    folder,
  };
}

export async function readComponent(tool: InstalledTool): Promise<Uint8Array<ArrayBuffer>> {
  const file = join(tool.folder, FILES.component);
  const bytes = await readFile(file);
  const digest = digestOf(bytes);
  if (digest !== tool.digest) {
    throw new Fault(
      "unavailable",
      "tool_digest",
      `${tool.name} was changed on disk after it was installed: ${file} has SHA-256 ${digest}, expected ${tool.digest}. Install it again with --force.`,
      { param: file },
    );
  }
  return bytes;
}
