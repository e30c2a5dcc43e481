/** The one key under which secrets are sealed, and from which plugins get keys of their own. */
import { hkdfSync, randomBytes } from "node:crypto";
import { link, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Env } from "../env.ts";
import { Fault } from "../fault.ts";

const VARIABLE = "POSTERN_SECRETS_KEY";
const KEY_BYTES = 32;

export function readSecretsKey(env: Env): string | undefined {
  const text = env.secret(VARIABLE, "The key of stored secrets; default: the file secrets.key in the home");
  if (text !== undefined && !isKey(text)) env.refuse(VARIABLE, "32 bytes as 64 hex digits or in base64");
  return text;
}

function isKey(text: string): boolean {
  try {
    parseKey(text, VARIABLE);
    return true;
  } catch {
    return false;
  }
}

/** A key for one purpose: who learns it learns neither the key it comes from nor another purpose's. */
export function deriveKey(key: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", key, "", `postern ${purpose}`, KEY_BYTES));
}

/** The key the operator configured, else the file `secrets.key` in the home, made on first use. */
export async function loadKey(home: string, configured: string | undefined): Promise<Uint8Array> {
  if (configured !== undefined) return parseKey(configured, VARIABLE);
  const file = join(home, "secrets.key");
  const text = (await readKeyFile(file)) ?? (await createKeyFile(file));
  return parseKey(text, file);
}

/** 32 bytes in hex or base64; a fault names where the text came from, never the text. */
export function parseKey(text: string, source: string): Uint8Array {
  const trimmed = text.trim();
  const bytes = Buffer.from(trimmed, /^[0-9a-f]{64}$/i.test(trimmed) ? "hex" : "base64");
  if (bytes.length === KEY_BYTES) return bytes;
  throw new Fault(
    "config",
    "bad_secrets_key",
    `${source} is not a key: use 32 bytes as 64 hex digits or base64.`,
    {
      param: source,
    },
  );
}

async function readKeyFile(file: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(file);
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw new Fault(
        "config",
        "secrets_key_open",
        `${file} can be read by others: run "chmod 600 ${file}".`,
        { param: file },
      );
    }
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Written aside and linked into place: of two processes that start at once both end up with the same key. */
async function createKeyFile(file: string): Promise<string> {
  const aside = `${file}.${randomBytes(6).toString("hex")}`;
  await writeFile(aside, `${randomBytes(KEY_BYTES).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
  try {
    await link(aside, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(aside);
  }
  return readFile(file, "utf8");
}
