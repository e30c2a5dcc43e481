/** Paths as people type them at a prompt. */
import { readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, resolve } from "node:path";
import { Fault, reason } from "../../../kernel/plugin.ts";

/** Resolves a path from the folder that Postern was started in; `~` is the home folder. */
export function pathOf(typed: string): string {
  return resolve(typed.replace(/^~(?=\/|$)/, homedir()));
}

const MAX_COMPLETIONS = 50;

/** Returns the files and folders that begin like this; hidden ones only after a dot. */
export function completePath(typed: string): readonly string[] {
  const isFolder = typed === "" || typed.endsWith("/");
  const start = isFolder ? "" : basename(typed);
  const folder = isFolder ? typed : typed.slice(0, typed.length - start.length);
  try {
    return readdirSync(pathOf(folder || "."), { withFileTypes: true })
      .filter(({ name }) => name.startsWith(start) && (start.startsWith(".") || !name.startsWith(".")))
      .slice(0, MAX_COMPLETIONS)
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`);
  } catch {
    return [];
  }
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of the path is not a folder",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  EEXIST: "it exists already",
};

export function fileFault(what: "read" | "write", path: string, error: unknown): Fault {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return new Fault("invalid", `cannot_${what}`, `Cannot ${what} ${path}: ${WHY[code] ?? reason(error)}.`);
}

/** True for a regular file, or a link to one. */
export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
