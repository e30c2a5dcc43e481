/** The streams of `wasi:filesystem`: of the content of a file, and of the entries of a folder. */
import type { FileEntry, FileRequest } from "../../protocol.ts";
import { FileRefusal } from "../files.ts";
import { type FolderParts, NOTHING } from "./folders.ts";
import { Event, type Holdings, InputStream, Pollable, Refusal, Resource, StreamError } from "./io.ts";

/** Read at once if a guest asks for less: each question costs a message. */
const READ_AHEAD_BYTES = 256 << 10;
export const MAX_READ_BYTES = 1 << 20;

export type DescriptorType = "directory" | "regular-file";

/** What a guest gets for a failed read or write of a stream. */
export class FileStreamError extends StreamError {
  readonly code: string;

  constructor({ code, message }: FileRefusal) {
    super(message);
    this.code = code;
  }
}

export class FileInputStream extends InputStream {
  readonly #folders: FolderParts;
  readonly #path: string;
  #at: number;
  #ahead: Uint8Array = NOTHING;
  #isAtEnd = false;
  #failure: FileRefusal | undefined;
  #fetching: Promise<void> | undefined;
  #fetched = new Event();

  constructor(folders: FolderParts, path: string, offset: number) {
    super(folders.holdings);
    this.#folders = folders;
    this.#path = path;
    this.#at = offset;
  }

  /** Nothing, if it would have to wait. */
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
    return new Pollable(this.holdings, this.#fetched);
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
        const { body } = await this.#folders.files().ask(request);
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
    this.#assertOpen();
    if (this.#failure !== undefined) throw toStreamFailure(this.#failure);
    if (length === 0n) return NOTHING;
    if (this.#isAtEnd) throw new Refusal({ tag: "closed" });
    const size = Math.min(Number(length), this.#ahead.byteLength);
    const piece = this.#ahead.subarray(0, size);
    this.#ahead = this.#ahead.subarray(size);
    return piece;
  }
  /** What was read ahead is the call's that read it. */
  #assertOpen(): void {
    try {
      this.#folders.files();
    } catch (error) {
      throw toStreamFailure(error);
    }
  }
}

export class DirectoryEntryStream extends Resource {
  readonly #entries: Iterator<FileEntry>;

  constructor(holdings: Holdings, entries: readonly FileEntry[]) {
    super(holdings);
    this.#entries = entries[Symbol.iterator]();
  }
  readDirectoryEntry(): { type: DescriptorType; name: string } | undefined {
    const { value, done } = this.#entries.next();
    if (done) return undefined;
    return { type: toType(value), name: value.path.slice(value.path.lastIndexOf("/") + 1) };
  }
}

export function toType({ kind }: FileEntry): DescriptorType {
  return kind === "folder" ? "directory" : "regular-file";
}

export function toStreamFailure(error: unknown): unknown {
  if (!(error instanceof FileRefusal)) return error;
  return new Refusal({ tag: "last-operation-failed", val: new FileStreamError(error) });
}
