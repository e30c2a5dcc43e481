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

type Handler<Method extends RequestMethod> = (
  request: RequestTypeMap[Method],
  context: ServerContext,
) => Promise<HandlerResultTypeMap[Method]>;

/** A schema as the SDK takes one. */
interface ParamsSchema<Params> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: Params; readonly output: Params } | undefined;
    validate(
      given: unknown,
    ): { readonly value: Params } | { readonly issues: readonly { readonly message: string }[] };
  };
}

export interface Handlers {
  handle<Method extends RequestMethod>(method: Method, handler: Handler<Method>): void;
  /** Handles a method that the SDK does not know, or not in this revision. */
  handleOther<Params>(
    method: string,
    params: ParamsSchema<Params>,
    handler: (params: Params, context: ServerContext) => Promise<Result>,
  ): void;
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
    handleOther: (method, params, handler) =>
      server.setRequestHandler(method, { params }, (given, context) =>
        withErrorCodes(method, () => handler(given, context)),
      ),
  };
}

export function errorCodeOf({ kind }: Fault): number {
  return kind === "invalid" || kind === "missing"
    ? ProtocolErrorCode.InvalidParams
    : ProtocolErrorCode.InternalError;
}
