/** Files that a command was given, read from where it was typed. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { CommandContext } from "../../../kernel/plugin.ts";
import { Fault, reason } from "../../../kernel/plugin.ts";

export async function readInput({ folder }: CommandContext, file: string): Promise<Buffer> {
  try {
    return await readFile(resolve(folder, file));
  } catch (error) {
    throw new Fault("invalid", "file_unreadable", `${file} cannot be read: ${reason(error)}`, {
      param: file,
    });
  }
}
