/** The port of the terminal: all that it uses of the service in this process, or of one elsewhere. */

import type { ThreadSummary } from "../../kernel/kit/turns.ts";
import type {
  Job,
  ModelName,
  Page,
  PluginState,
  Task,
  ToolInfo,
  TurnEvent,
  TurnInput,
  TurnRecord,
} from "../../kernel/plugin.ts";
import type {
  Attachments,
  BinnedThread,
  ContextUse,
  ExportedThread,
  ExportFormat,
  Upload,
} from "../agent/services.ts";
import type { MemoryEntry, MemoryHit } from "../memory/services.ts";
import type { ModelList } from "../models/services.ts";
import type { ChangeSet, UndoOutcome, WorkspaceEntry, WorkspaceUsage } from "../workspace/services.ts";

/** It speaks for one user: the operator here, and elsewhere the user of the token. */
export interface Terminal {
  readonly version: string;
  /** What runs there: every plugin of this process, or the channels of a service elsewhere. */
  plugins(): readonly PluginState[];
  /** Set for a service elsewhere. */
  readonly joined?: JoinedService;

  /** Calls the listener with the events of every turn on any channel; `lost` if some were missed, and must be read. Returns the undo. */
  watch(listener: (event: TurnEvent, turn: StartedTurn) => void, lost: () => void): () => void;
  /** Starts a turn, whose events may come before this resolves. Rejects with a `Fault` if it is refused. */
  send(message: TerminalMessage): Promise<StartedTurn>;
  answer(answer: GateAnswer, thread: string | undefined): Promise<StartedTurn>;
  /** Sends what the person said in a turn again, for another version of its answer. */
  retry(turn: string): Promise<StartedTurn>;
  cancel(turn: string): Promise<boolean>;
  /** Takes back a message that waits in line. False if it was read, or has begun as a turn. */
  takeBack(turn: string): Promise<boolean>;

  readonly threads: {
    /** Last changed first; `q` searches titles and messages. */
    list(query: {
      readonly q?: string | undefined;
      readonly limit: number;
      readonly before?: string | undefined;
    }): Promise<Page<ThreadSummary>>;
    find(thread: string): Promise<ThreadSummary | undefined>;
    /** The turns that lead to the newest one. */
    turns(thread: string, limit: number): Promise<readonly TurnRecord[]>;
    turn(turn: string): Promise<TurnRecord | undefined>;
    /** How full the window of the thread's model is. */
    contextOf(thread: string): Promise<Pick<ContextUse, "total" | "window">>;
    export(thread: string, format: ExportFormat): Promise<ExportedThread>;
    rename(thread: string, title: string): Promise<void>;
    /** Undefined is the configured model. */
    setModel(thread: string, model: ModelName | undefined): Promise<void>;
    /** Moves it to the bin. */
    bin(thread: string): Promise<void>;
    /** What was deleted last comes first. */
    binned(limit: number): Promise<readonly Pick<BinnedThread, "id" | "title" | "binnedAt" | "expiresAt">[]>;
    restore(thread: string): Promise<void>;
    /** Returns how many threads were deleted for good. */
    emptyBin(): Promise<number>;
    /** Deletes it for good. */
    remove(thread: string): Promise<void>;
  };
  /** Files of the next message. */
  readonly uploads: {
    readonly limits: Pick<Attachments["limits"], "fileBytes" | "files">;
    /** Rejects with a `Fault` that says why a file is not accepted. */
    add(file: { readonly name: string; readonly data: Uint8Array }): Promise<Upload>;
    remove(id: string): Promise<boolean>;
  };
  /** The model of threads that have none of their own. */
  model(): ModelName;
  models(): Promise<Pick<ModelList, "items" | "unlisted">>;
  tools(): Promise<
    readonly Pick<ToolInfo, "name" | "version" | "description" | "grants" | "switchedOff" | "needs">[]
  >;
  readonly jobs: {
    counts(): Promise<{ readonly queued: number; readonly running: number }>;
    /** Newest first. */
    list(limit: number): Promise<readonly Pick<Job, "id" | "user" | "status" | "createdAt" | "error">[]>;
  };
  readonly tasks: {
    /** The last that were delegated, each after the task that it is a part of; with a thread, those of this conversation. */
    list(thread?: string): Promise<readonly Task[]>;
    cancel(id: string): Promise<unknown>;
  };
  /** Absent if memory is off. */
  readonly memory?: {
    search(words: string, limit: number): Promise<readonly Pick<MemoryHit, "path" | "snippet">[]>;
    list(): Promise<readonly Pick<MemoryEntry, "path" | "bytes" | "updatedAt">[]>;
  };
  /** The workspace; absent if it is off. */
  readonly files?: TerminalFiles;
}

export interface TerminalFiles {
  /** What is in a folder; with `deep` everything below it. */
  list(folder: string, query: { readonly deep?: boolean; readonly limit: number }): Promise<Page<FileEntry>>;
  find(path: string): Promise<FileEntry | undefined>;
  /** The beginning of a file. */
  read(
    path: string,
    length: number,
  ): Promise<{ readonly entry: FileEntry; readonly data: Uint8Array } | undefined>;
  /** Returns a chart, which is an SVG, as PNG; undefined for any other. Absent where charts are not drawn. */
  draw?(svg: string): Promise<Uint8Array | undefined>;
  /** Uploads it for a message. */
  attach(path: string): Promise<Upload>;
  /** What was changed, newest first. */
  log(limit: number): Promise<readonly FileChanges[]>;
  /** Takes a set of changes back. If somebody changed one of its paths since, nothing is done unless `conflicts` says how. */
  undo(
    set: string,
    options: { readonly thread: string | undefined; readonly conflicts?: "overwrite" | "skip" },
  ): Promise<{
    /** The set that took it back; absent if nothing was done. */
    readonly set?: { readonly id: string } | undefined;
    readonly conflicts: UndoOutcome["conflicts"];
  }>;
  usage(): Promise<Pick<WorkspaceUsage, "bytes" | "maxBytes">>;
}

export type FileEntry = Pick<WorkspaceEntry, "path" | "kind" | "bytes" | "mime" | "version" | "updatedAt">;

export interface FileChanges extends Pick<ChangeSet, "id" | "writer" | "undoes" | "undoneBy" | "isCut"> {
  readonly changes: readonly Pick<ChangeSet["changes"][number], "path" | "change" | "to">[];
}

export interface JoinedService {
  readonly url: string;
  /** The command that joins it again. */
  readonly command: string;
  /** Why there is no connection; undefined while there is one. */
  problem(): string | undefined;
}

export interface StartedTurn {
  readonly id: string;
  readonly thread: string;
}

export interface TerminalMessage {
  readonly text: string;
  /** Ids of uploads. */
  readonly attachments: readonly string[];
  /** Continues this thread; absent starts a new one. */
  readonly thread: string | undefined;
  /** The model of a new thread, if one was chosen. */
  readonly model: ModelName | undefined;
}

export type GateAnswer = Extract<TurnInput, { readonly gate: string }>;

declare module "../../kernel/plugin.ts" {
  interface Services {
    terminal: Terminal;
  }
}
