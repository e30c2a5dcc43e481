/** Services of the tool host for plugins: tools and calls of them, and the operator's view of tools and MCP servers. */
import type { JsonSchema } from "../kernel/kit/schema.ts";
import type { Attachment, ToolInfo, ToolOrigin } from "../kernel/kit/tools.ts";
import type { Figures, Reply } from "../kernel/kit/turns.ts";
import type { Origin, Question, ToolCall, ToolOutcome } from "../kernel/plugin.ts";
import type { FiguresQuery } from "../plugins/store/services.ts";
import type { CallTrace } from "../plugins/telemetry/services.ts";
import type {
  ListedTool,
  McpServerInfo,
  NewMcpServer,
  SeenTool,
  ServerListing,
  ToolFinding,
  ToolLimits,
  ToolProposal,
  ToolReceipt,
  ToolSetup,
} from "./wire.ts";

/** Parts of an outcome besides text: images, and the tool's data. */
export interface Extras {
  /** Each goes into the thread as an attachment of the call's result. */
  readonly attached?: readonly { readonly attachment: Attachment; readonly data: Uint8Array }[];
  readonly structured?: unknown;
  /** Whose words it is made of beside the tool's own: those of the files that the call read. */
  readonly origins?: readonly Origin[];
}

/** The call is not over: a person is asked first. It becomes a gate, and is never stored as an outcome. */
export interface QuestionOutcome {
  readonly status: "question";
  readonly server: string;
  readonly questions: readonly Question[];
  /** Opaque. With it the call can be gone on with once. */
  readonly resume: string;
}

export type CallOutcome = (ToolOutcome & Extras) | QuestionOutcome;

/**
 * Asked before each request of a call, redirects included. Returns a sentence where it must not be sent. `from` is the address that
 * redirected there.
 */
export type AddressCheck = (address: {
  readonly url: string;
  readonly from?: string;
}) => string | undefined | Promise<string | undefined>;

/** What came of a call that a tool made. */
export type InnerOutcome = {
  readonly receipt?: string | undefined;
  /** Whose words it is, where it is not the person's or the agent's own. */
  readonly origins?: readonly Origin[];
} & (
  | { readonly ok: true; readonly output: string }
  /** A sentence for whoever wrote the call. */
  | { readonly ok: false; readonly code: string; readonly message: string }
);

/**
 * Makes a call for a tool whose capabilities file names it in `agent_tools`, as if the model had made it. Where a person would have to
 * be asked, it is not made. `parent`: the receipt of the call that it is made in.
 */
export type InnerCall = (
  call: ToolCall,
  within: {
    readonly parent: string;
    readonly signal: AbortSignal;
    /** Whose words the tool has read so far, in files. */
    readonly origins: readonly Origin[];
  },
) => Promise<InnerOutcome>;

export interface MountedFiles {
  readonly folder: string;
  /** By their path below the folder. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Whose words they are, and those that the call was made of; none where they are the operator's. */
  readonly origins: readonly Origin[];
}

export interface CallOptions {
  readonly user: string;
  /** The name of the channel, for the receipt. */
  readonly channel?: string;
  /** The thread and turn that call, to name them in what the tool writes. */
  readonly thread?: string;
  readonly turn?: string;
  readonly signal?: AbortSignal;
  readonly ruling?: NonNullable<ToolReceipt["ruling"]>;
  readonly trace?: CallTrace;
  readonly checkAddress?: AddressCheck;
  /** The receipt of the call that this one is made in. */
  readonly parent?: string;
  /** Absent where the tool can call no others. */
  readonly innerCall?: InnerCall;
  /** Files that the call can read besides, at this folder of the workspace. */
  readonly mounted?: MountedFiles;
  /** Called with true where the call waits for its tool to be prepared, and with false when that is over. */
  onPreparing?(isPreparing: boolean): void;
}

export interface Tools {
  /**
   * Resolves when the shipped tools are installed, or cannot be. A turn waits for it before it says which tools there are.
   * `onWait` is called where that takes time and nothing else tells so, each time with the tool that is installed now, counted from one.
   */
  ready?(onWait?: (at: number, of: number) => void): Promise<void>;
  /** Those that are switched off or not set up too. `user`: whose own settings and secrets count, besides those that all share. */
  list(user?: string): Promise<readonly ToolInfo[]>;
  /** Never throws for what a tool did; `signal` cancels the call. Nobody has checked the params before. */
  call(call: ToolCall, options: CallOptions): Promise<CallOutcome>;
  /** Goes on with a call that asked something. */
  resume?(
    call: ToolCall,
    resume: string,
    replies: readonly Reply[],
    options: CallOptions,
  ): Promise<CallOutcome>;
  /** The outcome of a call that would be refused before the tool runs; asked before a person is asked to approve it. */
  refusal?(call: ToolCall, user: string): Promise<ToolOutcome | undefined>;
  /**
   * Returns what is wrong with a value that a stranger's schema describes; the schema is only ever used in a sandbox.
   * Throws the fault `invalid_json_schema` if it cannot be used, or takes too long.
   */
  checkJson?(
    schema: JsonSchema,
    value: unknown,
    options: { readonly signal: AbortSignal },
  ): Promise<readonly string[]>;
}

/** A component with its capabilities file, as it was handed over. */
export interface ToolUpload {
  readonly component: Uint8Array;
  /** The text of the capabilities file. */
  readonly capabilities: string;
}

/** The browser that brings the answer to a sign-in, and whether the same one began it. A user's own is finished in no other. */
export interface SignInBrowser {
  readonly began: boolean;
}

/**
 * The `tool` commands, for a page: the caller is the operator, who has been shown the grants. A fault
 * of kind `invalid` says why something is refused, `missing` that there is no such tool.
 */
export interface ToolAdmin {
  /** Every check of an install under this name; changes nothing. */
  examine(name: string, upload: ToolUpload): Promise<ToolProposal>;
  /** Without `replace` a name that is taken is refused. */
  install(name: string, upload: ToolUpload, options: { readonly replace: boolean }): Promise<ToolInfo>;
  /** Searches the indexes, the best match first; `problems` are sentences about those that could not be read. */
  search?(words: string): Promise<{
    readonly tools: readonly ListedTool[];
    readonly problems: readonly string[];
  }>;
  /** Gets what a reference names (https://…, oci://…, npm:…, a name) and does every check of an install; changes nothing. */
  find?(reference: string, name?: string): Promise<ToolFinding>;
  /** Installs what was found, if it is still the same. */
  installFound?(reference: string, found: FoundTool): Promise<ToolInfo>;
  /** False where there is no such tool. */
  remove(name: string): Promise<boolean>;
  /** Switches a tool on again that was switched off because it kept crashing; false where it was on. */
  enable(name: string): Promise<boolean>;
  /** Returns how much of the tool's rate limit this user has left; undefined if the tool may not use the network. */
  limits(name: string, user: string): Promise<ToolLimits | undefined>;
  /** With `user`, here and below, it is about what that user has for themselves; otherwise about what all users share. */
  setup(name: string, user?: string): Promise<ToolSetup>;
  /** `warning`: a sentence for the person, where the value is stored but too short to be hidden. */
  setSecret(
    name: string,
    secret: string,
    value: string,
    user?: string,
  ): Promise<{ readonly warning?: string }>;
  /** False where the user had none. */
  removeSecret?(name: string, secret: string, user: string): Promise<boolean>;
  /**
   * Gives a setting another value; an empty one is the default again. Where the tool may do more then, nothing is saved unless the
   * person has agreed to the sentences in `asks`.
   */
  setSetting?(
    name: string,
    setting: string,
    value: string,
    isAgreed: boolean,
    user?: string,
  ): Promise<{ readonly saved: boolean; readonly asks: readonly string[] }>;
  /** Agrees to what `setup` asked in `shares`. */
  shareSecret(name: string, secret: string, user?: string): Promise<void>;
  /** Returns the address for the browser; it comes back to `redirectUri`, which then goes to `finishSignIn`. */
  beginSignIn(name: string, redirectUri: string, user?: string): Promise<{ readonly url: string }>;
  /** The tool that is signed in now; a fault where the address answers no sign-in that was begun here. */
  finishSignIn(redirected: URL, browser?: SignInBrowser): Promise<{ readonly tool: string }>;
  /** Describes Postern to authorization servers; its client id is the address of this document. */
  clientDocument(redirectUri: string): Readonly<Record<string, unknown>>;
  /** Lists the newest first. */
  receipts(query: {
    readonly tool?: string;
    readonly user?: string;
    readonly limit?: number;
  }): Promise<readonly ToolReceipt[]>;
  receipt(id: string): Promise<ToolReceipt | undefined>;
  /** Calls of tools, counted from the receipts that are kept. */
  usage(query: FiguresQuery): Promise<Figures>;
}

/**
 * The operator's view of them; a user may list them and sign in. A fault of kind `invalid` says why something is refused,
 * `missing` that there is no such server, `unavailable` that it does not answer.
 */
export interface McpServers {
  /** `user`: whose sign-in counts. */
  list(user: string): Promise<readonly McpServerInfo[]>;
  /** Servers that can be added by name. */
  index(): Promise<ServerListing>;
  find(name: string, user: string): Promise<McpServerInfo | undefined>;
  /** Connects and reads its tools. `agree`: its read-only tools may run without asking. */
  add(
    server: NewMcpServer,
    options: { readonly user: string; readonly agree: boolean; readonly signal?: AbortSignal },
  ): Promise<McpServerInfo>;
  remove(name: string): Promise<boolean>;
  /** The text of its file, as `add` wrote it or the operator left it. */
  file(name: string): Promise<string>;
  /** Every mistake at once, as one fault. */
  edit(name: string, file: string): Promise<McpServerInfo>;
  /** The operator has seen these tools: each with the digest of what was shown. One that has changed since is refused. */
  agree(name: string, seen: readonly SeenTool[]): Promise<McpServerInfo>;
  /** Connects anew and reads its tools. */
  test(name: string, user: string, signal?: AbortSignal): Promise<McpServerInfo>;
  /** Returns the address for the browser; it comes back to `redirectUri`, which then goes to `toolAdmin.finishSignIn`. */
  beginSignIn(name: string, user: string, redirectUri: string): Promise<{ readonly url: string }>;
  /** For a server that takes a token and has no sign-in. */
  setToken(name: string, user: string, token: string): Promise<void>;
  signOut(name: string, user: string): Promise<boolean>;
}

/** The tool that the person was shown and agreed to. */
export interface FoundTool {
  readonly name: string;
  /** The digest of its origin, which must not have changed since. */
  readonly digest: string;
  readonly replace: boolean;
  /** Agreed to what nobody named has signed. */
  readonly allowUnsigned: boolean;
}

/** Folders and archives from every place that tools come from, under the same trust rules: for what is no component, such as a skill. */
export interface Packages {
  /**
   * `what`: as a person names it; `folder`: where a path in it begins, without which a path is refused. A fault says why nothing was
   * got.
   */
  fetch(
    what: string,
    options: {
      readonly folder?: string;
      readonly bounds: { readonly maxBytes: number; readonly maxFiles: number };
      readonly progress: (line: string) => void;
      /** Nobody that a trust rule names has signed it: false refuses it. */
      unsigned(sentence: string, origin: ToolOrigin): boolean | Promise<boolean>;
    },
  ): Promise<PackageOfFiles>;
  /** The files of an archive that somebody has uploaded; its name is theirs. */
  unpack(
    archive: { readonly name: string; readonly bytes: Uint8Array },
    bounds: { readonly maxBytes: number; readonly maxFiles: number },
  ): Promise<PackageOfFiles>;
}

export interface PackageOfFiles {
  /** By their path. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** What its folder is called, where it is one. */
  readonly folder?: string;
  readonly origin: ToolOrigin;
  /** Who signed it, for people; absent for what is on this machine's disk. */
  readonly signature?: string;
}

declare module "../kernel/plugin.ts" {
  interface Services {
    packages: Packages;
    tools: Tools;
    toolAdmin: ToolAdmin;
    mcpServers: McpServers;
  }
}
