/** Installed tools as folders under <home>/tools. The folder's modification time tells that another process changed them. */
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault, reason } from "../../../kernel/plugin.ts";
import {
  assertUnchanged,
  type BrokenTool,
  type Candidate,
  type Catalog,
  digestOf,
  type InstalledTool,
  isSameTool,
  type Offered,
  type PreviousTool,
  recordOf,
  type ToolRecord,
  toTool,
  withChoices,
} from "../catalog.ts";
import { dropReplaced, exists, keepAsPrevious, previousFolder, replacedFolder } from "./replaced.ts";

export const FILES = { component: "component.wasm", capabilities: "capabilities.json", record: "tool.json" };

// File times move in steps; a change within one step of the last reading would go unseen.
const TIME_STEP_MS = 50;

interface LoadedFolder {
  readonly modified: number;
  readonly settled: boolean;
  readonly tools: ReadonlyMap<string, InstalledTool>;
  readonly broken: readonly BrokenTool[];
}

export function toolsFolder(home: string): string {
  return join(home, "tools");
}

export function openFolderCatalog(home: string): Catalog {
  const folder = toolsFolder(home);
  const shipped = join(folder, ".shipped.json");
  let last: Promise<LoadedFolder> | undefined;

  async function current(): Promise<LoadedFolder> {
    const modified = modifiedAt(folder);
    const known = await last?.catch(() => undefined);
    if (known?.settled && known.modified === modified) return known;
    last = readTools(folder, modified);
    return last;
  }

  /** In one rename, so that there is never half a tool. `leave`: what becomes of the one that was there. */
  async function place(
    name: string,
    candidate: Candidate,
    replaces: boolean,
    leave: (old: string) => Promise<void>,
  ): Promise<InstalledTool> {
    const draft = join(folder, `.new-${randomUUID()}`);
    const old = replacedFolder(folder, name);
    const final = join(folder, name);
    try {
      await mkdir(draft, { recursive: true, mode: 0o700 });
      const write = (file: string, data: string | Uint8Array) =>
        writeFile(join(draft, file), data, { flush: true });
      await write(FILES.component, candidate.component);
      await write(FILES.capabilities, candidate.capabilitiesText);
      await write(FILES.record, `${JSON.stringify(recordOf(candidate), undefined, 2)}\n`);
      if (replaces && (await exists(final))) await rename(final, old);
      await rename(draft, final);
    } catch (error) {
      if ((await exists(old)) && !(await exists(final))) await rename(old, final);
      throw notWritten(name, final, error);
    } finally {
      await rm(draft, { recursive: true, force: true });
      // Otherwise it is the only copy of the tool, and the next start puts it back.
      if ((await exists(final)) && (await exists(old))) await leave(old);
    }
    const installed = await catalog.find(name);
    if (installed === undefined)
      throw new Fault("unavailable", "tool_write", `${name} was removed during the install`);
    return installed;
  }

  const catalog: Catalog = {
    list: async () => [...(await current()).tools.values()],
    broken: async () => (await current()).broken,
    find: async (name) => (await current()).tools.get(name),
    read: (tool) => readComponent(join(folder, tool.name), tool),
    put: (name, candidate, before) =>
      place(name, candidate, before !== undefined, async (old) => {
        const isSame = before !== undefined && isSameTool(before, candidate);
        await (isSame ? rm(old, { recursive: true, force: true }) : keepAsPrevious(folder, name, old));
      }),
    async configure(tool, choices) {
      const file = join(folder, tool.name, FILES.record);
      const record = JSON.parse(await readFile(file, "utf8")) as ToolRecord;
      if (record.sha256 !== tool.digest || record.installed_at !== tool.installedAt) {
        const message = `${tool.name} was installed again in the meantime. Nothing was changed.`;
        throw new Fault("invalid", "tool_exists", message, { param: "name" });
      }
      const draft = join(folder, `.new-${randomUUID()}`);
      try {
        const text = `${JSON.stringify(withChoices(record, choices), undefined, 2)}\n`;
        await writeFile(draft, text, { mode: 0o600, flush: true });
        await rename(draft, file);
      } catch (error) {
        throw notWritten(tool.name, file, error);
      } finally {
        await rm(draft, { force: true });
      }
      return (await catalog.find(tool.name)) ?? tool;
    },
    remains: (name) => readRemains(join(folder, name)),
    async mend({ name }, component) {
      const draft = join(folder, `.new-${randomUUID()}`);
      const file = join(folder, name, FILES.component);
      try {
        await writeFile(draft, component, { mode: 0o600, flush: true });
        if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) await rm(file, { recursive: true });
        await rename(draft, file);
      } catch (error) {
        throw notWritten(name, file, error);
      } finally {
        await rm(draft, { force: true });
      }
    },
    putOver: (name, candidate, digest) =>
      place(name, candidate, true, (old) =>
        digest === undefined
          ? rename(old, join(folder, `.unusable-${name}-${Date.now()}`))
          : rm(old, { recursive: true, force: true }),
      ),
    previous: (name) => readPrevious(previousFolder(folder, name), name),
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
    offered: () => readOffered(shipped),
    async offer(name, digest) {
      await mkdir(folder, { recursive: true });
      const draft = `${shipped}.${process.pid}`;
      await writeFile(draft, JSON.stringify({ ...(await readOffered(shipped)), [name]: digest }));
      await rename(draft, shipped);
    },
    close() {},
  };
  return catalog;
}

/** Every call asks: a look takes two microseconds, and a hundred with a thread to wait for it. */
function modifiedAt(folder: string): number {
  return statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

async function readTools(folder: string, modified: number): Promise<LoadedFolder> {
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
  return { modified, settled: began - modified > TIME_STEP_MS, tools, broken };
}

export async function readTool(folder: string, name: string): Promise<InstalledTool> {
  const read = (file: string) => readFile(join(folder, file), "utf8");
  const record: ToolRecord = JSON.parse(await read(FILES.record));
  return { ...toTool(name, record, await read(FILES.capabilities)), folder };
}

export async function readComponent(folder: string, tool: InstalledTool): Promise<Uint8Array<ArrayBuffer>> {
  const file = join(folder, FILES.component);
  const bytes = await readFile(file);
  await assertUnchanged(tool, bytes, file);
  return bytes;
}

async function readRemains(folder: string): Promise<string | undefined> {
  try {
    const { sha256 } = JSON.parse(await readFile(join(folder, FILES.record), "utf8")) as Partial<ToolRecord>;
    if (typeof sha256 === "string") return sha256;
  } catch {}
  const component = await readFile(join(folder, FILES.component)).catch(() => undefined);
  return component && digestOf(component);
}

/** Another process may take it back at this moment: then it is gone as a whole. */
async function readPrevious(place: string, name: string): Promise<PreviousTool | undefined> {
  if (!(await exists(place))) return undefined;
  const tool = await readTool(place, name);
  const capabilitiesText = await readFile(join(place, FILES.capabilities), "utf8");
  return { tool, component: await readComponent(place, tool), capabilitiesText };
}

const notWritten = (name: string, path: string, cause: unknown) =>
  new Fault("unavailable", "tool_write", `${name} could not be written to ${path}: ${reason(cause)}`, {
    cause,
  });

async function readOffered(file: string): Promise<Offered> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}
