/** Paths inside of an archive that a stranger made. */
import { tryUtf8 } from "../../kernel/kit/text.ts";
import { Fault } from "../../kernel/plugin.ts";

const MAX_PATH = 1024;

/** The path in its one spelling; "" for the archive's own folder. `what`: the archive, for people. */
export function archivePath(path: string, what: string): string {
  const refuse = (why: string) => refusal(what, `its entry ${quote(path)} ${why}`);
  if (path.length > MAX_PATH) throw refuse("has too long a path");
  if (path.startsWith("/") || path.includes("\\")) throw refuse("leads out of the package");
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) throw refuse("leads out of the package");
  return segments.join("/");
}

export function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

export function refusal(what: string, why: string, cause?: unknown): Fault {
  return new Fault("invalid", "bad_package", `${what} cannot be used: ${why}.`, { cause });
}

export function nameText(bytes: Uint8Array, what: string): string {
  const name = tryUtf8(bytes);
  if (name === undefined) throw refusal(what, "it has a name that is not UTF-8 text");
  return name;
}
