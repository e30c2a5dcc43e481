/** What a call sees at a path: what it made there itself, or what was there when it first looked. */
import type { GrantedFolder } from "../../../capabilities/capabilities.ts";
import { pathMatches } from "../../../capabilities/match.ts";
import { othersIn } from "../../../kernel/kit/turns.ts";
import { Fault } from "../../../kernel/plugin.ts";
import type { FileEntry } from "../../sandbox/protocol.ts";
import { type FileParts, FileProblem, MAX_EDITS, NOTHING, type Seen } from "./parts.ts";
import { cleanPath, parentOf } from "./path.ts";
import type { KeptFile } from "./sources.ts";

const MAX_LISTED = 20_000;
/** More than are told: one is enough for a stranger's words. */
const MAX_ORIGINS = 64;

/** The path in its one spelling, if the tool may use it so. */
export function allow({ granted }: FileParts, given: string, access: GrantedFolder["access"]): string {
  const path = cleanPath(given);
  const folders = granted.filter((folder) => pathMatches(folder.path, path));
  if (folders.length === 0)
    throw new FileProblem("access", `${path} is not in a folder that this tool was granted`);
  if (access === "write" && !folders.some((folder) => folder.access === "write"))
    throw new FileProblem("read-only", `this tool may only read ${path}`);
  return path;
}

export function isGranted({ granted }: FileParts, path: string): boolean {
  return granted.some((folder) => folder.path === path);
}

export async function look(parts: FileParts, path: string): Promise<Seen | undefined> {
  const { nodes, startedAt } = parts;
  const node = nodes.get(path);
  if (node?.kind === "gone") return undefined;
  if (node?.kind === "folder") return { path, kind: "folder", bytes: 0, updatedAt: startedAt };
  if (node?.kind === "held")
    return { path, kind: "file", bytes: node.file.length, updatedAt: startedAt, file: node.file };
  const entry = node?.entry ?? (await findOnce(parts, path));
  if (entry === undefined)
    // A granted folder is there for the tool, also while it is empty.
    return isGranted(parts, path) ? { path, kind: "folder", bytes: 0, updatedAt: startedAt } : undefined;
  return { ...shown(entry), path, entry };
}

export async function findOnce(
  { user, source, found }: FileParts,
  path: string,
): Promise<KeptFile | undefined> {
  if (!found.has(path)) {
    const entry = await source.find(user, path);
    // Another spelling may lie outside of what was granted.
    found.set(path, entry?.path === path ? entry : undefined);
  }
  return found.get(path);
}

export async function existing(parts: FileParts, path: string): Promise<Seen> {
  const seen = await look(parts, path);
  if (seen === undefined) throw new FileProblem("no-entry", `there is no ${path}`);
  return seen;
}

export async function listFolder(parts: FileParts, path: string): Promise<readonly Seen[]> {
  const folder = await existing(parts, path);
  if (folder.kind === "file") throw new FileProblem("not-directory", `${path} is a file, not a folder`);
  const inside = new Map<string, Seen>();
  if (folder.entry !== undefined)
    for (const entry of await listAll(parts, path))
      if (!parts.nodes.has(entry.path)) inside.set(entry.path, { ...shown(entry), entry });
  for (const [own, { kind }] of parts.nodes) {
    const seen = parentOf(own) === path && kind !== "gone" ? await look(parts, own) : undefined;
    if (seen !== undefined) inside.set(own, seen);
  }
  return [...inside.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

export async function listBelow(parts: FileParts, path: string): Promise<readonly Seen[]> {
  const below: Seen[] = [];
  for (const entry of await listAll(parts, path, true, MAX_EDITS).catch(noneWhereMissing))
    if (!parts.nodes.has(entry.path)) below.push({ ...shown(entry), entry });
  for (const own of parts.nodes.keys()) {
    const seen = own !== path && pathMatches(path, own) ? await look(parts, own) : undefined;
    if (seen !== undefined) below.push(seen);
  }
  return below;
}

async function listAll(
  { user, source }: FileParts,
  folder: string,
  deep = false,
  most = MAX_LISTED,
): Promise<readonly KeptFile[]> {
  const entries: KeptFile[] = [];
  let after: string | undefined;
  do {
    const page = await source.list(user, folder, { deep, ...(after !== undefined && { after }) });
    for (const entry of page.items)
      if (entry.path !== folder && pathMatches(folder, entry.path)) entries.push(entry);
    if (entries.length > most)
      throw new FileProblem("quota", `the folder ${folder} has more than ${most} files`);
    after = page.next;
  } while (after !== undefined);
  return entries;
}

export async function readPart(
  parts: FileParts,
  seen: Seen,
  offset: number,
  length: number,
): Promise<Uint8Array> {
  if (seen.kind === "folder") throw new FileProblem("is-directory", `${seen.path} is a folder, not a file`);
  const size = Math.max(0, Math.min(length, seen.bytes - offset));
  parts.usage.countRead(size);
  parts.read.add(seen.path);
  const { file, entry } = seen;
  if (file !== undefined || entry === undefined) return file?.data.slice(offset, offset + size) ?? NOTHING;
  note(parts, entry);
  if (size === 0) return NOTHING;
  const wanted = { version: entry.version, offset, length: size };
  const part = await parts.source.read(parts.user, entry.path, wanted);
  if (part === undefined || part.data.byteLength !== size)
    throw new FileProblem("io", `${seen.path} was changed while it was read: call the tool again`);
  return part.data;
}

/** What it reads is in what it says and writes from then on. */
export function note({ origins }: FileParts, { path, origins: own }: KeptFile): void {
  const others = othersIn(own);
  if (others.length === 0 || origins.size >= MAX_ORIGINS) return;
  for (const origin of [{ kind: "file", name: path } as const, ...others])
    origins.set(`${origin.kind} ${origin.name}`, origin);
}

function noneWhereMissing(error: unknown): readonly KeptFile[] {
  if (error instanceof Fault && error.kind === "missing") return [];
  throw error;
}

/** Without what only this side knows of it. */
export function shown({ path, kind, bytes, updatedAt }: FileEntry): FileEntry {
  return { path, kind, bytes, updatedAt };
}
