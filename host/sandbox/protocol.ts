/** The messages between the service, a tool's process and the threads in it. */
import type { MessagePort } from "node:worker_threads";
import type { ToolReply, ToolRequest } from "../broker/grant.ts";
import type { ReaderJob } from "../wasm/component-reader.ts";

// The code inside a tool's process takes these types from here.
export type { Answer, HeaderList, ToolReply, ToolRequest } from "../broker/grant.ts";

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error";

export interface LogEntry {
  readonly level: LogLevel;
  readonly message: string;
}

export type Ask =
  | { readonly type: "execute"; readonly params: string }
  /** Only what is wrong with the params. */
  | { readonly type: "check"; readonly params: string }
  /** What is wrong with a value that is no tool's params, as JSON. */
  | { readonly type: "validate"; readonly value: string }
  | { readonly type: "describe" };

/** One call on its way to a thread. Of secrets only names: those that are set and that this tool may ask for. */
export interface Task {
  readonly call: number;
  readonly ask: Ask;
  readonly secrets: readonly string[];
  /** The number of the schema that its params must match before anything runs. */
  readonly schema?: number;
}

/** Counted within its thread, which runs tasks in this order. */
export type PlacedTask = Task & { readonly number: number };

export interface ComponentCode {
  readonly modules: ReadonlyMap<string, WebAssembly.Module>;
  readonly glue: string;
  readonly restorable: boolean;
  readonly plain: boolean;
  readonly memoryBytes: number;
}

export type CodeBytes = Omit<ComponentCode, "modules" | "memoryBytes"> & {
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
  /** Names that `secret-exists` was asked for, also those it may not. */
  readonly secretsAsked: readonly string[];
}

/** From the service to a tool's process; the second of each pair is the frame's body. */
export type ToProcess =
  /** Body: the core modules, one after the other. */
  | (Omit<ComponentCode, "modules"> & { readonly type: "load"; readonly modules: readonly ModulePlace[] })
  /** What params are checked against, as JSON. */
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
export type ReplyHead = WithoutBody<ToolReply>;
export type RequestHead = Omit<ToolRequest, "body"> & { readonly hasBody: boolean };

/** From a tool's process to the service. Strangers' code runs there: nothing here is believed beyond its own calls. */
export type FromProcess =
  | { readonly type: "log"; readonly call: number; readonly entry: LogEntry }
  /** Body: that of the request. */
  | { readonly type: "http"; readonly call: number; readonly request: number; readonly head: RequestHead }
  | ({ readonly type: "ended"; readonly call: number } & Ended)
  /** The thread of the call is gone, and the call with it. */
  | { readonly type: "lost"; readonly call: number; readonly message: string }
  /** The component is compiled: its calls can run. */
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
  | { readonly type: "reply"; readonly call: number; readonly request: number; readonly reply: ToolReply }
  | { readonly type: "cancel"; readonly call: number };

/** The first message of a thread: its number, and the port it listens on. */
export interface ThreadHello {
  readonly threadId: number;
  readonly port: MessagePort;
}

export type FromThread =
  | { readonly type: "log"; readonly call: number; readonly entry: LogEntry }
  | { readonly type: "http"; readonly call: number; readonly request: number; readonly asked: ToolRequest }
  | ({ readonly type: "ended"; readonly call: number } & Ended)
  /** A call of the thread began to wait: another could be begun. Only for the main thread. */
  | { readonly type: "waits" };

/** Splits a thread's message for the service into a frame's header and body. */
export function framed(message: Exclude<FromThread, { type: "waits" }>): {
  readonly header: FromProcess;
  readonly body?: Uint8Array;
} {
  if (message.type !== "http") return { header: message };
  const { asked, ...rest } = message;
  const { body, ...head } = asked;
  const header: FromProcess = { ...rest, head: { ...head, hasBody: body !== undefined } };
  return body === undefined ? { header } : { header, body };
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
