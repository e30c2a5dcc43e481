/** Paths as people type them at a prompt. */
import { readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { Fault, reason } from "../../../kernel/plugin.ts";

/** Of the folder that Postern was started in; `~` is the person's own. */
export function pathOf(typed: string): string {
  return resolve(typed.replace(/^~(?=\/|$)/, homedir()));
}

const MOST_OFFERED = 50;

/** The files and folders that begin like this. Hidden ones only where a dot was typed. */
export function completePath(typed: string): readonly string[] {
  const isFolder = typed === "" || typed.endsWith("/");
  const start = isFolder ? "" : basename(typed);
  const folder = isFolder ? typed : typed.slice(0, typed.length - start.length);
  try {
    return readdirSync(pathOf(folder || "."), { withFileTypes: true })
      .filter(({ name }) => name.startsWith(start) && (start.startsWith(".") || !name.startsWith(".")))
      .slice(0, MOST_OFFERED)
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`);
  } catch {
    return [];
  }
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of the path is no folder",
  EISDIR: "it is a folder",
  EACCES: "you have no permission",
  EPERM: "you have no permission",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  EEXIST: "it exists",
};

/** Why a file could not be read or written, in words. */
export function fileFault(what: "read" | "write", path: string, error: unknown): Fault {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return new Fault("invalid", `cannot_${what}`, `Cannot ${what} ${path}: ${WHY[code] ?? reason(error)}.`);
}

/** A regular file, or a link to one. */
export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Where a file is written first, beside the one it will replace. */
export const beside = (path: string): string => join(dirname(path), `.${basename(path)}.${process.pid}.part`);
