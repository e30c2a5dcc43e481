/** The messages between the service, a tool's process and the threads in it. */
import type { MessagePort } from "node:worker_threads";
import type { ToolReply, ToolRequest } from "../broker/grant.ts";
import type { ReaderJob } from "../wasm/component-reader.ts";

// The code inside a tool's process takes these types from here.
export type { HeaderList, HttpResponse, ToolReply, ToolRequest } from "../broker/grant.ts";

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error";

export interface LogEntry {
  readonly level: LogLevel;
  readonly message: string;
}

/** A tool's request to its state: the tool and the user are the call's. For `list` the key is a prefix, and `body` is a value to set. */
export interface StateRequest {
  readonly op: "get" | "set" | "delete" | "list";
  readonly key: string;
  readonly body?: Uint8Array | undefined;
}

export type StateReply =
  | {
      readonly ok: true;
      /** The value that was asked for; empty where there is none. */
      readonly body: Uint8Array;
      readonly isThere?: boolean;
      readonly keys?: readonly string[];
    }
  | { readonly ok: false; readonly error: string };

/** A call of another tool; `body` is the JSON of its params. */
export interface InnerRequest {
  readonly name: string;
  readonly body: Uint8Array;
}

export type InnerReply =
  | {
      readonly ok: true;
      /** The output. */
      readonly body: Uint8Array;
    }
  | { readonly ok: false; readonly error: string };

/** What a tool asks of the files it was granted. `body` goes in place of the file, at `offset` in it, or at its end. */
export interface FileRequest {
  readonly op: FileOp;
  readonly path: string;
  /** Where to move it. */
  readonly to?: string | undefined;
  readonly offset?: number | undefined;
  /** The length of the part to read; for `resize` that of the whole file. */
  readonly length?: number | undefined;
  readonly body?: Uint8Array | undefined;
}

export type FileOp =
  | "list"
  | "stat"
  | "read"
  | "write"
  | "patch"
  | "append"
  | "resize"
  | "folder"
  | "move"
  | "remove";

export interface FileEntry {
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly bytes: number;
  readonly updatedAt: string;
}

export type FileReply =
  | {
      readonly ok: true;
      /** What was read; empty otherwise. */
      readonly body: Uint8Array;
      /** What is in the folder, or the one that is at the path. */
      readonly entries?: readonly FileEntry[];
    }
  | { readonly ok: false; readonly code: FileErrorCode; readonly error: string };

/** WASI's names. */
export type FileErrorCode =
  | "access"
  | "exist"
  | "not-permitted"
  | "file-too-large"
  | "insufficient-space"
  | "invalid"
  | "io"
  | "is-directory"
  | "no-entry"
  | "not-directory"
  | "not-empty"
  | "quota"
  | "read-only";

export const MAX_FILE_BYTES = 25_000_000;
/** What one call may read, and what it may write. */
export const MAX_CALL_FILE_BYTES = 100_000_000;
export const MAX_FILE_REQUESTS = 10_000;
/** What one request carries; longer files go in parts. */
export const MAX_FILE_PART_BYTES = 1 << 20;

export type Reply = ToolReply | StateReply | FileReply | InnerReply;

export type Ask =
  | { readonly type: "execute"; readonly params: string }
  | { readonly type: "check"; readonly params: string }
  /** Checks a value that is no tool's params, as JSON. */
  | { readonly type: "validate"; readonly value: string }
  | { readonly type: "describe" };

/** One call on its way to a thread. Of secrets only names: those that are set and that this tool may ask for. */
export interface Task {
  readonly call: number;
  readonly ask: Ask;
  readonly secrets: readonly string[];
  /** Values by the names of the installation's settings. */
  readonly settings: Readonly<Record<string, string>>;
  /** The number of the schema that its params must match before anything runs. */
  readonly schema?: number;
}

/** Counted within its thread, which runs tasks in this order. */
export type PlacedTask = Task & { readonly number: number };

/** A folder that the tool was granted: a WASI guest finds it open. */
export interface Preopen {
  readonly path: string;
  readonly access: "read" | "write";
}

export interface ComponentCode {
  readonly modules: ReadonlyMap<string, WebAssembly.Module>;
  readonly glue: string;
  readonly restorable: boolean;
  readonly plain: boolean;
  readonly memoryBytes: number;
  readonly preopens: readonly Preopen[];
}

export type CodeBytes = Omit<ComponentCode, "modules" | "memoryBytes" | "preopens"> & {
  readonly modules: readonly (readonly [name: string, bytes: Uint8Array<ArrayBuffer>])[];
};

export type FailureCode =
  | "invalid_params"
  | "bad_schema"
  | "tool_error"
  | "bad_response"
  | "trap"
  | "threw"
  | "out_of_memory";

export type Outcome =
  | { readonly ok: true; readonly output: string }
  | { readonly ok: true; readonly description: string; readonly schema: string; readonly problem?: string }
  | { readonly ok: false; readonly code: FailureCode; readonly message: string };

export interface Ended {
  readonly outcome: Outcome;
  readonly droppedLogs: number;
  readonly memoryPeakBytes: number;
  readonly secretsAsked: readonly string[];
}

/** The requests that a running call makes of the service, and what it reports. */
export interface CallEvents {
  http(request: ToolRequest): Promise<ToolReply>;
  state(request: StateRequest): Promise<StateReply>;
  inner(request: InnerRequest): Promise<InnerReply>;
  file(request: FileRequest): Promise<FileReply>;
  log(entry: LogEntry): void;
}

/** From the service to a tool's process; the second of each pair is the frame's body. */
export type ToProcess =
  /** Body: the core modules, one after the other. */
  | (Omit<ComponentCode, "modules"> & { readonly type: "load"; readonly modules: readonly ModulePlace[] })
  /** The schema that params are checked against, as JSON. */
  | { readonly type: "schema"; readonly number: number; readonly schema: string }
  | ({ readonly type: "call" } & Task)
  | { readonly type: "cancel"; readonly call: number }
  /** Body: that of the reply. */
  | { readonly type: "reply"; readonly call: number; readonly request: number; readonly reply: ReplyHead }
  /** Body: the component. */
  | ({ readonly type: "read" } & ReaderJob);

export interface ModulePlace {
  readonly name: string;
  readonly bytes: number;
}

type WithoutBody<Reply> = Reply extends { body: unknown } ? Omit<Reply, "body"> : Reply;
export type ReplyHead = WithoutBody<Reply>;

/** A thread's message as the service gets it: the body of what a call asks is the frame's. */
type Framed<Message> = Message extends { readonly asked: infer Request }
  ? Omit<Message, "asked"> & { readonly head: Omit<Request, "body"> & { readonly hasBody: boolean } }
  : Message;

/** From a tool's process to the service. Strangers' code runs there: nothing here is believed beyond its own calls. */
export type FromProcess =
  | Framed<Exclude<FromThread, { type: "waits" }>>
  | { readonly type: "lost"; readonly call: number; readonly message: string }
  | { readonly type: "loaded" }
  /** Private memory, where the service cannot see it from outside. */
  | { readonly type: "memory"; readonly bytes: number }
  /** Body: the core modules of a transpiled component, one after the other. */
  | { readonly type: "reading"; readonly value: unknown; readonly modules?: readonly ModulePlace[] }
  | { readonly type: "unreadable"; readonly unfit: boolean; readonly message: string };

/** From the process's main thread to one that runs calls. */
export type ToThread =
  | {
      readonly type: "component";
      readonly code: ComponentCode;
      readonly progress: Int32Array<SharedArrayBuffer>;
      /** The descriptor to write to the service on; without one it is told by the main thread. */
      readonly line: number | undefined;
    }
  | { readonly type: "schema"; readonly number: number; readonly schema: string }
  | { readonly type: "reply"; readonly call: number; readonly request: number; readonly reply: Reply }
  | { readonly type: "cancel"; readonly call: number };

export interface ThreadHello {
  readonly threadId: number;
  readonly port: MessagePort;
}

export type FromThread =
  | { readonly type: "log"; readonly call: number; readonly entry: LogEntry }
  | { readonly type: "http"; readonly call: number; readonly request: number; readonly asked: ToolRequest }
  | { readonly type: "state"; readonly call: number; readonly request: number; readonly asked: StateRequest }
  | { readonly type: "inner"; readonly call: number; readonly request: number; readonly asked: InnerRequest }
  | { readonly type: "file"; readonly call: number; readonly request: number; readonly asked: FileRequest }
  | ({ readonly type: "ended"; readonly call: number } & Ended)
  /** A call of the thread began to wait: another could be begun. Only for the main thread. */
  | { readonly type: "waits" };

export function framed(message: Exclude<FromThread, { type: "waits" }>): {
  readonly header: FromProcess;
  readonly body: readonly Uint8Array[];
} {
  if (!("asked" in message)) return { header: message, body: [] };
  const { asked, ...rest } = message;
  const { body, ...head } = asked;
  const header = { ...rest, head: { ...head, hasBody: body !== undefined } } as FromProcess;
  return { header, body: body === undefined ? [] : [body] };
}

export function splitBody<Bytes extends Uint8Array>(
  body: Bytes,
  places: readonly ModulePlace[],
): [name: string, bytes: Bytes][] {
  let at = 0;
  return places.map(({ name, bytes }) => {
    const part = body.subarray(at, at + bytes) as Bytes;
    at += bytes;
    return [name, part];
  });
}
