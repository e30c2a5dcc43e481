/** Files that a command was given, read from where it was typed. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Workbench } from "../../kernel/cli/workbench.ts";
import { Fault, reason } from "../../kernel/plugin.ts";

export async function readInput({ folder }: Workbench, file: string): Promise<Buffer> {
  try {
    return await readFile(resolve(folder, file));
  } catch (error) {
    throw new Fault("invalid", "file_unreadable", `${file} cannot be read: ${reason(error)}`, {
      param: file,
    });
  }
}
