/** Files of the workspace as the whole page names, links and undoes them. */
import { request } from "./app.ts";
import { ask, type ChangeSet, type UndoOutcome } from "./wire.ts";

export const nameIn = (path: string): string => path.slice(path.lastIndexOf("/") + 1) || path;

export function folderOf(path: string): string | undefined {
  if (path.endsWith(":/") || path === "/") return undefined;
  const end = path.lastIndexOf("/");
  const top = path.slice(0, end + 1);
  return end === 0 || top.endsWith(":/") ? top : path.slice(0, end);
}

export const joinPath = (folder: string, name: string): string =>
  folder.endsWith("/") ? folder + name : `${folder}/${name}`;

/** The address on this page: `#/files/reports/may.csv`. */
export const filesLink = (path: string): string =>
  `#/files/${path.replace(/^\//, "").split("/").map(encodeURIComponent).join("/").replaceAll("%3A", ":")}`;

/** The path that such an address names. */
export function pathInLink(shown: string | undefined): string {
  let path = shown ?? "";
  try {
    path = decodeURIComponent(path);
  } catch {}
  return /^[^/]+:\//.test(path) ? path : `/${path}`;
}

/** Where the content is; a picture from there can be shown, everything else is downloaded. */
export const contentUrl = (path: string, version?: number): string =>
  `/api/workspace/file?${new URLSearchParams({ path, ...(version && { version: String(version) }) })}`;

const MAX_SETS = 200;
const FRESH_MS = 10_000;

let recent: { readonly sets: Promise<readonly ChangeSet[]>; readonly at: number } | undefined;

const readSets = async (query: Record<string, string>): Promise<readonly ChangeSet[]> =>
  (await ask<{ sets: readonly ChangeSet[] }>("GET", `/api/workspace/log?${new URLSearchParams(query)}`)).sets;

/** Finds what a turn changed. The turns of an opened thread share one request; one that has just ended asks for its own. */
export async function changesOf(turn: string, hasJustEnded: boolean): Promise<ChangeSet | undefined> {
  if (!hasJustEnded && (recent === undefined || Date.now() - recent.at > FRESH_MS))
    recent = { sets: readSets({ limit: String(MAX_SETS) }), at: Date.now() };
  const sets = await (hasJustEnded || recent === undefined ? readSets({ turn }) : recent.sets).catch(
    () => [],
  );
  return sets.find(({ writer, undoes }) => writer.turn_id === turn && undoes === undefined);
}

/** Undefined if it was refused, which is shown. */
export function undoSet(set_id: string, conflicts?: "overwrite" | "skip"): Promise<UndoOutcome | undefined> {
  recent = undefined;
  return request<UndoOutcome>("POST", "/api/workspace/undo", { set_id, conflicts });
}
