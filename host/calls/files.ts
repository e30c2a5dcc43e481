/**
 * The files of one call: the folders of the workspace that the tool was granted. What it reads comes from there, as it was when the
 * call first looked. What it writes is held here, where only the call sees it, until it has succeeded. Whoever asks may have broken
 * out of the sandbox: every path is checked on this side.
 */
import type { GrantedFolder } from "../../capabilities/capabilities.ts";
import { pathMatches } from "../../capabilities/match.ts";
import { distinctOrigins } from "../../kernel/kit/turns.ts";
import { Fault, type Origin, type Page } from "../../kernel/plugin.ts";
import {
  type FileEntry,
  type FileErrorCode,
  type FileReply,
  type FileRequest,
  MAX_CALL_FILE_BYTES,
  MAX_FILE_BYTES,
  MAX_FILE_PART_BYTES,
  MAX_FILE_REQUESTS,
} from "../sandbox/protocol.ts";
import type { MountedFiles } from "../services.ts";

/** What the workspace makes at once. */
const MAX_EDITS = 1000;
const MAX_LISTED = 20_000;
const MAX_PATH_BYTES = 1024;
const MAX_LEVELS = 50;
/** More than are told: one is enough for a stranger's words. */
const MAX_ORIGINS = 64;
/** A guest waits for each answer, except where it writes: only a hostile process asks for more at once. */
const MAX_WAITING = 128;
/** Limits all calls together, because it is the service's own memory. */
const MAX_HELD_BYTES = 512_000_000;

/** A file or a folder, as the service that keeps it describes it. */
export interface KeptFile {
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly bytes: number;
  readonly version: number;
  readonly digest?: string | undefined;
  readonly updatedAt: string;
  /** Whose words it was made from; absent if they are the person's or the model's own. */
  readonly origins?: readonly Origin[] | undefined;
}

export type FileEdit =
  | {
      readonly op: "write";
      readonly path: string;
      readonly data: Uint8Array;
      readonly expected?: number | undefined;
      readonly origins?: readonly Origin[] | undefined;
    }
  | { readonly op: "folder" | "remove"; readonly path: string }
  | { readonly op: "move"; readonly path: string; readonly to: string };

/** What a call reads from; `read` is only asked for files that were found. */
export interface FileSource {
  find(user: string, path: string): Promise<KeptFile | undefined>;
  list(
    user: string,
    folder: string,
    query?: { readonly deep?: boolean; readonly after?: string },
  ): Promise<Page<KeptFile>>;
  read(
    user: string,
    path: string,
    part?: { readonly version?: number; readonly offset?: number; readonly length?: number },
  ): Promise<{ readonly entry: KeptFile; readonly data: Uint8Array } | undefined>;
}

/** Where the files of calls are kept: the workspace, if it is on. */
export interface FileStore extends FileSource {
  /** Makes all edits or, with a fault that names the path, none. */
  apply(
    user: string,
    edits: readonly FileEdit[],
    change: {
      readonly writer: {
        readonly kind: "tool";
        readonly channel?: string;
        readonly thread?: string;
        readonly turn?: string;
        readonly tool?: string;
      };
      readonly origins?: readonly Origin[];
    },
  ): Promise<readonly KeptFile[]>;
}

export interface CallFiles {
  answer(request: FileRequest): Promise<FileReply>;
  /** What it wrote, in order. */
  edits(): readonly FileEdit[];
  /** Whose words it read, where they are not the user's own. */
  origins(): readonly Origin[];
  read(): readonly string[];
  written(): readonly string[];
  /** The call is over: nothing more is answered or held. */
  close(): void;
}

class FileProblem extends Error {
  readonly code: FileErrorCode;

  constructor(code: FileErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A file whose content is held here. */
class HeldFile {
  #bytes = new Uint8Array();
  length = 0;
  /** False once a later step needs it as it is. */
  isOpen = true;

  /** `take` throws where there is no room for so much more. */
  write(offset: number, data: Uint8Array, take: (bytes: number) => void): void {
    this.resize(Math.max(this.length, offset + data.byteLength), take);
    this.#bytes.set(data, offset);
  }

  resize(length: number, take: (bytes: number) => void): void {
    if (length > MAX_FILE_BYTES)
      throw new FileProblem("file-too-large", `a file may have ${MAX_FILE_BYTES / 1e6} MB`);
    if (length > this.#bytes.byteLength) {
      const room = Math.max(length, Math.min(2 * this.#bytes.byteLength, MAX_FILE_BYTES));
      take(room - this.#bytes.byteLength);
      const larger = new Uint8Array(room);
      larger.set(this.#bytes.subarray(0, this.length));
      this.#bytes = larger;
    } else if (length < this.length) this.#bytes.fill(0, length, this.length);
    this.length = length;
  }

  get data(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }
}

/** What the call made of a path: a folder, a file that it wrote, one that it moved there, or nothing any more. */
type Node =
  | { readonly kind: "folder" }
  | { readonly kind: "held"; readonly file: HeldFile }
  | { readonly kind: "moved"; readonly entry: KeptFile }
  | { readonly kind: "gone" };

type Step =
  | Exclude<FileEdit, { readonly op: "write" }>
  | {
      readonly op: "write";
      readonly path: string;
      readonly file: HeldFile;
      readonly expected: number | undefined;
    };

/** What is at a path, as the call sees it. */
interface Seen extends FileEntry {
  readonly file?: HeldFile;
  /** Where its content is, if the call did not write it. */
  readonly entry?: KeptFile;
}

const NOTHING = new Uint8Array();
const DONE: FileReply = { ok: true, body: NOTHING };

let heldByAll = 0;

export function openCallFiles(
  user: string,
  granted: readonly GrantedFolder[],
  source: FileSource,
  given: readonly Origin[] = [],
): CallFiles {
  const nodes = new Map<string, Node>();
  const steps: Step[] = [];
  /** What the workspace said of a path first. */
  const found = new Map<string, KeptFile | undefined>();
  const origins = new Map(given.map((origin) => [`${origin.kind} ${origin.name}`, origin]));
  const read = new Set<string>();
  const startedAt = new Date().toISOString();
  let requests = 0;
  let waiting = 0;
  let readBytes = 0;
  let writtenBytes = 0;
  let held = 0;
  let isOver = false;
  let last: Promise<unknown> = Promise.resolve();

  const take = (bytes: number): void => {
    if (heldByAll + bytes > MAX_HELD_BYTES)
      throw new FileProblem(
        "insufficient-space",
        "too much is being written at the same time: try again later",
      );
    heldByAll += bytes;
    held += bytes;
  };
  const step = (made: Step): void => {
    if (steps.length >= MAX_EDITS)
      throw new FileProblem("quota", `a call may make at most ${MAX_EDITS} changes`);
    steps.push(made);
  };

  /** The path in its one spelling, if the tool may use it so. */
  const allow = (given: string, access: GrantedFolder["access"]): string => {
    const path = cleanPath(given);
    const folders = granted.filter((folder) => pathMatches(folder.path, path));
    if (folders.length === 0)
      throw new FileProblem("access", `${path} is not in a folder that this tool was granted`);
    if (access === "write" && !folders.some((folder) => folder.access === "write"))
      throw new FileProblem("read-only", `this tool may only read ${path}`);
    return path;
  };
  const isGranted = (path: string) => granted.some((folder) => folder.path === path);

  async function look(path: string): Promise<Seen | undefined> {
    const node = nodes.get(path);
    if (node?.kind === "gone") return undefined;
    if (node?.kind === "folder") return { path, kind: "folder", bytes: 0, updatedAt: startedAt };
    if (node?.kind === "held")
      return { path, kind: "file", bytes: node.file.length, updatedAt: startedAt, file: node.file };
    const entry = node?.entry ?? (await findOnce(path));
    if (entry === undefined)
      // A granted folder is there for the tool, also while it is empty.
      return isGranted(path) ? { path, kind: "folder", bytes: 0, updatedAt: startedAt } : undefined;
    return { ...shown(entry), path, entry };
  }

  async function findOnce(path: string): Promise<KeptFile | undefined> {
    if (!found.has(path)) {
      const entry = await source.find(user, path);
      // Another spelling may lie outside of what was granted.
      found.set(path, entry?.path === path ? entry : undefined);
    }
    return found.get(path);
  }

  async function existing(path: string): Promise<Seen> {
    const seen = await look(path);
    if (seen === undefined) throw new FileProblem("no-entry", `there is no ${path}`);
    return seen;
  }

  async function listFolder(path: string): Promise<readonly Seen[]> {
    const folder = await existing(path);
    if (folder.kind === "file") throw new FileProblem("not-directory", `${path} is a file, not a folder`);
    const inside = new Map<string, Seen>();
    if (folder.entry !== undefined)
      for (const entry of await listAll(path))
        if (!nodes.has(entry.path)) inside.set(entry.path, { ...shown(entry), entry });
    for (const [own, { kind }] of nodes) {
      const seen = parentOf(own) === path && kind !== "gone" ? await look(own) : undefined;
      if (seen !== undefined) inside.set(own, seen);
    }
    return [...inside.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1));
  }

  async function listAll(folder: string, deep = false, most = MAX_LISTED): Promise<readonly KeptFile[]> {
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

  async function readPart(seen: Seen, offset: number, length: number): Promise<Uint8Array> {
    if (seen.kind === "folder") throw new FileProblem("is-directory", `${seen.path} is a folder, not a file`);
    const size = Math.max(0, Math.min(length, seen.bytes - offset));
    readBytes += size;
    if (readBytes > MAX_CALL_FILE_BYTES)
      throw new FileProblem("quota", `a call may read ${MAX_CALL_FILE_BYTES / 1e6} MB`);
    read.add(seen.path);
    const { file, entry } = seen;
    if (file !== undefined || entry === undefined) return file?.data.slice(offset, offset + size) ?? NOTHING;
    note(entry);
    if (size === 0) return NOTHING;
    const part = await source.read(user, entry.path, { version: entry.version, offset, length: size });
    if (part === undefined || part.data.byteLength !== size)
      throw new FileProblem("io", `${seen.path} was changed while it was read: call the tool again`);
    return part.data;
  }

  /** What it reads is in what it says and writes from then on. */
  function note({ path, origins: own = [] }: KeptFile): void {
    if (own.length === 0 || origins.size >= MAX_ORIGINS) return;
    for (const origin of [{ kind: "file", name: path } as const, ...own])
      origins.set(`${origin.kind} ${origin.name}`, origin);
  }

  /** The file that the call holds for a path, with what was there before, or without it. */
  async function hold(path: string, keeps: boolean): Promise<HeldFile> {
    const seen = await look(path);
    if (seen?.kind === "folder") throw new FileProblem("is-directory", `${path} is a folder, not a file`);
    if (seen?.file?.isOpen) {
      if (!keeps) seen.file.resize(0, take);
      return seen.file;
    }
    const file = new HeldFile();
    if (keeps && seen !== undefined)
      for (let at = 0; at < seen.bytes; ) {
        const part = await readPart(seen, at, MAX_FILE_PART_BYTES);
        file.write(at, part, take);
        at += part.byteLength;
      }
    await makeParents(path);
    // Only what this call has not touched before is still as the workspace has it.
    const expected = nodes.has(path) ? undefined : ((await findOnce(path))?.version ?? 0);
    step({ op: "write", path, file, expected });
    nodes.set(path, { kind: "held", file });
    return file;
  }

  /** The workspace makes the folders above what is written: here they are only seen. */
  async function makeParents(path: string): Promise<void> {
    for (let above = parentOf(path); above !== undefined && !isGranted(above); above = parentOf(above)) {
      const seen = await look(above);
      if (seen?.kind === "file") throw new FileProblem("not-directory", `${above} is a file, not a folder`);
      if (seen !== undefined) return;
      nodes.set(above, { kind: "folder" });
    }
  }

  async function write(
    path: string,
    { op, offset = 0, length = 0, body = NOTHING }: FileRequest,
  ): Promise<void> {
    writtenBytes += body.byteLength;
    if (writtenBytes > MAX_CALL_FILE_BYTES)
      throw new FileProblem("quota", `a call may write ${MAX_CALL_FILE_BYTES / 1e6} MB`);
    const file = await hold(path, op !== "write" && (op !== "resize" || length > 0));
    if (op === "resize") file.resize(length, take);
    else file.write(op === "append" ? file.length : offset, body, take);
  }

  async function makeFolder(path: string): Promise<void> {
    const seen = await look(path);
    if (seen?.kind === "file") throw new FileProblem("exist", `${path} is a file`);
    if (seen !== undefined && (seen.entry !== undefined || nodes.has(path))) return;
    await makeParents(path);
    step({ op: "folder", path });
    nodes.set(path, { kind: "folder" });
  }

  async function remove(path: string): Promise<void> {
    if (isGranted(path)) throw new FileProblem("not-permitted", `${path} is what the tool was granted`);
    const seen = await existing(path);
    if (seen.kind === "folder" && (await listFolder(path)).length > 0)
      throw new FileProblem("not-empty", `the folder ${path} is not empty`);
    // A folder that only stands above a removed file was never made.
    const isMade = seen.kind === "file" || seen.entry !== undefined || steps.some((made) => isAt(made, path));
    if (isMade) step({ op: "remove", path });
    seal(seen);
    nodes.set(path, { kind: "gone" });
  }

  async function move(path: string, to: string): Promise<void> {
    for (const end of [path, to])
      if (isGranted(end)) throw new FileProblem("not-permitted", `${end} is what the tool was granted`);
    const seen = await existing(path);
    if (pathMatches(path, to)) throw new FileProblem("invalid", `${path} cannot be moved into itself`);
    if ((await look(to)) !== undefined) throw new FileProblem("exist", `there is a ${to} already`);
    const below = seen.kind === "folder" ? await listBelow(path) : [];
    await makeParents(to);
    step({ op: "move", path, to });
    for (const one of [seen, ...below]) {
      seal(one);
      nodes.set(one.path, { kind: "gone" });
      nodes.set(to + one.path.slice(path.length), nodeOf(one));
    }
  }

  async function listBelow(path: string): Promise<readonly Seen[]> {
    const below: Seen[] = [];
    for (const entry of await listAll(path, true, MAX_EDITS).catch(noneWhereMissing))
      if (!nodes.has(entry.path)) below.push({ ...shown(entry), entry });
    for (const own of nodes.keys()) {
      const seen = own !== path && pathMatches(path, own) ? await look(own) : undefined;
      if (seen !== undefined) below.push(seen);
    }
    return below;
  }

  async function answer({ op, ...request }: FileRequest): Promise<FileReply> {
    const { offset = 0, length = 0 } = request;
    switch (op) {
      case "stat": {
        const seen = await look(allow(request.path, "read"));
        return { ok: true, body: NOTHING, entries: seen === undefined ? [] : [told(seen)] };
      }
      case "list": {
        const inside = await listFolder(allow(request.path, "read"));
        // A name can say something, too.
        for (const { entry } of inside) if (entry !== undefined) note(entry);
        return { ok: true, body: NOTHING, entries: inside.map(told) };
      }
      case "read": {
        const seen = await existing(allow(request.path, "read"));
        return { ok: true, body: await readPart(seen, offset, Math.min(length, MAX_FILE_PART_BYTES)) };
      }
      case "write":
      case "patch":
      case "append":
      case "resize":
        await write(allow(request.path, "write"), { op, ...request });
        return DONE;
      case "folder":
        await makeFolder(allow(request.path, "write"));
        return DONE;
      case "move":
        await move(allow(request.path, "write"), allow(request.to ?? "", "write"));
        return DONE;
      case "remove":
        await remove(allow(request.path, "write"));
        return DONE;
    }
  }

  return {
    answer(request) {
      if (isOver) return Promise.resolve(OVER);
      if (++requests > MAX_FILE_REQUESTS) return Promise.resolve(TOO_OFTEN);
      if (waiting >= MAX_WAITING) return Promise.resolve(TOO_MUCH);
      waiting++;
      // One after the other: a write that nobody waited for comes before what is asked next.
      const answered = last.then(() => (isOver ? OVER : answer(request))).catch(toReply);
      last = answered.then(() => waiting--);
      return answered;
    },
    edits: () =>
      steps.map((made) =>
        made.op === "write"
          ? { op: "write", path: made.path, data: made.file.data, expected: made.expected }
          : made,
      ),
    origins: () => distinctOrigins([...origins.values()]),
    read: () => [...read],
    written: () => [
      ...new Set(steps.flatMap((made) => (made.op === "move" ? [made.path, made.to] : [made.path]))),
    ],
    close() {
      isOver = true;
      heldByAll -= held;
      held = 0;
    },
  };
}

/** For a call that is only tried: it finds these files and no others. */
/** Below its folder the mounted files are seen, and nothing of the workspace. */
export function withMounted(source: FileSource, { folder, files }: MountedFiles): FileSource {
  const mounted = filesIn(new Map([...files].map(([path, data]) => [`${folder}/${path}`, data])));
  const at = (path: string) => (pathMatches(folder, path) ? mounted : source);
  return {
    find: (user, path) => at(path).find(user, path),
    list: (user, path, query) => at(path).list(user, path, query),
    read: (user, path, part) => at(path).read(user, path, part),
  };
}

export function filesIn(files: ReadonlyMap<string, Uint8Array>): FileSource {
  const updatedAt = new Date(0).toISOString();
  const entryOf = (path: string): KeptFile | undefined => {
    const data = files.get(path);
    if (data !== undefined) return { path, kind: "file", bytes: data.byteLength, version: 1, updatedAt };
    const isFolder = [...files.keys()].some((file) => file !== path && pathMatches(path, file));
    return isFolder ? { path, kind: "folder", bytes: 0, version: 0, updatedAt } : undefined;
  };
  return {
    find: async (_user, path) => entryOf(path),
    async list(_user, folder, { deep = false } = {}) {
      const prefix = folder === "/" ? folder : `${folder}/`;
      const paths = [...files.keys()].flatMap((file) => {
        if (!file.startsWith(prefix)) return [];
        const parts = file.slice(prefix.length).split("/");
        return deep
          ? parts.map((_, at) => prefix + parts.slice(0, at + 1).join("/"))
          : [`${prefix}${parts[0]}`];
      });
      return { items: [...new Set(paths)].toSorted().flatMap((path) => entryOf(path) ?? []) };
    },
    async read(_user, path, { offset = 0, length = Number.POSITIVE_INFINITY } = {}) {
      const [entry, data] = [entryOf(path), files.get(path)];
      return entry && data && { entry, data: data.slice(offset, offset + length) };
    },
  };
}

const OVER: FileReply = { ok: false, code: "io", error: "the call is over" };
const TOO_OFTEN: FileReply = {
  ok: false,
  code: "quota",
  error: `a call may ask for files at most ${MAX_FILE_REQUESTS} times`,
};
const TOO_MUCH: FileReply = { ok: false, code: "quota", error: "ask for fewer things at once" };

function toReply(error: unknown): FileReply {
  if (error instanceof FileProblem) return { ok: false, code: error.code, error: error.message };
  if (error instanceof Fault)
    return { ok: false, code: error.kind === "missing" ? "no-entry" : "invalid", error: error.message };
  throw error;
}

function noneWhereMissing(error: unknown): readonly KeptFile[] {
  if (error instanceof Fault && error.kind === "missing") return [];
  throw error;
}

function shown({ path, kind, bytes, updatedAt }: KeptFile): FileEntry {
  return { path, kind, bytes, updatedAt };
}

function told({ path, kind, bytes, updatedAt }: Seen): FileEntry {
  return { path, kind, bytes, updatedAt };
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

function parentOf(path: string): string | undefined {
  if (path === "/") return undefined;
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to refuse.
const UNFIT = /[\\\u0000-\u001f\u007f]/;

/** Absolute, without anything that leads elsewhere; the workspace has rules of its own for names. */
function cleanPath(given: string): string {
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
