/** The key under which secrets are sealed, and from which plugins get keys of their own; and older ones that still open. */
import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { link, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Keys } from "../../../kernel/kit/secrets.ts";
import type { Keyring } from "../../../kernel/kit/store.ts";
import { type Env, Fault } from "../../../kernel/plugin.ts";
import { createRing } from "./ring.ts";

const VARIABLE = "POSTERN_SECRETS_KEY";
const KEY_BYTES = 32;

export function readSecretsKey(env: Env): string | undefined {
  const text = env.secret(
    VARIABLE,
    "The key of stored secrets; new,old while it is changed; default: the file secrets.key in the home",
  );
  try {
    if (text !== undefined) parseKeys(text, VARIABLE);
  } catch {
    env.refuse(VARIABLE, "32 bytes as 64 hex digits or in base64, or several of them with commas between");
  }
  return text;
}

export const keyFileOf = (home: string): string => join(home, "secrets.key");

/** The keys the operator configured, else those of the file `secrets.key` in the home, made on first use and followed from then on. */
export async function loadKeys(home: string, configured: string | undefined): Promise<Keyring> {
  if (configured !== undefined) {
    const keys = parseKeys(configured, VARIABLE);
    return createRing(() => keys);
  }
  const file = keyFileOf(home);
  if ((await readKeyFile(file)) === undefined) await createKeyFile(file);
  return followFile(file);
}

/** A command may change the keys while a service runs: what it seals under the new one has to open there at once. */
function followFile(file: string): Keyring {
  let seen = stampOf(file);
  let keys = parseKeys(readFileSync(file, "utf8"), file);
  return createRing(() => {
    const now = stampOf(file);
    if (now === seen || now === undefined) return keys;
    try {
      keys = parseKeys(readFileSync(file, "utf8"), file);
      seen = now;
    } catch {
      // The known keys still open everything that this process has seen.
    }
    return keys;
  });
}

function stampOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.mtimeMs} ${found.size}`;
}

/** One key or several, each 32 bytes in hex or base64, with commas or line breaks between them. */
export function parseKeys(text: string, source: string): Keys {
  const [first = "", ...others] = text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return [parseKey(first, source), ...others.map((part) => parseKey(part, source))];
}

/** A fault names where the text came from, never the text. */
function parseKey(text: string, source: string): Uint8Array {
  const bytes = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? "hex" : "base64");
  if (bytes.length === KEY_BYTES) return bytes;
  const message = `${source} is not a key: use 32 bytes as 64 hex digits or base64.`;
  throw new Fault("config", "bad_secrets_key", message, { param: source });
}

async function readKeyFile(file: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(file);
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      const message = `${file} can be read by others: run "chmod 600 ${file}".`;
      throw new Fault("config", "secrets_key_open", message, { param: file });
    }
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

export const newKey = (): Uint8Array => randomBytes(KEY_BYTES);

const written = (keys: readonly Uint8Array[]): string =>
  keys.map((key) => `${Buffer.from(key).toString("base64")}\n`).join("");

const asideOf = (file: string): string => `${file}.${randomBytes(6).toString("hex")}`;

/** Written aside and linked into place: of two processes that start at once both end up with the same key. */
async function createKeyFile(file: string): Promise<void> {
  const aside = asideOf(file);
  await writeFile(aside, written([newKey()]), { mode: 0o600, flag: "wx" });
  try {
    await link(aside, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(aside);
  }
}

/** All at once, and on disk before anything is sealed under the first. */
export async function replaceKeyFile(file: string, keys: Keys): Promise<void> {
  const aside = asideOf(file);
  try {
    await writeFile(aside, written(keys), { mode: 0o600, flag: "wx", flush: true });
    await rename(aside, file);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
  await using folder = await open(dirname(file), "r");
  await folder.sync();
}
