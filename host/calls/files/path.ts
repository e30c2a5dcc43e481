/** Paths in the one spelling that they may have here. */
import { FileProblem } from "./parts.ts";

const MAX_PATH_BYTES = 1024;
const MAX_LEVELS = 50;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to refuse.
const UNFIT = /[\\\u0000-\u001f\u007f]/;

/** Absolute, without anything that leads elsewhere; the workspace has rules of its own for names. */
export function cleanPath(given: string): string {
  const path = given.normalize("NFC");
  const problem = (why: string) =>
    new FileProblem("invalid", `${JSON.stringify(given.slice(0, 100))} is no path: ${why}`);
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw problem(`it has more than ${MAX_PATH_BYTES} bytes`);
  if (!path.startsWith("/")) throw problem("it does not begin with a slash");
  if (UNFIT.test(path) || !path.isWellFormed()) throw problem("it has a character that no path has");
  if (path === "/") return path;
  const parts = path.slice(1).replace(/\/$/, "").split("/");
  if (parts.length > MAX_LEVELS) throw problem(`it has more than ${MAX_LEVELS} levels`);
  if (parts.some((part) => part === "" || part === "." || part === ".."))
    throw problem('a part of it is empty, "." or ".."');
  return `/${parts.join("/")}`;
}

export function parentOf(path: string): string | undefined {
  if (path === "/") return undefined;
  return path.slice(0, path.lastIndexOf("/")) || "/";
}
