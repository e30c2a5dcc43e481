/** What the library gives to whoever uses it, and what it asks of them. */
import type { ToolOrigin } from "../../kernel/kit/tools.ts";
import type { Log, ToolInfo, ToolOutcome } from "../../kernel/plugin.ts";
import type { Store, UserStorage } from "../../plugins/store/services.ts";
import type { FileStore } from "../calls/files/sources.ts";
import type { ToolReceipt, ToolSetup } from "../wire.ts";

/** Tools in a folder. A refusal is a `Fault`; whatever a tool does in a call is an outcome. */
export interface ToolHost extends AsyncDisposable {
  /**
   * Gets a tool from a folder, a file, `https://…`, `oci://…`, `npm:…` or an index, or takes one that was read already. It is
   * checked, and installed if `agree` says so.
   */
  install(what: string | ToolFiles, options: InstallOptions): Promise<ToolInfo>;
  /** False if there is no such tool. Its secrets stay, but for those that users have for themselves. */
  remove(name: string): Promise<boolean>;
  /** `user`: whose own settings and secrets count too for what a tool `needs`. */
  list(user?: string): Promise<readonly ToolInfo[]>;
  describe(name: string): Promise<ToolInfo | undefined>;
  /** `params`: an object, or JSON as a model wrote it. The tool's schema is checked in its own process. */
  call(name: string, params: object | string, options: CallOptions): Promise<ToolOutcome>;
  readonly secrets: {
    /** Those that a tool uses, and which are set. A value can be set, and never read. */
    list(tool: string): Promise<ToolSetup["secrets"]>;
    /** `warning`: the value is too short to be hidden in logs and outputs. */
    set(tool: string, secret: string, value: string): Promise<{ readonly warning?: string }>;
    /** Lets a tool use a secret that was set for another one, for another version or for other hosts: `shares` in `list` says so. */
    share(tool: string, secret: string): Promise<void>;
  };
  readonly settings: {
    list(tool: string): Promise<NonNullable<ToolSetup["settings"]>>;
    /** An empty value is the default again. `agree` is asked if the tool may do more then. */
    set(tool: string, setting: string, value: string, agree?: AgreeToMore): Promise<void>;
  };
  /** What each call did, the newest first. Receipts have no params, no output and no secrets. */
  receipts(query?: ReceiptQuery): Promise<readonly ToolReceipt[]>;
  /** Returns a function that stops it. */
  events(listener: (event: ToolEvent) => void): () => void;
  /** Cancels what runs, takes questions that are still open as refused, and ends every process. Resolves when nothing is left. */
  close(): Promise<void>;
}

export interface ToolFiles {
  readonly component: Uint8Array;
  /** The text of its capabilities file. */
  readonly capabilities: string;
}

export interface InstallOptions {
  /** Asked once, before anything is installed. */
  agree(grant: Grant): boolean | Promise<boolean>;
  /** Needed for files that were read already; otherwise the tool's own name is the default. */
  readonly name?: string;
  /** In place of the capabilities file that comes with the tool. */
  readonly capabilities?: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  progress?(line: string): void;
}

export interface Grant {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** Everything that the tool may do, in words. */
  readonly sentences: readonly string[];
  /** SHA-256 of the component. */
  readonly digest: string;
  /** Absent for files that were read already. */
  readonly origin?: ToolOrigin;
  /** Who signed it, in words; absent for what is on this machine's disk. */
  readonly signature?: string;
  /** The installed tool of that name, and what changes. */
  readonly replaces?: {
    readonly version: string;
    readonly added: readonly string[];
    readonly removed: readonly string[];
  };
}

export type AgreeToMore = (sentences: readonly string[]) => boolean | Promise<boolean>;

export interface CallOptions {
  /** Limits, state and receipts are kept apart by user. */
  readonly user: string;
  readonly signal?: AbortSignal;
}

export interface ReceiptQuery {
  readonly tool?: string;
  readonly user?: string;
  /** 20 by default. */
  readonly limit?: number;
}

export type ToolEvent =
  | { readonly type: "installed"; readonly tool: ToolInfo }
  | { readonly type: "removed"; readonly tool: string }
  | { readonly type: "called"; readonly receipt: ToolReceipt };

export interface ToolHostOptions {
  /** Tools, their secrets and their receipts are kept here. It is made if it is missing, and one process at a time may use it. */
  readonly folder: string;
  /** Credentials for tools whose capabilities file names an `env_var`, by that name. The environment is never read. */
  readonly values?: Readonly<Record<string, string>>;
  /** Asked before each call; false refuses it. Without it every call runs. */
  approve?(call: CallToApprove): boolean | Promise<boolean>;
  /** Where tools read and write files, if they may. Without it they have none. */
  readonly files?: FileStore;
  /** Has the last word on what a user may keep; `take` throws to refuse. Without it only each tool's own quota holds. */
  readonly limits?: Pick<UserStorage, "take">;
  /** In place of the SQLite file in the folder. It is not closed with the host. */
  readonly store?: Store;
  /** Without it nothing is logged. */
  readonly log?: Log;
  /** `host:port` of private hosts that tools may reach, also over plain http. */
  readonly privateHosts?: readonly string[];
  /** Lists of tools that can be installed by name: https URLs, paths from the folder, or `shipped`, which is the default. */
  readonly indexes?: readonly string[];
  readonly npmRegistry?: string;
  /** How many tools can be in use at once, each in a process of its own. The default is 8. */
  readonly processes?: number;
  /** Calls of one tool that compute at once; one for each core by default. */
  readonly workers?: number;
  /** What all tools together may use; half of the machine's memory by default. */
  readonly memoryMb?: number;
}

export interface CallToApprove {
  readonly tool: ToolInfo;
  /** As JSON. Nothing has checked it yet. */
  readonly params: string;
  readonly user: string;
}
