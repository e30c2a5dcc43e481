/** One connection to a server, in whichever revision it speaks: what it offers, and calls. */
import {
  Client,
  type ElicitRequest,
  type ElicitResult,
  type FetchLike,
  isInputRequiredResult,
  type jsonSchemaValidator,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import type { JsonSchema } from "../../../kernel/plugin.ts";
import {
  type Definition,
  type ForeignTool,
  type Listed,
  MAX_TOOLS,
  readDefinitions,
} from "../tools/definition.ts";
import { CommandTransport } from "../transport/command.ts";
import { explain } from "./explain.ts";
import type { ConnectionFailed } from "./failure.ts";

export type Target =
  | { readonly type: "http"; readonly url: URL; readonly fetch: FetchLike }
  | { readonly type: "command"; open(): CommandTransport };

export interface ConnectionOptions {
  readonly target: Target;
  readonly version: string;
  readonly signal: AbortSignal;
  /** The server says that its tools are others now. */
  onToolsChanged(): void;
  /** Older servers ask in the middle of a call. */
  onQuestion(params: ElicitRequest["params"], signal: AbortSignal): Promise<ElicitResult>;
  /** Not told of where `close` was called. */
  onLost(why: string): void;
}

export interface Connection {
  /** Of the protocol. */
  readonly revision: string;
  listTools(signal: AbortSignal): Promise<Listed>;
  /** `retry`: what was asked for, where the server wanted that first. Rejects with a `ConnectionFailed`. */
  call(
    tool: Pick<Definition, "tool" | "schema" | "exactSchema">,
    params: Readonly<Record<string, unknown>>,
    options: { readonly signal: AbortSignal; readonly retry?: Readonly<Record<string, unknown>> },
  ): Promise<CallAnswer>;
  close(): Promise<void>;
}

/** Nothing in it has been judged yet. */
export type CallAnswer =
  | {
      readonly type: "result";
      readonly content: readonly unknown[];
      readonly structured: unknown;
      readonly isError: boolean;
    }
  | { readonly type: "input_required"; readonly requests: unknown; readonly state: unknown };

const HTTP_CONNECT_MILLIS = 15_000;
/** The first start of a command may have to fetch it. */
const COMMAND_CONNECT_MILLIS = 60_000;
const COMMAND_PROBE_MILLIS = 20_000;
const LIST_MILLIS = 30_000;
const MAX_PAGES = 32;
/** The caller has a shorter limit. */
const NO_LIMIT_MILLIS = 2 ** 31 - 1;
const SHORTEST_RECONNECT_MILLIS = 2000;

/** A stranger's schema is compiled in the sandbox or nowhere. */
const COMPILES_NOTHING: jsonSchemaValidator = {
  getValidator: () => (input: unknown) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/** Rejects with a `ConnectionFailed`. */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { target } = options;
  try {
    return await connect(options, undefined);
  } catch (error) {
    const failure = error as ConnectionFailed;
    // Some servers of the older revision end at a question that they do not know.
    if (target.type === "command" && failure.hasEnded && !options.signal.aborted)
      return await connect(options, { kind: "legacy" });
    throw error;
  }
}

async function connect(
  { target, version, signal, onToolsChanged, onQuestion, onLost }: ConnectionOptions,
  prior: { readonly kind: "legacy" } | undefined,
): Promise<Connection> {
  const isCommand = target.type === "command";
  const timeout = isCommand ? COMMAND_CONNECT_MILLIS : HTTP_CONNECT_MILLIS;
  const client = new Client(
    { name: "postern", version },
    {
      // Sampling and roots are not among them: the client refuses requests for those by name.
      capabilities: { elicitation: { form: { applyDefaults: true }, url: {} } },
      jsonSchemaValidator: COMPILES_NOTHING,
      versionNegotiation: {
        mode: "auto",
        probe: { timeoutMs: isCommand ? COMMAND_PROBE_MILLIS : HTTP_CONNECT_MILLIS },
      },
      inputRequired: { autoFulfill: false },
      listChanged: { tools: { autoRefresh: false, debounceMs: 300, onChanged: onToolsChanged } },
    },
  );
  client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) =>
    onQuestion(params, mcpReq.signal),
  );
  const transport = openTransport(target);
  const command = transport instanceof CommandTransport ? transport : undefined;
  let last: unknown;
  let isOpen = false;
  let isClosed = false;
  client.onerror = (error) => {
    last = error;
  };
  client.onclose = () => {
    if (isOpen && !isClosed) onLost(explain(last, command?.ended).message);
    isClosed = true;
  };
  const close = async () => {
    isClosed = true;
    if (transport instanceof StreamableHTTPClientTransport && !signal.aborted)
      await Promise.race([transport.terminateSession().catch(() => {}), quiet(1000)]);
    await client.close().catch(() => {});
    await command?.close();
  };
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
    const connected = client.connect(transport as Transport, {
      timeout,
      signal: limit,
      ...(prior !== undefined && { prior }),
    });
    await unlessAborted(connected, limit);
  } catch (error) {
    await client.close().catch(() => {});
    await command?.close();
    throw explain(error, command?.ended, last);
  }
  isOpen = true;
  if (command?.ended !== undefined) throw explain(undefined, command.ended);

  return {
    revision: client.getNegotiatedProtocolVersion() ?? "unknown",
    close,
    async listTools(cancel) {
      try {
        return await readTools(client, AbortSignal.any([cancel, AbortSignal.timeout(LIST_MILLIS)]));
      } catch (error) {
        throw explain(error, command?.ended, last);
      }
    },
    async call({ tool, schema, exactSchema }, params, { signal: cancel, retry }) {
      try {
        const answer: unknown = await client.callTool(
          { name: tool, arguments: { ...params }, ...retry },
          {
            signal: cancel,
            timeout: NO_LIMIT_MILLIS,
            allowInputRequired: true,
            // Its output schema is left out: what it says is checked by us.
            toolDefinition: {
              name: tool,
              inputSchema: (exactSchema ?? schema) as JsonSchema & { type: "object" },
            },
          },
        );
        if (isInputRequiredResult(answer))
          return { type: "input_required", requests: answer.inputRequests, state: answer.requestState };
        const { content, structuredContent, isError } = answer as {
          content?: readonly unknown[];
          structuredContent?: unknown;
          isError?: boolean;
        };
        return {
          type: "result",
          content: content ?? [],
          structured: structuredContent,
          isError: isError === true,
        };
      } catch (error) {
        throw explain(error, command?.ended);
      }
    },
  };
}

function openTransport(target: Target): StreamableHTTPClientTransport | CommandTransport {
  if (target.type === "command") return target.open();
  return new StreamableHTTPClientTransport(target.url, {
    fetch: target.fetch,
    onInsufficientScope: "throw",
    // A server may ask for a shorter pause than it should get.
    reconnectionScheduler(reconnect, delay) {
      const timer = setTimeout(reconnect, Math.max(delay, SHORTEST_RECONNECT_MILLIS)).unref();
      return () => clearTimeout(timer);
    },
  });
}

/** Page by page, so that what is too much is never held together. */
async function readTools(client: Client, signal: AbortSignal): Promise<Listed> {
  const tools: ForeignTool[] = [];
  const leftOut: string[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  if (client.getServerCapabilities()?.tools === undefined) return { definitions: [], leftOut };
  for (let page = 1; ; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await unlessAborted(
      client.request({ method: "tools/list", params }, { signal, timeout: LIST_MILLIS }),
      signal,
    );
    tools.push(...answer.tools.slice(0, MAX_TOOLS + 1 - tools.length));
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
    if (tools.length > MAX_TOOLS) break;
    if (cursors.has(cursor) || page >= MAX_PAGES) {
      leftOut.push(`The list of tools does not end: ${page} pages were read.`);
      break;
    }
    cursors.add(cursor);
  }
  const listed = readDefinitions(tools);
  return { definitions: listed.definitions, leftOut: [...listed.leftOut, ...leftOut] };
}

/** The SDK does not always give up when told to. */
function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  promise.catch(() => {});
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", abort));
}

function quiet(millis: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, millis).unref());
}
