/** What a call writes, kept as steps until it has succeeded. */
import { pathMatches } from "../../../capabilities/match.ts";
import { type FileRequest, MAX_FILE_PART_BYTES } from "../../sandbox/protocol.ts";
import {
  type FileParts,
  FileProblem,
  HeldFile,
  MAX_EDITS,
  NOTHING,
  type Node,
  type Seen,
  type Step,
} from "./parts.ts";
import { parentOf } from "./path.ts";
import { existing, findOnce, isGranted, listBelow, listFolder, look, readPart } from "./view.ts";

export async function write(
  parts: FileParts,
  path: string,
  { op, offset = 0, length = 0, body = NOTHING }: FileRequest,
): Promise<void> {
  const { usage } = parts;
  usage.countWritten(body.byteLength);
  const file = await hold(parts, path, op !== "write" && (op !== "resize" || length > 0));
  if (op === "resize") file.resize(length, usage.hold);
  else file.write(op === "append" ? file.length : offset, body, usage.hold);
}

/** The file that the call holds for a path, with what was there before, or without it. */
async function hold(parts: FileParts, path: string, keeps: boolean): Promise<HeldFile> {
  const { nodes, usage } = parts;
  const seen = await look(parts, path);
  if (seen?.kind === "folder") throw new FileProblem("is-directory", `${path} is a folder, not a file`);
  if (seen?.file?.isOpen) {
    if (!keeps) seen.file.resize(0, usage.hold);
    return seen.file;
  }
  const file = new HeldFile();
  if (keeps && seen !== undefined)
    for (let at = 0; at < seen.bytes; ) {
      const part = await readPart(parts, seen, at, MAX_FILE_PART_BYTES);
      file.write(at, part, usage.hold);
      at += part.byteLength;
    }
  await makeParents(parts, path);
  // Only what this call has not touched before is still as the workspace has it.
  const expected = nodes.has(path) ? undefined : ((await findOnce(parts, path))?.version ?? 0);
  step(parts, { op: "write", path, file, expected });
  nodes.set(path, { kind: "held", file });
  return file;
}

/** The workspace makes the folders above what is written: here they are only seen. */
async function makeParents(parts: FileParts, path: string): Promise<void> {
  for (let above = parentOf(path); above !== undefined && !isGranted(parts, above); above = parentOf(above)) {
    const seen = await look(parts, above);
    if (seen?.kind === "file") throw new FileProblem("not-directory", `${above} is a file, not a folder`);
    if (seen !== undefined) return;
    parts.nodes.set(above, { kind: "folder" });
  }
}

export async function makeFolder(parts: FileParts, path: string): Promise<void> {
  const seen = await look(parts, path);
  if (seen?.kind === "file") throw new FileProblem("exist", `${path} is a file`);
  if (seen !== undefined && (seen.entry !== undefined || parts.nodes.has(path))) return;
  await makeParents(parts, path);
  step(parts, { op: "folder", path });
  parts.nodes.set(path, { kind: "folder" });
}

export async function remove(parts: FileParts, path: string): Promise<void> {
  if (isGranted(parts, path)) throw new FileProblem("not-permitted", `${path} is what the tool was granted`);
  const seen = await existing(parts, path);
  if (seen.kind === "folder" && (await listFolder(parts, path)).length > 0)
    throw new FileProblem("not-empty", `the folder ${path} is not empty`);
  // A folder that only stands above a removed file was never made.
  const isMade =
    seen.kind === "file" || seen.entry !== undefined || parts.steps.some((made) => isAt(made, path));
  if (isMade) step(parts, { op: "remove", path });
  seal(seen);
  parts.nodes.set(path, { kind: "gone" });
}

export async function move(parts: FileParts, path: string, to: string): Promise<void> {
  for (const end of [path, to])
    if (isGranted(parts, end)) throw new FileProblem("not-permitted", `${end} is what the tool was granted`);
  const seen = await existing(parts, path);
  if (pathMatches(path, to)) throw new FileProblem("invalid", `${path} cannot be moved into itself`);
  if ((await look(parts, to)) !== undefined) throw new FileProblem("exist", `there is a ${to} already`);
  const below = seen.kind === "folder" ? await listBelow(parts, path) : [];
  await makeParents(parts, to);
  step(parts, { op: "move", path, to });
  for (const one of [seen, ...below]) {
    seal(one);
    parts.nodes.set(one.path, { kind: "gone" });
    parts.nodes.set(to + one.path.slice(path.length), nodeOf(one));
  }
}

function step({ steps }: FileParts, made: Step): void {
  if (steps.length >= MAX_EDITS)
    throw new FileProblem("quota", `a call may make at most ${MAX_EDITS} changes`);
  steps.push(made);
}

function nodeOf({ file, entry, kind }: Seen): Node {
  if (file !== undefined) return { kind: "held", file };
  return kind === "file" && entry !== undefined ? { kind: "moved", entry } : { kind: "folder" };
}

/** What was done with it stays as it is: what is written afterwards is a step of its own. */
function seal({ file }: Seen): void {
  if (file !== undefined) file.isOpen = false;
}

function isAt(made: Step, path: string): boolean {
  return pathMatches(path, made.op === "move" ? made.to : made.path);
}
