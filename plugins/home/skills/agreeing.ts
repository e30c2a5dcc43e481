/** How the operator agrees to something at a command, and hears of it: on standard error, so that `--json` can be piped. */
import { isInteractive, visible, warn } from "../../../kernel/kit.ts";
import { Fault } from "../../../kernel/plugin.ts";

/** Asks on a terminal; anywhere else `--yes` is the only way to agree. */
export async function agree(question: string, { yes = false }: { readonly yes?: boolean }): Promise<void> {
  if (yes || (isInteractive() && (await confirms(question)))) return;
  const why = isInteractive()
    ? "Cancelled; nothing changed."
    : `${question} There is no terminal to ask on; pass --yes to agree.`;
  throw new Fault("invalid", "not_agreed", why);
}

export async function confirms(question: string): Promise<boolean> {
  const { confirm } = await import("@clack/prompts");
  return (
    (await confirm({ message: visible(question), initialValue: false, output: process.stderr })) === true
  );
}

export const progress = (line: string): void => warn(`${line}\n`);
export const bullets = (sentences: readonly string[]): string =>
  sentences.map((one) => `  - ${one}`).join("\n");
