/** The imports of an instance. Between calls, and while a component starts, they are shut: nobody is asked, nothing is reported. */
import {
  type CallEvents,
  type FileEntry,
  type FileRequest,
  type HeaderList,
  type InnerReply,
  type LogEntry,
  type LogLevel,
  MAX_FILE_BYTES,
  MAX_FILE_PART_BYTES,
  type Preopen,
  type StateReply,
  type StateRequest,
  type ToolReply,
  type ToolRequest,
} from "../protocol.ts";
import { FileRefusal, GuestFiles } from "./files.ts";
import { createKeyValue, type State } from "./wasi/keyvalue.ts";
import { createWasi } from "./wasi/wasi.ts";

export interface Caller extends CallEvents {
  readonly secrets: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
}

export interface Used {
  readonly droppedLogs: number;
  readonly secretsAsked: readonly string[];
  /** The last line it wrote to stderr or logged as an error, for the message of its failure. */
  readonly lastWords: string;
}

export type Imports = ReturnType<typeof createImports>;

const MAX_LOGS = 1000;
const MAX_LOG_BYTES = 4096;
const MAX_BODY_BYTES = 1 << 20;
const MAX_TEXT = 1 << 16;
/** The service says after half of them, in words, that a call may send no more; each that it is asked for costs it a copy. */
const MAX_REQUESTS = 100;
const MAX_SECRETS_ASKED = 100;
const MAX_SECRET_NAME = 256;
const MAX_KEY_BYTES = 256;
const MAX_VALUE_BYTES = 1 << 20;
/** Far below what makes the service end a process that does not stop talking. */
const MAX_STATE_REQUESTS = 5000;
const MAX_STATE_BYTES = 16 << 20;

/** The service refuses more of them too. */
const MAX_INNER_CALLS = 100;
const MAX_TOOL_NAME = 64;
const MAX_INNER_BYTES = 8 << 20;

const STARTING = "a component cannot send requests while it starts";
const NO_STATE = "a component has no state while it starts";
const NO_TOOLS = "a component cannot call tools while it starts";
const NO_FILES = "a component has no files while it starts";
const MAX_FILE_DATA_BYTES = 8 << 20;
const MAX_PATH_BYTES = 2000;
const MAX_U32 = 2 ** 32 - 1;
const TOO_MANY = "the call has asked for far too many requests";
const SHUT: Used = { droppedLogs: 0, secretsAsked: [], lastWords: "" };

class Call {
  readonly caller: Caller;
  readonly files: GuestFiles;
  readonly #partial = { stdout: "", stderr: "" };
  readonly #secretsAsked = new Set<string>();
  #logs = 0;
  #stateRequests = 0;
  #stateBytes = 0;
  #requests = 0;
  #innerCalls = 0;
  #innerBytes = 0;
  #lastWords = "";

  constructor(caller: Caller) {
    this.caller = caller;
    this.files = new GuestFiles(caller.file);
  }

  async http(request: ToolRequest): Promise<ToolReply> {
    if (++this.#requests > MAX_REQUESTS) return { ok: false, error: TOO_MANY };
    return this.caller.http(request);
  }

  log(level: LogLevel, message: string): void {
    if (level === "error") this.#remember(message);
    this.#keep({ level, message });
  }

  write(stream: "stdout" | "stderr", bytes: Uint8Array): void {
    const lines = (this.#partial[stream] + Buffer.from(bytes).toString()).split("\n");
    const last = lines.pop() ?? "";
    for (const line of lines) this.#flush(stream, line);
    const isLong = last.length > MAX_LOG_BYTES;
    if (isLong) this.#flush(stream, last);
    this.#partial[stream] = isLong ? "" : last;
  }

  secretExists(name: string): boolean {
    if (this.#secretsAsked.size < MAX_SECRETS_ASKED && name.length <= MAX_SECRET_NAME)
      this.#secretsAsked.add(name);
    return this.caller.secrets.includes(name);
  }

  setting(name: string): string | undefined {
    const { settings } = this.caller;
    return Object.hasOwn(settings, name) ? settings[name] : undefined;
  }

  /** Resolves to what was asked for; rejects with a refusal. */
  async state(request: StateRequest): Promise<StateReply & { ok: true }> {
    const { op, key, body } = request;
    if (++this.#stateRequests > MAX_STATE_REQUESTS)
      throw refusal(`a call may ask for its state at most ${MAX_STATE_REQUESTS} times`);
    if (Buffer.byteLength(key) > MAX_KEY_BYTES || (key === "" && op !== "list"))
      throw refusal(`a key has 1 to ${MAX_KEY_BYTES} bytes`);
    if (body !== undefined && body.byteLength > MAX_VALUE_BYTES) throw refusal("a value has at most 1 MiB");
    this.#stateBytes += body?.byteLength ?? 0;
    if (this.#stateBytes > MAX_STATE_BYTES) throw refusal("a call may write at most 16 MiB to its state");
    const reply = await this.caller.state(request);
    if (!reply.ok) throw refusal(reply.error);
    return reply;
  }

  async inner(name: string, params: string): Promise<InnerReply> {
    const refused = (error: string): InnerReply => ({ ok: false, error });
    if (++this.#innerCalls > MAX_INNER_CALLS)
      return refused(`A run may call at most ${MAX_INNER_CALLS} tools.`);
    if (name.length > MAX_TOOL_NAME) return refused("There is no tool with so long a name.");
    const body = Buffer.from(params);
    if (body.byteLength > MAX_BODY_BYTES) return refused("The params of a call have at most 1 MiB.");
    this.#innerBytes += body.byteLength;
    if (this.#innerBytes > MAX_INNER_BYTES) return refused("The params of all calls have at most 8 MiB.");
    return this.caller.inner({ name, body });
  }

  end(): Used {
    for (const stream of ["stdout", "stderr"] as const) this.#flush(stream, this.#partial[stream]);
    return {
      droppedLogs: Math.max(0, this.#logs - MAX_LOGS),
      secretsAsked: [...this.#secretsAsked],
      lastWords: this.#lastWords,
    };
  }

  #flush(stream: "stdout" | "stderr", line: string): void {
    if (line === "") return;
    if (stream === "stderr") this.#remember(line);
    this.#keep({ level: stream === "stderr" ? "warn" : "info", message: line });
  }

  #remember(words: string): void {
    this.#lastWords = `${this.#lastWords}\n${words.slice(-MAX_LOG_BYTES)}`.slice(-MAX_LOG_BYTES);
  }

  #keep({ level, message }: LogEntry): void {
    if (this.#logs++ >= MAX_LOGS) return;
    const isLong = message.length * 3 > MAX_LOG_BYTES && Buffer.byteLength(message) > MAX_LOG_BYTES;
    const kept = isLong
      ? Buffer.from(message)
          .subarray(0, MAX_LOG_BYTES)
          .toString()
          .replace(/\ufffd+$/, "")
      : message;
    // At once, not with the outcome: a call that is ended from outside keeps what it had said.
    this.caller.log({ level, message: kept });
  }
}

export function createImports(preopens: readonly Preopen[] = []) {
  let current: Call | undefined;
  const send = async (request: ToolRequest): Promise<ToolReply> =>
    current === undefined ? { ok: false, error: STARTING } : current.http(request);
  const currentFiles = (): GuestFiles => {
    if (current === undefined) throw new FileRefusal("access", NO_FILES);
    return current.files;
  };
  const wasi = createWasi((stream, bytes) => current?.write(stream, bytes), send, {
    preopens,
    files: currentFiles,
  });

  const request = async (
    method: string,
    url: string,
    headersJson: string,
    body: Uint8Array | undefined,
    timeoutMs: number | undefined,
  ) => {
    if (current === undefined) throw refusal(STARTING);
    if (Math.max(method.length, url.length, headersJson.length) > MAX_TEXT)
      throw refusal("the request is too long");
    if (body !== undefined && body.byteLength > MAX_BODY_BYTES)
      throw refusal("the request body is over 1 MiB");
    const reply = await current.http({ method, url, headersJson, body, timeoutMs });
    if (!reply.ok) throw refusal(reply.error);
    return { ...reply, url: reply.url ?? url };
  };

  const host = {
    log: (level: LogLevel, message: string) => current?.log(level, message),
    httpRequest: async (...args: Parameters<typeof request>) => {
      const { status, body } = await request(...args);
      return { status, body };
    },
    secretExists: (name: string) => current?.secretExists(name) ?? false,
  };

  const askState = async (request: StateRequest) => {
    if (current === undefined) throw refusal(NO_STATE);
    return current.state(request);
  };
  const state: State = {
    get: async (key) => {
      const { isThere = false, body } = await askState({ op: "get", key });
      return isThere ? body : undefined;
    },
    set: async (key, body) => void (await askState({ op: "set", key, body })),
    delete: async (key) => void (await askState({ op: "delete", key })),
    listKeys: async (key) => (await askState({ op: "list", key })).keys ?? [],
  };

  const callTool = async (name: string, params: string) => {
    if (current === undefined) throw refusal(NO_TOOLS);
    return current.inner(name, params);
  };
  const agentTools = {
    call: async (name: string, params: string) => {
      const reply = await callTool(name, params);
      if (!reply.ok) throw refusal(reply.error);
      return textOf(reply.body);
    },
    callAll: (requests: readonly { readonly name: string; readonly params: string }[]) =>
      Promise.all(
        requests.map(async ({ name, params }) => {
          const reply = await callTool(name, params);
          return reply.ok ? { tag: "ok", val: textOf(reply.body) } : { tag: "err", val: reply.error };
        }),
      ),
  };

  const askFiles = async (request: FileRequest) => {
    for (const path of [request.path, request.to ?? ""])
      if (Buffer.byteLength(path) > MAX_PATH_BYTES)
        throw refusal(`a path has at most ${MAX_PATH_BYTES} bytes`);
    return currentFiles().ask(request);
  };
  const writeFile = async (path: string, offset: number, data: Uint8Array, op: "write" | "patch") => {
    if (data.byteLength > MAX_FILE_DATA_BYTES)
      throw refusal("data has at most 8 MiB; write a longer file in parts");
    // Before the first part: what is refused is refused whole.
    if (offset + data.byteLength > MAX_FILE_BYTES)
      throw refusal(`a file may have ${MAX_FILE_BYTES / 1e6} MB`);
    const first = data.subarray(0, MAX_FILE_PART_BYTES);
    await askFiles({ op, path, offset, body: first });
    for (let at = first.byteLength; at < data.byteLength; at += MAX_FILE_PART_BYTES) {
      const body = data.subarray(at, at + MAX_FILE_PART_BYTES);
      await askFiles({ op: "patch", path, offset: offset + at, body });
    }
  };
  const files = {
    listFolder: async (path: string) => ((await askFiles({ op: "list", path })).entries ?? []).map(toEntry),
    stat: async (path: string) => {
      const [entry] = (await askFiles({ op: "stat", path })).entries ?? [];
      return entry && toEntry(entry);
    },
    read: async (path: string, offset: number, length: number) => {
      const pieces: Uint8Array[] = [];
      const end = offset + Math.min(length, MAX_FILE_DATA_BYTES);
      for (let at = offset; ; ) {
        const wanted = Math.min(end - at, MAX_FILE_PART_BYTES);
        const { body } = await askFiles({ op: "read", path, offset: at, length: wanted });
        pieces.push(body);
        at += body.byteLength;
        if (at >= end || body.byteLength < wanted) return pieces.length === 1 ? body : Buffer.concat(pieces);
      }
    },
    write: (path: string, data: Uint8Array) => writeFile(path, 0, data, "write"),
    writeAt: (path: string, offset: number, data: Uint8Array) => writeFile(path, offset, data, "patch"),
    makeFolder: async (path: string) => void (await askFiles({ op: "folder", path })),
    move: async (path: string, to: string) => void (await askFiles({ op: "move", path, to })),
    remove: async (path: string) => void (await askFiles({ op: "remove", path })),
  };

  const interfaces: Readonly<Record<string, object>> = {
    ...wasi.interfaces,
    "wasi:keyvalue/store": createKeyValue(wasi.holdings, state),
    "postern:tool/state": state,
    "postern:tool/agent-tools": agentTools,
    "postern:tool/files": files,
    "postern:tool/host": host,
    "postern:tool/exchange": {
      exchange: async (...args: Parameters<typeof request>) => {
        const { status, url, headers = [], body } = await request(...args);
        return { status, url, headersJson: writeHeaders(headers), body };
      },
    },
    "postern:tool/setting": { setting: (name: string) => current?.setting(name) },
  };
  return {
    interfaces,
    resources: wasi.resources,
    begin: (caller: Caller): void => {
      wasi.begin();
      current = new Call(caller);
    },
    /** Resolves when the call's files are written; rejects with a sentence where they are not. */
    settle: async (): Promise<void> => current?.files.settle(),
    end: (): Used => {
      const used = current?.end() ?? SHUT;
      current = undefined;
      wasi.end();
      return used;
    },
  };
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
function toEntry({ path, kind, bytes, updatedAt }: FileEntry) {
  return { path, kind, size: Math.min(bytes, MAX_U32), modified: updatedAt };
}

/** One that came several times is joined, as the standard allows. */
function writeHeaders(headers: HeaderList): string {
  const joined = new Map<string, string>();
  for (const [name, value] of headers) {
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return JSON.stringify(Object.fromEntries(joined));
}

/** An expected failure, in the form in which the glue hands it to the guest as the error of a `result`. */
function refusal(message: string): Error {
  return Object.assign(new Error(message), { payload: message });
}
