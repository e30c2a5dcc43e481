/** What a call may use of what is stored, and keeps there after it has succeeded: files of the workspace and its own state. */
import { Fault, type Origin } from "../../kernel/plugin.ts";
import type { InstalledTool } from "../catalog/catalog.ts";
import { type FileStore, filesIn, withMounted } from "./files/sources.ts";
import { type CallFiles, openCallFiles } from "./files.ts";
import type { RunnerParts, RunOptions } from "./parts.ts";
import type { Receipt } from "./receipts.ts";
import { type CallState, openCallState } from "./state.ts";

const MAX_PATHS = 100;
const MAX_RECORDED_BYTES = 1_000_000;

export function openFiles(
  { workspace }: RunnerParts,
  { capabilities }: InstalledTool,
  { user, tape, mounted }: RunOptions,
): CallFiles | undefined {
  if (capabilities.files.length === 0) return undefined;
  const source = tape?.type === "player" ? filesIn(tape.files) : workspace;
  if (source === undefined || mounted === undefined)
    return source && openCallFiles(user, capabilities.files, source);
  return openCallFiles(user, capabilities.files, withMounted(source, mounted), mounted.origins);
}

/** Makes what the call wrote part of the workspace, all of it or nothing. */
export async function keepFiles(
  { workspace }: RunnerParts,
  { name }: InstalledTool,
  files: CallFiles | undefined,
  read: readonly Origin[],
  { user, channel, thread, turn, tape }: RunOptions,
): Promise<Fault | undefined> {
  if (files === undefined || workspace === undefined || tape?.type === "player") return undefined;
  if (tape?.type === "recorder") tape.keepFiles(await readWhole(workspace, user, files.read()));
  const edits = files.edits();
  if (edits.length === 0) return undefined;
  const writer = { kind: "tool", tool: name, channel, thread, turn } as const;
  // Its author may have had a hand in every word of it.
  const origins = [{ kind: "tool", name } as const, ...read];
  return faultOf(() => workspace.apply(user, edits, { writer, origins }));
}

export function openState(
  { state }: RunnerParts,
  { name, capabilities }: InstalledTool,
  { user, tape }: RunOptions,
): CallState | undefined {
  if (capabilities.state === undefined) return undefined;
  const { maxMb } = capabilities.state;
  if (tape?.type === "player") return openCallState(maxMb, async () => tape.state);
  return state.open(name, user, maxMb);
}

export async function keepState(
  { catalog, state }: RunnerParts,
  tool: InstalledTool,
  remembered: CallState | undefined,
  { user, tape }: RunOptions,
): Promise<Fault | undefined> {
  if (remembered === undefined || tape?.type === "player") return undefined;
  if (tape?.type === "recorder") tape.keepState(remembered.before());
  // A tool that was removed meanwhile must not leave anything to the next of its name.
  const isInstalled = (await catalog.find(tool.name))?.capabilities.state !== undefined;
  if (!isInstalled) return undefined;
  return faultOf(() => state.keep(tool.name, user, tool.capabilities.state?.maxMb ?? 0, remembered));
}

async function faultOf(work: () => Promise<unknown>): Promise<Fault | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

/** For the receipt; what it wrote only if that was kept. */
export function namesOf(files: CallFiles, isKept: boolean): NonNullable<Receipt["files"]> {
  const [read, written] = [files.read(), isKept ? files.written() : []];
  const more = Math.max(0, read.length - MAX_PATHS) + Math.max(0, written.length - MAX_PATHS);
  return {
    read: read.slice(0, MAX_PATHS),
    written: written.slice(0, MAX_PATHS),
    ...(more > 0 && { more }),
  };
}

/** For a recording: large files are left out. */
async function readWhole(
  workspace: FileStore,
  user: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>();
  let left = MAX_RECORDED_BYTES;
  for (const path of paths) {
    const entry = await workspace.find(user, path);
    if (entry === undefined || entry.bytes > left) continue;
    const file = await workspace.read(user, path);
    if (file === undefined) continue;
    contents.set(path, file.data);
    left -= file.data.byteLength;
  }
  return contents;
}
