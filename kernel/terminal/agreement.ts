/** Questions that a person says yes or no to. */
import { Fault } from "../fault.ts";
import { visible } from "../text/visible.ts";
import { whileAsking } from "./output.ts";
import { isInteractive } from "./secret-input.ts";

/** Throws if the person does not agree. Without a terminal, `--yes` is the only way to agree. */
export async function agree(question: string, { yes = false }: { readonly yes?: boolean }): Promise<void> {
  if (yes || (isInteractive() && (await confirms(question)))) return;
  const why = isInteractive()
    ? "Cancelled; nothing changed."
    : `${question} There is no terminal to ask on; pass --yes to agree.`;
  throw new Fault("invalid", "not_agreed", why);
}

export async function confirms(question: string): Promise<boolean> {
  const { confirm } = await import("@clack/prompts");
  const asked = { message: visible(question), initialValue: false, output: process.stderr };
  return (await whileAsking(() => confirm(asked))) === true;
}
