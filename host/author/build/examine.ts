/** Looks at what was built as an install would: an author hears of it now, with the line. */
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { relative } from "node:path";
import { Fault } from "../../../kernel/plugin.ts";
import { examine, type Introduce } from "../../catalog/install.ts";
import { assertAsked, inspect, WIT_VERSION } from "../../compile/component.ts";
import { createComponent, knownOutline } from "../../compile/transpile.ts";
import { createPool } from "../../sandbox/pool.ts";
import type { Project } from "../project.ts";
import { locateFault } from "../trace/located.ts";
import { buildFault, type Mistake, mistakeAt } from "./mistakes.ts";

export interface ExamineOptions {
  /** An install that follows finds the code there. */
  readonly codeFolder: string;
  readonly progress: (line: string) => void;
}

/** Without a file a tool may do nothing. */
const NO_CAPABILITIES = JSON.stringify({ version: "0.0.0", wit_version: WIT_VERSION });

/** Removes the component if nothing would install it. */
export async function examineBuilt(project: Project, options: ExamineOptions): Promise<void> {
  const { codeFolder, progress } = options;
  const bytes = await readFile(project.component);
  const text = existsSync(project.capabilities)
    ? await readFile(project.capabilities, "utf8")
    : NO_CAPABILITIES;
  const pool = createPool({ size: 1, keepsSpare: false });
  const introduce: Introduce = async (_, sha256, capabilities) => {
    const { limits, files } = capabilities;
    const own = { sha256, memoryMb: limits.memoryMb, preopens: files };
    const source = { ...own, read: async () => bytes, cache: codeFolder };
    const info = await inspect(bytes, await knownOutline(source));
    assertAsked(info, capabilities);
    const component = createComponent({ ...source, onProgress: progress });
    const code = await component.load();
    return { ...(await pool.describe({ ...component, load: async () => code })), denied: info.denied };
  };
  try {
    await examine(bytes, text, introduce, new Set());
  } catch (caught) {
    await rm(project.component, { force: true });
    const error = locateFault(caught, bytes);
    throw error instanceof Fault ? buildFault([await mistakeOf(error, project)]) : error;
  } finally {
    await pool.close();
  }
}

async function mistakeOf({ code, message }: Fault, project: Project): Promise<Mistake> {
  if (/ran out of its|of memory to start/.test(message)) {
    const wayOut = "keep less at its top level, or raise limits.memory_mb in capabilities.json";
    return mistakeAt(project.folder, project.capabilities, /"memory_mb"/, `${message} To fix it, ${wayOut}.`);
  }
  if (code === "tool_description")
    return mistakeAt(project.folder, project.entry, /\bdescription\b/, message);
  if (code === "tool_schema") return mistakeAt(project.folder, project.entry, /\bschema\b/, message);
  return { file: relative(project.folder, project.entry), line: 0, column: 0, message };
}
