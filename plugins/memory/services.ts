/** Memory as other plugins use it. Whoever provides it in place of ours may leave out what is optional. */

import type { Origin, Transaction } from "../../kernel/plugin.ts";
import type { MemoryEntry, MemoryFile, MemoryHit, MemoryVersion, MemoryWriter } from "./wire.ts";

export type { MemoryEntry, MemoryFile, MemoryHit, MemoryVersion, MemoryWriter } from "./wire.ts";

export interface Writing {
  /** Written only where that is still the version there is (0: none yet); otherwise the fault `memory_changed`. */
  readonly expected?: number | undefined;
  /** The origins of the words that a model has put into it; absent where the person writes. */
  readonly origins?: readonly Origin[] | undefined;
  readonly writer?: MemoryWriter | undefined;
  /** Called in the transaction of the change, with what `write` returns. */
  done?(tx: Transaction, written: Written): Promise<void>;
}

export interface Written {
  readonly path: string;
  readonly version: number;
}

export interface RemovedDocument {
  readonly path: string;
  readonly version: number;
  readonly removedAt: string;
}

export interface Memory {
  search(user: string, q: string, limit?: number): Promise<readonly MemoryHit[]>;
  tree(user: string): Promise<readonly MemoryEntry[]>;
  read(user: string, path: string): Promise<MemoryFile | undefined>;
  write(user: string, path: string, text: string, writing?: Writing): Promise<Written>;
  remove(user: string, path: string): Promise<boolean>;
  /** The documents that can still be restored, the last removed first. */
  removed?(user: string): Promise<readonly RemovedDocument[]>;
  /** Brings a removed document back with its versions. Undefined where none of that path is kept. */
  restore?(
    user: string,
    path: string,
    removedAt?: string,
  ): Promise<{ readonly path: string; readonly version: number } | undefined>;
  /** The versions of a file that are kept, newest first; none where there is no such file. */
  history(user: string, path: string): Promise<readonly MemoryVersion[]>;
  readVersion(user: string, path: string, version: number): Promise<MemoryFile | undefined>;
  /** A vector of length one for each text, by the built-in model: texts of like meaning have vectors that are near. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]>;
  removeUser?(user: string): Promise<void>;
  /** Gives all documents of one user to another, below a folder of that name where the other has the path. */
  giveUser?(tx: Transaction, from: string, to: string): Promise<void>;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    memory: Memory;
  }
}
