/** What an instance may import. Between calls, and while a component starts, it is shut: nobody is asked, nothing is told. */
import type { LogEntry, LogLevel, ToolReply, ToolRequest } from "../protocol.ts";
import { createWasi } from "./wasi/wasi.ts";

/** The call that an instance works for. */
export interface Caller {
  readonly secrets: readonly string[];
  http(request: ToolRequest): Promise<ToolReply>;
  log(entry: LogEntry): void;
}

/** What a call did with its imports. */
export interface Used {
  readonly droppedLogs: number;
  readonly secretsAsked: readonly string[];
  /** What it wrote to stderr or logged as an error last, for the words of its failure. */
  readonly lastWords: string;
}

export interface Imports {
  readonly interfaces: Readonly<Record<string, object>>;
  /** How many resources were handed out so far: each leaves a trace in the glue's tables. */
  resources(): number;
  begin(caller: Caller): void;
  end(): Used;
}

const MAX_LOGS = 1000;
const MAX_LOG_BYTES = 4096;
const MAX_BODY_BYTES = 1 << 20;
const MAX_TEXT = 1 << 16;
const MAX_SECRETS_ASKED = 100;
const MAX_SECRET_NAME = 256;

const STARTING = "a component cannot send requests while it starts";
const SHUT: Used = { droppedLogs: 0, secretsAsked: [], lastWords: "" };

class Call {
  readonly caller: Caller;
  readonly #partial = { stdout: "", stderr: "" };
  readonly #secretsAsked = new Set<string>();
  #logs = 0;
  #lastWords = "";

  constructor(caller: Caller) {
    this.caller = caller;
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

export function createImports(): Imports {
  let current: Call | undefined;
  const send = async (request: ToolRequest): Promise<ToolReply> =>
    current === undefined ? { ok: false, error: STARTING } : current.caller.http(request);
  const wasi = createWasi((stream, bytes) => current?.write(stream, bytes), send);

  const host = {
    log: (level: LogLevel, message: string) => current?.log(level, message),
    httpRequest: async (
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
      const reply = await current.caller.http({ method, url, headersJson, body, timeoutMs });
      if (!reply.ok) throw refusal(reply.error);
      return { status: reply.status, body: reply.body };
    },
    secretExists: (name: string) => current?.secretExists(name) ?? false,
  };

  return {
    interfaces: { ...wasi.interfaces, "postern:tool/host": host },
    resources: wasi.resources,
    begin: (caller) => {
      wasi.begin();
      current = new Call(caller);
    },
    end: () => {
      const used = current?.end() ?? SHUT;
      current = undefined;
      wasi.end();
      return used;
    },
  };
}

/** An expected failure, in the form in which the glue hands it to the guest as the error of a `result`. */
function refusal(message: string): Error {
  return Object.assign(new Error(message), { payload: message });
}
