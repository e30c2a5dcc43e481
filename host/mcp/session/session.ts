/** One session with a server over the SDK's client, in whichever revision it speaks: the list of its tools, and calls. */
import {
  Client,
  type ElicitRequest,
  type ElicitResult,
  type FetchLike,
  isInputRequiredResult,
  type jsonSchemaValidator,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { visibleLine } from "../../../kernel/kit/text.ts";
import { Fault, type JsonSchema, reason } from "../../../kernel/plugin.ts";
import {
  clip,
  type Definition,
  type ForeignTool,
  type Listed,
  MAX_TOOLS,
  readDefinitions,
} from "../tools/definition.ts";
import { type CommandOptions, CommandTransport } from "../transport/command.ts";
import { SessionFailed, unlessAborted } from "./failure.ts";

export type Target =
  | { readonly type: "http"; readonly url: URL; readonly fetch: FetchLike }
  | ({ readonly type: "command" } & CommandOptions);

export interface SessionOptions {
  readonly target: Target;
  readonly version: string;
  readonly signal: AbortSignal;
  onToolsChanged(): void;
  /** Servers of the older revision ask in the middle of a call. */
  onQuestion(params: ElicitRequest["params"], signal: AbortSignal): Promise<ElicitResult>;
  /** Not called after `close`. */
  onLost(why: string): void;
}

/** Each method rejects with a `SessionFailed`. */
export type Session = Awaited<ReturnType<typeof openSession>>;

/** Nothing in it has been checked yet. */
export type CallAnswer =
  | {
      readonly type: "result";
      readonly content: readonly unknown[];
      readonly structured: unknown;
      readonly isError: boolean;
    }
  | { readonly type: "input_required"; readonly requests: unknown; readonly state: unknown };

const HTTP_CONNECT_TIMEOUT_MS = 15_000;
/** The first start of a command may have to download it. */
const COMMAND_CONNECT_TIMEOUT_MS = 60_000;
const COMMAND_PROBE_TIMEOUT_MS = 20_000;
const CLOSE_TIMEOUT_MS = 1000;
const LIST_TIMEOUT_MS = 30_000;
const MAX_PAGES = 32;
/** The caller has a shorter limit. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
const MIN_RECONNECT_MS = 2000;
const MAX_REASON_LENGTH = 500;

/** A stranger's schema is compiled in the sandbox or nowhere. */
const COMPILES_NOTHING: jsonSchemaValidator = {
  getValidator: () => (input: unknown) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/** Rejects with a `SessionFailed`. */
export async function openSession(options: SessionOptions) {
  if (options.target.type === "http") return connect(options, createHttpTransport(options.target));
  const transport = new CommandTransport(options.target);
  try {
    return await connect(options, transport);
  } catch (error) {
    // Some servers of the older revision end at a request that they do not know.
    if (transport.ended === undefined || options.signal.aborted) throw error;
    return connect(options, new CommandTransport(options.target), { kind: "legacy" });
  }
}

function createHttpTransport({ url, fetch }: Extract<Target, { type: "http" }>) {
  return new StreamableHTTPClientTransport(url, {
    fetch,
    onInsufficientScope: "throw",
    // A server may ask for a shorter pause than it should get.
    reconnectionScheduler(reconnect, delay) {
      const timer = setTimeout(reconnect, Math.max(delay, MIN_RECONNECT_MS)).unref();
      return () => clearTimeout(timer);
    },
  });
}

async function connect(
  { version, signal, onToolsChanged, onQuestion, onLost }: SessionOptions,
  transport: StreamableHTTPClientTransport | CommandTransport,
  prior?: { readonly kind: "legacy" },
) {
  const command = transport instanceof CommandTransport ? transport : undefined;
  const timeout = command ? COMMAND_CONNECT_TIMEOUT_MS : HTTP_CONNECT_TIMEOUT_MS;
  const client = new Client(
    { name: "postern", version },
    {
      // The client refuses requests for sampling and roots by name, because they are not among these.
      capabilities: { elicitation: { form: { applyDefaults: true }, url: {} } },
      jsonSchemaValidator: COMPILES_NOTHING,
      versionNegotiation: {
        mode: "auto",
        probe: { timeoutMs: command ? COMMAND_PROBE_TIMEOUT_MS : HTTP_CONNECT_TIMEOUT_MS },
      },
      inputRequired: { autoFulfill: false },
      listChanged: { tools: { autoRefresh: false, debounceMs: 300, onChanged: onToolsChanged } },
    },
  );
  client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) =>
    onQuestion(params, mcpReq.signal),
  );
  let last: unknown;
  let isOpen = false;
  client.onerror = (error) => {
    last = error;
  };
  client.onclose = () => {
    if (isOpen) onLost(explain(last, command?.ended).message);
    isOpen = false;
  };
  const close = async () => {
    isOpen = false;
    await client.close().catch(() => {});
    await command?.close();
  };
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
    await unlessAborted(client.connect(transport, { timeout, signal: limit, prior }), limit);
  } catch (error) {
    await close();
    throw explain(error, command?.ended, last);
  }
  if (command?.ended !== undefined) throw explain(undefined, command.ended);
  isOpen = true;

  return {
    revision: client.getNegotiatedProtocolVersion() ?? "unknown",
    async close(): Promise<void> {
      isOpen = false;
      if (transport instanceof StreamableHTTPClientTransport && !signal.aborted)
        await unlessAborted(transport.terminateSession(), AbortSignal.timeout(CLOSE_TIMEOUT_MS)).catch(
          () => {},
        );
      await close();
    },
    async listTools(cancel: AbortSignal): Promise<Listed> {
      try {
        return await readTools(client, AbortSignal.any([cancel, AbortSignal.timeout(LIST_TIMEOUT_MS)]));
      } catch (error) {
        throw explain(error, command?.ended, last);
      }
    },
    /** `retry`: the answers, where the server asked before. */
    async call(
      { tool, schema, exactSchema }: Pick<Definition, "tool" | "schema" | "exactSchema">,
      params: Readonly<Record<string, unknown>>,
      cancel: AbortSignal,
      retry?: Readonly<Record<string, unknown>>,
    ): Promise<CallAnswer> {
      // Its output schema is left out, because we check the answer ourselves.
      const toolDefinition = {
        name: tool,
        inputSchema: (exactSchema ?? schema) as JsonSchema & { type: "object" },
      };
      try {
        const answer = await client.callTool(
          { name: tool, arguments: { ...params }, ...retry },
          { signal: cancel, timeout: NO_TIMEOUT_MS, allowInputRequired: true, toolDefinition },
        );
        if (isInputRequiredResult(answer))
          return { type: "input_required", requests: answer.inputRequests, state: answer.requestState };
        const { content = [], structuredContent: structured, isError } = answer;
        return { type: "result", content, structured, isError: isError === true };
      } catch (error) {
        throw explain(error, command?.ended);
      }
    },
  };
}

/** Page by page, so that a list that is too long is never held as a whole. */
async function readTools(client: Client, signal: AbortSignal): Promise<Listed> {
  const tools: ForeignTool[] = [];
  const endless: string[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  if (client.getServerCapabilities()?.tools === undefined) return { definitions: [], leftOut: [] };
  for (let page = 1; ; page++) {
    const request = { method: "tools/list" as const, params: cursor === undefined ? {} : { cursor } };
    const answer = await unlessAborted(client.request(request, { signal, timeout: LIST_TIMEOUT_MS }), signal);
    tools.push(...answer.tools.slice(0, MAX_TOOLS + 1 - tools.length));
    cursor = answer.nextCursor;
    if (cursor === undefined || tools.length > MAX_TOOLS) break;
    if (cursors.has(cursor) || page >= MAX_PAGES) {
      endless.push(`The list of tools does not end: ${page} pages were read.`);
      break;
    }
    cursors.add(cursor);
  }
  const { definitions, leftOut } = readDefinitions(tools);
  return { definitions, leftOut: [...leftOut, ...endless] };
}

/** Says in a sentence what was thrown. `ended`: how its process ended. `last`: the error the client reported before. */
function explain(error: unknown, ended?: string, last?: unknown): SessionFailed {
  if (error instanceof SessionFailed) return error;
  if (ended !== undefined) return new SessionFailed("unreachable", `The command is over: ${ended}.`, error);
  const unauthenticated = [error, last, ...causesOf(error)].find(isUnauthenticated);
  if (unauthenticated !== undefined)
    return new SessionFailed("unauthenticated", sentence(unauthenticated), error);
  if (error instanceof ProtocolError)
    return new SessionFailed("refused", `It answered with an error: ${oneLine(error.message)}`, error);
  if (isSdkError(error, SdkErrorCode.RequestTimeout) || nameOf(error) === "TimeoutError")
    return new SessionFailed("timeout", "It did not answer in time.", error);
  // That the connection is closed says less than why.
  const isVague = error === undefined || isSdkError(error, SdkErrorCode.ConnectionClosed);
  return new SessionFailed("unreachable", sentence(isVague ? (last ?? error) : error), error);
}

function isUnauthenticated(error: unknown): boolean {
  return (
    (error instanceof Fault && error.kind === "unauthenticated") ||
    error instanceof UnauthorizedError ||
    (error instanceof SdkHttpError && (error.status === 401 || error.status === 403)) ||
    nameOf(error) === "InsufficientScopeError"
  );
}

function isSdkError(error: unknown, code: SdkErrorCode): boolean {
  return error instanceof SdkError && error.code === code;
}

function nameOf(error: unknown): unknown {
  return (error as { name?: unknown } | undefined)?.name;
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  let next = (error as { cause?: unknown } | undefined)?.cause;
  for (let count = 0; next !== undefined && count < 5; count++) {
    causes.push(next);
    next = (next as { cause?: unknown } | undefined)?.cause;
  }
  return causes;
}

function sentence(error: unknown): string {
  if (error instanceof SdkHttpError && error.status !== undefined)
    return `It answered with the HTTP status ${error.status}.`;
  // The SDK checks nested values by recursion.
  if (error instanceof RangeError) return "It answered with something that nests too deeply.";
  const cause = causesOf(error).at(-1);
  const text = error instanceof Fault || !(cause instanceof Error) ? reason(error) : reason(cause);
  return oneLine(text) || "It closed the connection.";
}

/** An error may quote the server. */
function oneLine(text: string): string {
  return clip(visibleLine(text.replace(/\s+/g, " ").trim()), MAX_REASON_LENGTH);
}
