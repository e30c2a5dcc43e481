/** What goes wrong in a handler reaches the client in the protocol's own codes, and never with our internals. */
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
import { Fault, type Log } from "../../kernel/plugin.ts";

type Handler<Method extends RequestMethod> = (
  request: RequestTypeMap[Method],
  context: ServerContext,
) => Promise<HandlerResultTypeMap[Method]>;

/** What the SDK wants of a schema. */
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

export interface Guarded {
  handle<Method extends RequestMethod>(method: Method, handler: Handler<Method>): void;
  /** A method that the SDK knows nothing about, or not in this revision. */
  handleOther<Params>(
    method: string,
    params: ParamsSchema<Params>,
    handler: (params: Params, context: ServerContext) => Promise<Result>,
  ): void;
}

export function guard(server: Server, log: Log): Guarded {
  const refusing = async <Answer>(method: string, work: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await work();
    } catch (error) {
      if (ProtocolError.isInstance(error)) throw error;
      if (error instanceof Fault) throw new ProtocolError(codeOf(error), error.message);
      log.error({ error, method }, "an MCP request failed because of a bug");
      throw new ProtocolError(ProtocolErrorCode.InternalError, "Something went wrong. The log says what.");
    }
  };
  return {
    handle: (method, handler) =>
      server.setRequestHandler(method, (request, context) =>
        refusing(method, () => handler(request as never, context)),
      ),
    handleOther: (method, params, handler) =>
      server.setRequestHandler(method, { params }, (given, context) =>
        refusing(method, () => handler(given, context)),
      ),
  };
}

export function codeOf({ kind }: Fault): number {
  return kind === "invalid" || kind === "missing"
    ? ProtocolErrorCode.InvalidParams
    : ProtocolErrorCode.InternalError;
}
