/** Handlers of requests, whose errors reach the client in the protocol's own codes and never with our internals. */
import {
  type HandlerResultTypeMap,
  ProtocolError,
  ProtocolErrorCode,
  type RequestMethod,
  type RequestTypeMap,
  type Result,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { Fault, type Log } from "../../../kernel/plugin.ts";
import { asObject } from "./client.ts";

type Handler<Method extends RequestMethod> = (
  request: RequestTypeMap[Method],
  context: ServerContext,
) => Promise<HandlerResultTypeMap[Method]>;

export interface Handlers {
  handle<Method extends RequestMethod>(method: Method, handler: Handler<Method>): void;
  /** Handles a request about a task, which the SDK does not know, or not in this revision. */
  handleTask(method: string, handler: (id: string, context: ServerContext) => Promise<Result>): void;
}

/** A schema as the SDK takes one. */
const TASK_PARAMS = {
  "~standard": {
    version: 1 as const,
    vendor: "postern",
    types: undefined as { readonly input: TaskParams; readonly output: TaskParams } | undefined,
    validate(given: unknown): { readonly value: TaskParams } | { readonly issues: { message: string }[] } {
      const { taskId } = asObject(given);
      return typeof taskId === "string"
        ? { value: { taskId } }
        : { issues: [{ message: "taskId must be a string" }] };
    },
  },
};

interface TaskParams {
  readonly taskId: string;
}

export function createHandlers(server: Server, log: Log): Handlers {
  const withErrorCodes = async <Result>(method: string, work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      if (ProtocolError.isInstance(error)) throw error;
      if (error instanceof Fault) throw new ProtocolError(errorCodeOf(error), error.message);
      log.error({ error, method }, "unexpected error in an MCP request");
      throw new ProtocolError(ProtocolErrorCode.InternalError, "Something went wrong. The log says what.");
    }
  };
  return {
    handle: (method, handler) =>
      server.setRequestHandler(method, (request, context) =>
        withErrorCodes(method, () => handler(request as never, context)),
      ),
    handleTask: (method, handler) =>
      server.setRequestHandler(method, { params: TASK_PARAMS }, ({ taskId }, context) =>
        withErrorCodes(method, () => handler(taskId, context)),
      ),
  };
}

export function errorCodeOf({ kind }: Fault): number {
  return kind === "invalid" || kind === "missing"
    ? ProtocolErrorCode.InvalidParams
    : ProtocolErrorCode.InternalError;
}
