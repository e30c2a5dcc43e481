/**
 * The workspace as other plugins use it: a tree of files for each user, every change of which is kept and can be undone.
 *
 * A path is `/reports/may.csv` in the user's own workspace, or `garden:/plan.md` in a named one. A folder of the machine that the
 * operator mounted is a folder at the top: `/notes/…`.
 */
import type { Origin, Page, Transaction } from "../../kernel/plugin.ts";
import type {
  ChangeSet,
  UndoOutcome,
  WorkspaceEntry,
  WorkspaceRoot,
  WorkspaceUsage,
  WorkspaceVersion,
  Writer,
} from "./wire.ts";

export type {
  ChangeSet,
  UndoOutcome,
  WorkspaceEntry,
  WorkspaceRoot,
  WorkspaceUsage,
  WorkspaceVersion,
  Writer,
} from "./wire.ts";

export interface Workspace {
  /** What lies in a folder, by name; with `deep` everything below it. A fault where there is no such folder. */
  list(
    user: string,
    folder: string,
    query?: { readonly deep?: boolean; readonly limit?: number; readonly after?: string },
  ): Promise<Page<WorkspaceEntry>>;
  find(user: string, path: string): Promise<WorkspaceEntry | undefined>;
  /** A part of a file, or all of it. Undefined where there is no such file or version. */
  read(user: string, path: string, part?: FilePart): Promise<FileContent | undefined>;
  /** A whole file in pieces, for what is sent on. */
  stream(user: string, path: string, version?: number): Promise<FileStream | undefined>;
  /**
   * Sentences for the person to agree to before the model or a tool makes these edits, which are refused otherwise: below a mount, what
   * is made from others' words, and every change of what programs may run.
   */
  agreements(
    user: string,
    edits: readonly PlannedEdit[],
    change: Pick<Change, "origins">,
  ): Promise<readonly string[]>;
  /** Makes all edits or, with a fault that names the path, none. Returns what the written and moved paths and made folders are now. */
  apply(user: string, edits: readonly Edit[], change: Change): Promise<readonly WorkspaceEntry[]>;
  /** Writes a file as it comes in. Where the stream breaks off nothing has changed. */
  upload(
    user: string,
    path: string,
    data: AsyncIterable<Uint8Array>,
    change: Change,
    expected?: number,
  ): Promise<WorkspaceEntry>;
  search(user: string, query: SearchQuery): Promise<SearchResult>;
  /** The versions of a path that are kept, newest first, those of a removed file too. */
  versions(user: string, path: string): Promise<readonly WorkspaceVersion[]>;
  /** What was changed, newest first; by one turn, or at one path. */
  log(
    user: string,
    query?: {
      readonly turn?: string;
      readonly path?: string;
      readonly limit?: number;
      readonly before?: string;
    },
  ): Promise<Page<ChangeSet>>;
  /**
   * Takes one set back, as a set of its own that can be undone again. Paths that were changed by another set since are left alone and
   * returned as `conflicts`, and then nothing is done, unless `overwrite` says to take those back too or `skip` to leave them.
   */
  undo(user: string, set: string, change: Change, conflicts?: "overwrite" | "skip"): Promise<UndoOutcome>;
  /** Makes an earlier version the present one. */
  restore(user: string, path: string, version: number, change: Change): Promise<WorkspaceEntry>;
  usage(user: string): Promise<WorkspaceUsage>;
  /** The named workspaces of this user, and the mounts that they see. */
  roots(user: string): Promise<readonly WorkspaceRoot[]>;
  /** The folders of machines that the operator mounted. */
  mounts(): Promise<readonly Mount[]>;
  mount(given: NewMount): Promise<Mount>;
  /** False where there is none of that name. Nothing in the folder is touched. */
  unmount(name: string, owner?: MountOwner): Promise<boolean>;
  removeUser(user: string): Promise<void>;
  giveUser(tx: Transaction, from: string, to: string): Promise<void>;
}

export interface FilePart {
  readonly version?: number | undefined;
  readonly offset?: number | undefined;
  readonly length?: number | undefined;
}

export interface FileContent {
  readonly entry: WorkspaceEntry;
  readonly data: Uint8Array;
}

export interface FileStream {
  readonly entry: WorkspaceEntry;
  readonly data: AsyncIterable<Uint8Array>;
}

export type Edit =
  | {
      readonly op: "write";
      readonly path: string;
      readonly data: Uint8Array;
      /** Written only where that is still the version there is (0: none yet); otherwise the fault `workspace_changed`. */
      readonly expected?: number | undefined;
      /** Whose words this one file was made from, in place of those of the whole change. */
      readonly origins?: readonly Origin[] | undefined;
    }
  | { readonly op: "folder"; readonly path: string }
  | { readonly op: "move"; readonly path: string; readonly to: string }
  /** A folder goes with everything in it. */
  | { readonly op: "remove"; readonly path: string };

/** An edit whose content does not matter yet. */
export type PlannedEdit =
  | Exclude<Edit, { readonly op: "write" }>
  | Pick<Edit & { readonly op: "write" }, "op" | "path">;

export interface Change {
  readonly writer: Writer;
  readonly origins?: readonly Origin[] | undefined;
  /** The person has agreed to these very edits. */
  readonly isAgreed?: boolean | undefined;
  readonly record?: ChangeRecord | undefined;
}

/** For a caller that has to know after a crash whether the change was made. */
export interface ChangeRecord {
  /** Called in the transaction of the change, with what `apply` returns. */
  done(tx: Transaction, made: readonly WorkspaceEntry[]): Promise<void>;
  /** Below a mount, called before the file is written: the disk and the store cannot change in one step. */
  begun(tx: Transaction, digests: ChangedDigests): Promise<void>;
}

/** Of a file before, if there was one, and after it was written. */
export interface ChangedDigests {
  readonly before?: string | undefined;
  readonly after: string;
}

export interface SearchQuery {
  /** Words, all of which stand in a line. */
  readonly words?: string | undefined;
  /** A regular expression without look-around and back-references, which takes linear time. */
  readonly pattern?: string | undefined;
  readonly folder?: string | undefined;
  readonly limit?: number | undefined;
}

export interface SearchResult {
  readonly hits: readonly {
    readonly path: string;
    readonly line: number;
    readonly text: string;
    readonly origins?: readonly Origin[] | undefined;
  }[];
  /** False where there were more hits or files than one search reads. */
  readonly isComplete: boolean;
}

/** Whose a mount is: the operator's own, unless it says otherwise. */
export interface MountOwner {
  readonly user?: string | undefined;
  readonly isEverybodys?: boolean | undefined;
}

export interface NewMount extends MountOwner {
  /** What it is called at the top of the workspace. */
  readonly name: string;
  readonly folder: string;
  readonly isWritable?: boolean | undefined;
}

export interface Mount {
  readonly name: string;
  readonly folder: string;
  /** Absent if it is everybody's. */
  readonly user?: string;
  /** The machine that has the folder. */
  readonly machine: string;
  readonly isReadOnly: boolean;
  /** Why it cannot be used now, in a sentence. */
  readonly problem?: string;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    workspace: Workspace;
  }
}
