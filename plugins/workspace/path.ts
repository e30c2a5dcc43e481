/** Where a file is: `/reports/may.csv`, or `garden:/plan.md`. Nothing in it is decoded, and lookalikes are refused. */
import { Fault } from "../../kernel/plugin.ts";

export const ROOT = "/";

const MAX_BYTES = 1024;
const MAX_PART_BYTES = 255;
const MAX_LEVELS = 50;
export const WORKSPACE_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;
const NAMED = /^([a-z0-9][a-z0-9-]{0,39}):(\/.*)?$/s;

// Control characters, halves of characters, those that turn the direction of a text, break lines or have no width.
const UNSHOWABLE = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\ufe0e\ufe0f]]/v;
/** They only choose how the character before them looks. */
const LOOKS = /[\ufe0e\ufe0f]/g;

/** The path in its one spelling, or a fault that says what is wrong with it. */
export function cleanPath(given: string): string {
  if (given.length > MAX_BYTES) throw refuse(given, `it is longer than ${MAX_BYTES} bytes`);
  const text = given.normalize("NFC");
  const [, name = "", inNamed] = NAMED.exec(text) ?? [];
  const inside = name === "" ? text.replace(/^\//, "") : (inNamed ?? ROOT).slice(1);
  const parts = inside === "" ? [] : inside.replace(/\/$/, "").split("/");
  if (parts.length > MAX_LEVELS) throw refuse(given, `it is more than ${MAX_LEVELS} levels deep`);
  for (const part of parts) checkPart(given, part);
  if (name === "" && /^[a-z0-9-]+:/.test(parts[0] ?? ""))
    throw refuse(given, "write a slash after the name of a workspace, as in garden:/plan.md");
  const path = `${name === "" ? "" : `${name}:`}/${parts.join("/")}`;
  if (Buffer.byteLength(path) > MAX_BYTES) throw refuse(given, `it is longer than ${MAX_BYTES} bytes`);
  return path;
}

function checkPart(given: string, part: string): void {
  if (part === "") throw refuse(given, "a part of it is empty");
  if (Buffer.byteLength(part) > MAX_PART_BYTES)
    throw refuse(given, `a part of it is longer than ${MAX_PART_BYTES} bytes`);
  if (UNSHOWABLE.test(part))
    throw refuse(given, "it has a character that cannot be seen or changes the direction of the text");
  if (part !== part.trim()) throw refuse(given, "a part of it begins or ends with a space");
  // Some characters only look like dots and slashes, and become them elsewhere.
  const plain = part.normalize("NFKC");
  if (/[/\\]/.test(plain)) throw refuse(given, "a part of it has a slash or a backslash in it");
  if (/^\.{1,2}$/.test(plain.trim())) throw refuse(given, 'a part of it is "." or ".."');
}

function refuse(given: string, why: string): Fault {
  const shown = JSON.stringify(given.slice(0, 80));
  return new Fault(
    "invalid",
    "bad_path",
    `invalid workspace path ${shown}: ${why}. Use a path such as /reports/may.csv`,
    { param: "path" },
  );
}

/** The same for names that differ only by case or form, of which there can be one. */
export function foldPath(path: string): string {
  // Lower case first: the capital of "ß" is "SS", but "ẞ" is a capital already.
  const fold = (part: string) =>
    part.normalize("NFKC").replaceAll(LOOKS, "").toLowerCase().toUpperCase().toLowerCase().normalize("NFKC");
  return path.split("/").map(fold).join("/");
}

export function parentOf(path: string): string | undefined {
  if (path.endsWith(ROOT)) return undefined;
  const at = path.lastIndexOf("/");
  const parent = path.slice(0, at);
  return parent === "" || parent.endsWith(":") ? `${parent}/` : parent;
}

export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** What every path below the folder begins with. */
export const prefixOf = (folder: string): string => (folder.endsWith("/") ? folder : `${folder}/`);

export const isBelow = (path: string, folder: string): boolean =>
  path !== folder && path.startsWith(prefixOf(folder));

/** A path that was below one folder, below another. */
export const rebase = (path: string, from: string, to: string): string =>
  path === from ? to : `${prefixOf(to)}${path.slice(prefixOf(from).length)}`;
