/** The folders that a tool was granted, as those who open files in them see them. */
import type { FileEntry, FileErrorCode, FileRequest, Preopen } from "../../protocol.ts";
import { type FileAnswer, FileRefusal, type GuestFiles } from "../files.ts";
import { type Holdings, Refusal } from "./io.ts";

export interface GrantedFolders {
  readonly preopens: readonly Preopen[];
  /** Those of the call; throws while there is none. */
  files(): GuestFiles;
}

export interface FolderParts extends GrantedFolders {
  readonly holdings: Holdings;
}

export const NOTHING = new Uint8Array();

export async function ask({ files }: GrantedFolders, request: FileRequest): Promise<FileAnswer> {
  try {
    return await files().ask(request);
  } catch (error) {
    throw toRefusal(error);
  }
}

export async function find(folders: GrantedFolders, path: string): Promise<FileEntry | undefined> {
  return (await ask(folders, { op: "stat", path })).entries?.[0];
}

export function mayWrite({ preopens }: GrantedFolders, path: string): boolean {
  return preopens.some((folder) => folder.access === "write" && isBelow(folder.path, path));
}

/** Relative paths only; `..` does not leave the directory. */
export function resolve(folder: string, path: string): string {
  if (path === "") throw new Refusal("no-entry");
  if (path.startsWith("/")) throw new Refusal("not-permitted");
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") {
      if (names.pop() === undefined) throw new Refusal("not-permitted");
    } else if (name !== "" && name !== ".") names.push(name);
  }
  return names.length === 0 ? folder : `${folder === "/" ? "" : folder}/${names.join("/")}`;
}

function isBelow(folder: string, path: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

export function toRefusal(error: unknown): unknown {
  return error instanceof FileRefusal ? new Refusal(error.code satisfies FileErrorCode) : error;
}
