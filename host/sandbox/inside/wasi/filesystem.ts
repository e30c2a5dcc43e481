/**
 * `wasi:filesystem` for a tool that was granted folders of the workspace: each is a preopened directory. There are no links, locks or
 * times to set. For a tool without such a grant no directory is there.
 */
import { createHash } from "node:crypto";
import type { FileEntry, FileErrorCode, FileRequest, Preopen } from "../../protocol.ts";
import { type CallFiles, type FileAnswer, FileRefusal } from "../files.ts";
import {
  Event,
  type Holdings,
  InputStream,
  OutputStream,
  Pollable,
  Refusal,
  Resource,
  StreamError,
} from "./io.ts";

const MAX_OPEN = 128;
/** Read at once where a guest asks for less: each question costs a message. */
const READ_AHEAD_BYTES = 256 << 10;
const MAX_READ_BYTES = 1 << 20;

type DescriptorType = "directory" | "regular-file";

interface Flags {
  readonly read?: boolean;
  readonly write?: boolean;
  readonly mutateDirectory?: boolean;
}

interface OpenFlags {
  readonly create?: boolean;
  readonly directory?: boolean;
  readonly exclusive?: boolean;
  readonly truncate?: boolean;
}

/** What a guest is told of a failed read or write of a stream. */
class FileStreamError extends StreamError {
  readonly code: string;

  constructor({ code, message }: FileRefusal) {
    super(message);
    this.code = code;
  }
}

export interface GrantedFolders {
  readonly preopens: readonly Preopen[];
  /** Those of the call; throws while there is none. */
  files(): CallFiles;
}

const NO_FOLDERS: GrantedFolders = {
  preopens: [],
  files() {
    throw new FileRefusal("access", "there are no files here");
  },
};

export function createFilesystem(
  holdings: Holdings,
  { preopens, files }: GrantedFolders = NO_FOLDERS,
): Readonly<Record<string, object>> {
  const ask = async (request: FileRequest): Promise<FileAnswer> => {
    try {
      return await files().ask(request);
    } catch (error) {
      throw toRefusal(error);
    }
  };
  const find = async (path: string): Promise<FileEntry | undefined> =>
    (await ask({ op: "stat", path })).entries?.[0];
  const mayWrite = (path: string) =>
    preopens.some((folder) => folder.access === "write" && isBelow(folder.path, path));

  class Descriptor extends Resource {
    readonly path: string;
    readonly type: DescriptorType;
    readonly flags: Flags;
    readonly #account = holdings.account;

    constructor(path: string, type: DescriptorType, flags: Flags) {
      super(holdings);
      this.path = path;
      this.type = type;
      this.flags = flags;
      this.#account.openFiles++;
    }

    [Symbol.dispose](): void {
      this.#account.openFiles--;
    }

    getType(): DescriptorType {
      return this.type;
    }
    getFlags(): Flags {
      return this.flags;
    }
    advise(): void {}
    async sync(): Promise<void> {
      try {
        await files().settle();
      } catch (error) {
        throw toRefusal(error);
      }
    }
    syncData(): Promise<void> {
      return this.sync();
    }

    async stat() {
      const entry = await find(this.path);
      if (entry === undefined) throw new Refusal("no-entry");
      return toStat(entry);
    }
    async statAt(_flags: unknown, path: string) {
      const entry = await find(this.#resolve(path));
      if (entry === undefined) throw new Refusal("no-entry");
      return toStat(entry);
    }
    isSameObject(other: Descriptor): boolean {
      return other.path === this.path;
    }
    metadataHash() {
      return hashOf(this.path);
    }
    metadataHashAt(_flags: unknown, path: string) {
      return hashOf(this.#resolve(path));
    }

    readViaStream(offset: bigint): InputStream {
      this.#assertFile("read");
      return new FileInputStream(this.path, Number(offset));
    }
    async read(length: bigint, offset: bigint): Promise<[Uint8Array, boolean]> {
      this.#assertFile("read");
      const wanted = Math.min(Number(length), MAX_READ_BYTES);
      const { body } = await ask({ op: "read", path: this.path, offset: Number(offset), length: wanted });
      return [body, body.byteLength < wanted];
    }
    write(bytes: Uint8Array, offset: bigint): bigint {
      this.#assertFile("write");
      try {
        files().write(this.path, Number(offset), bytes);
      } catch (error) {
        throw toRefusal(error);
      }
      return BigInt(bytes.byteLength);
    }
    writeViaStream(offset: bigint): OutputStream {
      return this.#writer(Number(offset));
    }
    appendViaStream(): OutputStream {
      return this.#writer(undefined);
    }
    async setSize(size: bigint): Promise<void> {
      this.#assertFile("write");
      await ask({ op: "resize", path: this.path, length: Number(size) });
    }

    async readDirectory(): Promise<DirectoryEntryStream> {
      if (this.type !== "directory") throw new Refusal("not-directory");
      const { entries = [] } = await ask({ op: "list", path: this.path });
      return new DirectoryEntryStream(entries);
    }
    async createDirectoryAt(path: string): Promise<void> {
      const made = this.#resolve(path);
      if ((await find(made)) !== undefined) throw new Refusal("exist");
      await ask({ op: "folder", path: made });
    }
    async openAt(_flags: unknown, path: string, how: OpenFlags, flags: Flags): Promise<Descriptor> {
      if (this.#account.openFiles >= MAX_OPEN) throw new Refusal("quota");
      const at = this.#resolve(path);
      const writes = flags.write === true || how.truncate === true;
      if ((writes || flags.mutateDirectory === true) && !mayWrite(at)) throw new Refusal("read-only");
      const entry = await find(at);
      if (entry === undefined) {
        if (!how.create) throw new Refusal("no-entry");
        if (how.directory) throw new Refusal("invalid");
        await ask({ op: "write", path: at, body: NOTHING });
        return new Descriptor(at, "regular-file", flags);
      }
      if (how.create && how.exclusive) throw new Refusal("exist");
      if (entry.kind === "folder") {
        if (writes) throw new Refusal("is-directory");
        return new Descriptor(at, "directory", flags);
      }
      if (how.directory) throw new Refusal("not-directory");
      if (how.truncate) await ask({ op: "resize", path: at, length: 0 });
      return new Descriptor(at, "regular-file", flags);
    }
    async unlinkFileAt(path: string): Promise<void> {
      await this.#removeAt(path, "file");
    }
    async removeDirectoryAt(path: string): Promise<void> {
      await this.#removeAt(path, "folder");
    }
    async renameAt(oldPath: string, folder: Descriptor, newPath: string): Promise<void> {
      const path = this.#resolve(oldPath);
      const to = folder.#resolve(newPath);
      if (path === to) return;
      const [from, there] = [await find(path), await find(to)];
      if (from === undefined) throw new Refusal("no-entry");
      if (there !== undefined) {
        if (there.kind !== from.kind)
          throw new Refusal(there.kind === "file" ? "not-directory" : "is-directory");
        await ask({ op: "remove", path: to });
      }
      await ask({ op: "move", path, to });
    }

    setTimes(): never {
      throw new Refusal("unsupported");
    }
    setTimesAt(): never {
      throw new Refusal("unsupported");
    }
    linkAt(): never {
      throw new Refusal("unsupported");
    }
    symlinkAt(): never {
      throw new Refusal("unsupported");
    }
    /** Nothing here is a link, which is what this word means. */
    readlinkAt(): never {
      throw new Refusal("invalid");
    }

    #writer(offset: number | undefined): OutputStream {
      this.#assertFile("write");
      let at = offset;
      return new OutputStream(holdings, (bytes) => {
        try {
          files().write(this.path, at, bytes);
        } catch (error) {
          throw toStreamFailure(error);
        }
        if (at !== undefined) at += bytes.byteLength;
      });
    }
    #assertFile(use: "read" | "write"): void {
      if (this.type === "directory") throw new Refusal("is-directory");
      if (this.flags[use] !== true) throw new Refusal("bad-descriptor");
    }
    async #removeAt(path: string, kind: FileEntry["kind"]): Promise<void> {
      const at = this.#resolve(path);
      const entry = await find(at);
      if (entry === undefined) throw new Refusal("no-entry");
      if (entry.kind !== kind) throw new Refusal(kind === "file" ? "is-directory" : "not-directory");
      await ask({ op: "remove", path: at });
    }
    #resolve(path: string): string {
      if (this.type !== "directory") throw new Refusal("not-directory");
      return resolve(this.path, path);
    }
  }

  class FileInputStream extends InputStream {
    readonly #path: string;
    #at: number;
    #ahead: Uint8Array = NOTHING;
    #isAtEnd = false;
    #failure: FileRefusal | undefined;
    #fetching: Promise<void> | undefined;
    #fetched = new Event();

    constructor(path: string, offset: number) {
      super(holdings);
      this.#path = path;
      this.#at = offset;
    }

    /** Nothing, where it would have to wait. */
    override read(length: bigint): Uint8Array {
      if (this.#mustFetch()) {
        void this.#fetch(READ_AHEAD_BYTES);
        return NOTHING;
      }
      return this.#take(length);
    }
    override async blockingRead(length: bigint): Promise<Uint8Array> {
      if (length > 0n && this.#mustFetch()) await this.#fetch(Number(length));
      return this.#take(length);
    }
    override async blockingSkip(length: bigint): Promise<bigint> {
      return BigInt((await this.blockingRead(length)).byteLength);
    }
    override subscribe(): Pollable {
      if (this.#mustFetch()) void this.#fetch(READ_AHEAD_BYTES);
      return new Pollable(holdings, this.#fetched);
    }
    override [Symbol.dispose](): void {
      this.#ahead = NOTHING;
    }

    #mustFetch(): boolean {
      return this.#ahead.byteLength === 0 && !this.#isAtEnd && this.#failure === undefined;
    }
    #fetch(length: number): Promise<void> {
      if (this.#fetching !== undefined) return this.#fetching;
      const fetched = new Event();
      this.#fetched = fetched;
      const wanted = Math.min(Math.max(length, READ_AHEAD_BYTES), MAX_READ_BYTES);
      const request: FileRequest = { op: "read", path: this.#path, offset: this.#at, length: wanted };
      this.#fetching = (async () => {
        try {
          const { body } = await files().ask(request);
          this.#ahead = body;
          this.#at += body.byteLength;
          this.#isAtEnd = body.byteLength === 0;
        } catch (error) {
          this.#failure = error instanceof FileRefusal ? error : new FileRefusal("io", String(error));
        }
        this.#fetching = undefined;
        fetched.happen();
      })();
      return this.#fetching;
    }
    #take(length: bigint): Uint8Array {
      if (this.#failure !== undefined) throw toStreamFailure(this.#failure);
      if (length === 0n) return NOTHING;
      if (this.#isAtEnd) throw new Refusal({ tag: "closed" });
      const size = Math.min(Number(length), this.#ahead.byteLength);
      const piece = this.#ahead.subarray(0, size);
      this.#ahead = this.#ahead.subarray(size);
      return piece;
    }
  }

  class DirectoryEntryStream extends Resource {
    readonly #entries: Iterator<FileEntry>;

    constructor(entries: readonly FileEntry[]) {
      super(holdings);
      this.#entries = entries[Symbol.iterator]();
    }
    readDirectoryEntry(): { type: DescriptorType; name: string } | undefined {
      const { value, done } = this.#entries.next();
      if (done) return undefined;
      return { type: toType(value), name: value.path.slice(value.path.lastIndexOf("/") + 1) };
    }
  }

  const openPreopen = ({ path, access }: Preopen): [Descriptor, string] => {
    const flags = { read: true, mutateDirectory: access === "write" };
    return [new Descriptor(path, "directory", flags), path];
  };
  return {
    "wasi:filesystem/preopens": { getDirectories: () => preopens.map(openPreopen) },
    "wasi:filesystem/types": {
      Descriptor,
      DirectoryEntryStream,
      filesystemErrorCode: (error: StreamError) =>
        error instanceof FileStreamError ? error.code : undefined,
    },
  };
}

const NOTHING = new Uint8Array();

/** Relative paths only; `..` does not leave the directory. */
function resolve(folder: string, path: string): string {
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

function toType({ kind }: FileEntry): DescriptorType {
  return kind === "folder" ? "directory" : "regular-file";
}

function toStat(entry: FileEntry) {
  const millis = Date.parse(entry.updatedAt) || 0;
  const time = { seconds: BigInt(Math.floor(millis / 1000)), nanoseconds: (millis % 1000) * 1e6 };
  return {
    type: toType(entry),
    linkCount: 1n,
    size: BigInt(entry.bytes),
    dataAccessTimestamp: undefined,
    dataModificationTimestamp: time,
    statusChangeTimestamp: undefined,
  };
}

/** By the path alone: guests take it for an inode. */
function hashOf(path: string): { lower: bigint; upper: bigint } {
  const digest = createHash("sha256").update(path).digest();
  return { lower: digest.readBigUInt64LE(0), upper: digest.readBigUInt64LE(8) };
}

function toRefusal(error: unknown): unknown {
  return error instanceof FileRefusal ? new Refusal(error.code satisfies FileErrorCode) : error;
}

function toStreamFailure(error: unknown): unknown {
  if (!(error instanceof FileRefusal)) return error;
  return new Refusal({ tag: "last-operation-failed", val: new FileStreamError(error) });
}
