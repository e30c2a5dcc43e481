/** An open file or folder of `wasi:filesystem`. */
import { createHash } from "node:crypto";
import type { FileEntry } from "../../protocol.ts";
import {
  type DescriptorType,
  DirectoryEntryStream,
  FileInputStream,
  MAX_READ_BYTES,
  toStreamFailure,
  toType,
} from "./file-streams.ts";
import { ask, type FolderParts, find, mayWrite, NOTHING, resolve, toRefusal } from "./folders.ts";
import { type InputStream, OutputStream, Refusal, Resource } from "./io.ts";

const MAX_OPEN = 128;

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

export class Descriptor extends Resource {
  readonly #folders: FolderParts;
  readonly path: string;
  readonly type: DescriptorType;
  readonly flags: Flags;
  readonly #account;

  constructor(folders: FolderParts, path: string, type: DescriptorType, flags: Flags) {
    super(folders.holdings);
    this.#folders = folders;
    this.path = path;
    this.type = type;
    this.flags = flags;
    this.#account = folders.holdings.account;
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
      await this.#folders.files().settle();
    } catch (error) {
      throw toRefusal(error);
    }
  }
  syncData(): Promise<void> {
    return this.sync();
  }

  async stat() {
    const entry = await find(this.#folders, this.path);
    if (entry === undefined) throw new Refusal("no-entry");
    return toStat(entry);
  }
  async statAt(_flags: unknown, path: string) {
    const entry = await find(this.#folders, this.#resolve(path));
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
    return new FileInputStream(this.#folders, this.path, Number(offset));
  }
  async read(length: bigint, offset: bigint): Promise<[Uint8Array, boolean]> {
    this.#assertFile("read");
    const wanted = Math.min(Number(length), MAX_READ_BYTES);
    const { body } = await ask(this.#folders, {
      op: "read",
      path: this.path,
      offset: Number(offset),
      length: wanted,
    });
    return [body, body.byteLength < wanted];
  }
  write(bytes: Uint8Array, offset: bigint): bigint {
    this.#assertFile("write");
    try {
      this.#folders.files().write(this.path, Number(offset), bytes);
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
    await ask(this.#folders, { op: "resize", path: this.path, length: Number(size) });
  }

  async readDirectory(): Promise<DirectoryEntryStream> {
    if (this.type !== "directory") throw new Refusal("not-directory");
    const { entries = [] } = await ask(this.#folders, { op: "list", path: this.path });
    return new DirectoryEntryStream(this.holdings, entries);
  }
  async createDirectoryAt(path: string): Promise<void> {
    const made = this.#resolve(path);
    if ((await find(this.#folders, made)) !== undefined) throw new Refusal("exist");
    await ask(this.#folders, { op: "folder", path: made });
  }
  async openAt(_flags: unknown, path: string, how: OpenFlags, flags: Flags): Promise<Descriptor> {
    if (this.#account.openFiles >= MAX_OPEN) throw new Refusal("quota");
    const at = this.#resolve(path);
    const writes = flags.write === true || how.truncate === true;
    if ((writes || flags.mutateDirectory === true) && !mayWrite(this.#folders, at))
      throw new Refusal("read-only");
    const entry = await find(this.#folders, at);
    if (entry === undefined) {
      if (!how.create) throw new Refusal("no-entry");
      if (how.directory) throw new Refusal("invalid");
      await ask(this.#folders, { op: "write", path: at, body: NOTHING });
      return new Descriptor(this.#folders, at, "regular-file", flags);
    }
    if (how.create && how.exclusive) throw new Refusal("exist");
    if (entry.kind === "folder") {
      if (writes) throw new Refusal("is-directory");
      return new Descriptor(this.#folders, at, "directory", flags);
    }
    if (how.directory) throw new Refusal("not-directory");
    if (how.truncate) await ask(this.#folders, { op: "resize", path: at, length: 0 });
    return new Descriptor(this.#folders, at, "regular-file", flags);
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
    const [from, there] = [await find(this.#folders, path), await find(this.#folders, to)];
    if (from === undefined) throw new Refusal("no-entry");
    if (there !== undefined) {
      if (there.kind !== from.kind)
        throw new Refusal(there.kind === "file" ? "not-directory" : "is-directory");
      await ask(this.#folders, { op: "remove", path: to });
    }
    await ask(this.#folders, { op: "move", path, to });
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
    return new OutputStream(this.holdings, (bytes) => {
      try {
        this.#folders.files().write(this.path, at, bytes);
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
    const entry = await find(this.#folders, at);
    if (entry === undefined) throw new Refusal("no-entry");
    if (entry.kind !== kind) throw new Refusal(kind === "file" ? "is-directory" : "not-directory");
    await ask(this.#folders, { op: "remove", path: at });
  }
  #resolve(path: string): string {
    if (this.type !== "directory") throw new Refusal("not-directory");
    return resolve(this.path, path);
  }
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
