/** What the files of a call are made of, and what it may use of them. */
import type { GrantedFolder } from "../../../capabilities/capabilities.ts";
import type { Origin } from "../../../kernel/plugin.ts";
import {
  type FileEntry,
  type FileErrorCode,
  MAX_CALL_FILE_BYTES,
  MAX_FILE_BYTES,
} from "../../sandbox/protocol.ts";
import type { FileEdit, FileSource, KeptFile } from "./sources.ts";

/** Limits all calls together, because it is the service's own memory. */
const MAX_HELD_BYTES = 512_000_000;

/** What the workspace makes at once. */
export const MAX_EDITS = 1000;

export const NOTHING = new Uint8Array();

export class FileProblem extends Error {
  readonly code: FileErrorCode;

  constructor(code: FileErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A file whose content is held here. */
export class HeldFile {
  #bytes = new Uint8Array();
  length = 0;
  /** False once a later step needs it as it is. */
  isOpen = true;

  /** `take` throws if there is no room for so much more. */
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
export type Node =
  | { readonly kind: "folder" }
  | { readonly kind: "held"; readonly file: HeldFile }
  | { readonly kind: "moved"; readonly entry: KeptFile }
  | { readonly kind: "gone" };

export type Step =
  | Exclude<FileEdit, { readonly op: "write" }>
  | {
      readonly op: "write";
      readonly path: string;
      readonly file: HeldFile;
      readonly expected: number | undefined;
    };

/** What is at a path, as the call sees it. */
export interface Seen extends FileEntry {
  readonly file?: HeldFile;
  /** Where its content is, if the call did not write it. */
  readonly entry?: KeptFile;
}

/** The state of one call, for the modules here. */
export interface FileParts {
  readonly user: string;
  readonly granted: readonly GrantedFolder[];
  readonly source: FileSource;
  readonly nodes: Map<string, Node>;
  readonly steps: Step[];
  /** What the workspace said of a path first. */
  readonly found: Map<string, KeptFile | undefined>;
  readonly origins: Map<string, Origin>;
  /** The paths of the files that it read. */
  readonly read: Set<string>;
  readonly usage: FileUsage;
  readonly startedAt: string;
}

let heldByAll = 0;

/** How much a call has read, written and holds: each count throws beyond its limit. */
export class FileUsage {
  #read = 0;
  #written = 0;
  #held = 0;

  countRead(bytes: number): void {
    this.#read += bytes;
    if (this.#read > MAX_CALL_FILE_BYTES)
      throw new FileProblem("quota", `a call may read ${MAX_CALL_FILE_BYTES / 1e6} MB`);
  }

  countWritten(bytes: number): void {
    this.#written += bytes;
    if (this.#written > MAX_CALL_FILE_BYTES)
      throw new FileProblem("quota", `a call may write ${MAX_CALL_FILE_BYTES / 1e6} MB`);
  }

  readonly hold = (bytes: number): void => {
    if (heldByAll + bytes > MAX_HELD_BYTES)
      throw new FileProblem(
        "insufficient-space",
        "too much is being written at the same time: try again later",
      );
    heldByAll += bytes;
    this.#held += bytes;
  };

  release(): void {
    heldByAll -= this.#held;
    this.#held = 0;
  }
}
