/** Output of the `tool` commands: results on stdout, progress on stderr, so that `--json` can be piped. */
import { confirm, isCancel } from "@clack/prompts";
import { say, sayJson, visible, warn } from "../../../kernel/kit.ts";
import { Fault } from "../../../kernel/plugin.ts";

export interface JsonOption {
  readonly json?: boolean;
}

export function print({ json = false }: JsonOption, value: unknown, text: () => string): void {
  if (json) sayJson(value, 2);
  else say(`${text()}\n`);
}

export function progress(line: string): void {
  warn(`${line}\n`);
}

export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks on a terminal; anywhere else `--yes` is the only way to agree. */
export async function agree(question: string, { yes = false }: { readonly yes?: boolean }): Promise<void> {
  if (yes) return;
  if (!isInteractive()) {
    throw new Fault(
      "invalid",
      "not_agreed",
      `${question} There is no terminal to ask on; pass --yes to agree.`,
    );
  }
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
