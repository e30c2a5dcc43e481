/** Output of the `tool` commands: results on stdout, progress on stderr, so that `--json` can be piped. */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { isInteractive, type JsonOption, say, sayJson, verb, warn } from "../../../kernel/kit/terminal.ts";
import { visible } from "../../../kernel/kit/text.ts";
import { type CommandContext, Fault, reason } from "../../../kernel/plugin.ts";

export function print({ json = false }: JsonOption, value: unknown, text: () => string): void {
  if (json) sayJson(value, 2);
  else say(`${text()}\n`);
}

export function progress(line: string): void {
  warn(`${line}\n`);
}

/** Asks on a terminal; anywhere else `--yes` is the only way to agree. */
export async function agree(question: string, { yes = false }: { readonly yes?: boolean }): Promise<void> {
  if (yes) return;
  if (!isInteractive()) {
    const message = `${question} There is no terminal to ask on; pass --yes to agree.`;
    throw new Fault("invalid", "not_agreed", message);
  }
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message: visible(question), initialValue: false, output: process.stderr });
  if (isCancel(answer) || !answer) throw new Fault("invalid", "not_agreed", "Cancelled; nothing changed.");
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
