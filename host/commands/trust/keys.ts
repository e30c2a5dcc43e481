/** `trust keygen` and `trust sign`. */

import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { JsonOption } from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault, reason } from "../../../kernel/plugin.ts";
import { signFile } from "../../trust/signer.ts";
import { generateKeyPair, readSigningKey, type SigningKey } from "../../trust/signing-key.ts";
import { terminalPrompt } from "../terminal/prompt.ts";
import { print, readInput } from "../terminal/terminal.ts";

const DEFAULT_NAME = "cosign";
const NAME = /^[A-Za-z0-9._-]{1,64}$/;

export async function keygen(
  context: CommandContext,
  name = DEFAULT_NAME,
  options: JsonOption,
): Promise<void> {
  if (!NAME.test(name))
    throw new Fault("invalid", "key_name", `"${name}" has to be 1 to 64 letters, digits and . _ -`, {
      usage: true,
    });
  const password = await readPassword(context, "Password for the new key");
  if (password === undefined)
    throw new Fault("invalid", "key_password", "no password was given; nothing was written");
  const { privatePem, publicPem, fingerprint } = await generateKeyPair(password);
  const [privateFile, publicFile] = [`${name}.key`, `${name}.pub`];
  await write(context, privateFile, privatePem, 0o600);
  await write(context, publicFile, publicPem, 0o644);
  print(
    options,
    { private_key: privateFile, public_key: publicFile, fingerprint },
    () =>
      `Wrote ${privateFile} (keep it to yourself) and ${publicFile} (give it away). The key is SHA256:${fingerprint}.`,
  );
}

export async function sign(
  context: CommandContext,
  file: string,
  options: JsonOption & { readonly key: string },
): Promise<void> {
  const key = await loadSigningKey(context, options.key);
  const bundle = await signFile(key, await readInput(context, file));
  const written = `${file}.sigstore.json`;
  await writeFile(resolve(context.folder, written), bundle);
  print(
    options,
    { file, signature: written, fingerprint: key.fingerprint },
    () => `Wrote ${written}, signed by the key SHA256:${key.fingerprint}. Put it beside ${file}.`,
  );
}

/** The key of a `--key` option, opened with `COSIGN_PASSWORD` or with what a person types. */
export async function loadSigningKey(context: CommandContext, file: string): Promise<SigningKey> {
  const text = (await readInput(context, file)).toString("utf8");
  return readSigningKey(text, () => readPassword(context, `Password of ${file}`));
}

async function readPassword(context: CommandContext, question: string): Promise<string | undefined> {
  let given: string | undefined;
  await context.with(["toolHost"], async ({ toolHost }) => {
    given = toolHost.signingPassword;
  });
  return given ?? (await terminalPrompt().secret(question));
}

/** Never over another file: a key that is lost cannot be made again. */
async function write({ folder }: CommandContext, file: string, text: string, mode: number): Promise<void> {
  try {
    await writeFile(resolve(folder, file), text, { mode, flag: "wx" });
  } catch (error) {
    throw new Fault("invalid", "file_unwritable", `${file} cannot be written: ${reason(error)}`, {
      param: file,
    });
  }
}
