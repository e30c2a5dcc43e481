/** What goes wrong in a handler reaches the client in the protocol's own codes, and never with our internals. */
import {
  type HandlerResultTypeMap,
  ProtocolError,
  ProtocolErrorCode,
  type RequestMethod,
  type RequestTypeMap,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { Fault, type Log } from "../../kernel/plugin.ts";

type Handler<Method extends RequestMethod> = (
  request: RequestTypeMap[Method],
  context: ServerContext,
) => Promise<HandlerResultTypeMap[Method]>;

export interface Guarded {
  handle<Method extends RequestMethod>(method: Method, handler: Handler<Method>): void;
}

export function guard(server: Server, log: Log): Guarded {
  return {
    handle(method, handler) {
      server.setRequestHandler(method, async (request, context) => {
        try {
          return await handler(request as never, context);
        } catch (error) {
          if (ProtocolError.isInstance(error)) throw error;
          if (error instanceof Fault) throw new ProtocolError(codeOf(error), error.message);
          log.error({ error, method }, "an MCP request failed because of a bug");
          throw new ProtocolError(
            ProtocolErrorCode.InternalError,
            "Something went wrong. The log says what.",
          );
        }
      });
    },
  };
}

function codeOf({ kind }: Fault): number {
  return kind === "invalid" || kind === "missing"
    ? ProtocolErrorCode.InvalidParams
    : ProtocolErrorCode.InternalError;
}
