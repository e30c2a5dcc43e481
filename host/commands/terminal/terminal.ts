/** Output of the `tool` commands: results on stdout, progress on stderr, so that `--json` can be piped. */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { type JsonOption, say, sayJson, verb, warn } from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault, reason } from "../../../kernel/plugin.ts";

export function print({ json = false }: JsonOption, value: unknown, text: () => string): void {
  if (json) sayJson(value, 2);
  else say(`${text()}\n`);
}

export function progress(line: string): void {
  warn(`${line}\n`);
}

export function bullets(sentences: readonly string[]): string {
  return sentences.map((sentence) => `  - ${sentence}`).join("\n");
}

export function shorten(text: string, length: number): string {
  const [line = ""] = text.split("\n");
  return line.length > length || line.length < text.length ? `${line.slice(0, length - 1)}…` : line;
}

export async function readInput({ folder }: CommandContext, file: string): Promise<Buffer> {
  try {
    return await readFile(resolve(folder, file));
  } catch (error) {
    throw new Fault("invalid", "file_unreadable", `${file} cannot be read: ${reason(error)}`, {
      param: file,
    });
  }
}

type AddVerb = (usage: string, about: string, ...examples: readonly string[]) => Command;

export function verbsOf(group: Command): AddVerb {
  return (usage, about, ...examples) =>
    verb(group, usage, about, ...examples.map((example) => `${group.name()} ${example}`));
}
