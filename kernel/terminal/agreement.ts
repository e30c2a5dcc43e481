/** Questions that a person says yes or no to. */
import { Transform } from "node:stream";
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
  const { stdin, stderr } = process;
  const input = Object.assign(new Transform({ transform: asReturn }), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => stdin.setRawMode(isRaw),
  });
  stdin.pipe(input);
  try {
    const asked = { message: visible(question), initialValue: false, input, output: stderr };
    return (await whileAsking(() => confirm(asked))) === true;
  } finally {
    stdin.unpipe(input).pause();
  }
}

/** Enter comes as a line feed if it was pressed before the question stood there. The prompt takes that for an arrow key: no would become yes. */
function asReturn(keys: Uint8Array, _encoding: string, done: (error: null, keys: Uint8Array) => void): void {
  done(
    null,
    keys.map((byte) => (byte === 0x0a ? 0x0d : byte)),
  );
}
