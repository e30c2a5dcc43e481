/** A call that belongs to its request until it becomes a task. */
import type {
  CallToolRequest,
  CallToolResult,
  InputRequiredResult,
  ServerContext,
} from "@modelcontextprotocol/server";
import type { RunningCall } from "./tasks.ts";

type CallResult = CallToolResult | InputRequiredResult;
export type CallHandler = (request: CallToolRequest, context: ServerContext) => Promise<CallResult>;

export function detachable(handler: CallHandler, request: CallToolRequest, context: ServerContext) {
  const { mcpReq } = context;
  const controller = new AbortController();
  const follow = () => controller.abort(mcpReq.signal.reason);
  let isDetached = false;
  if (mcpReq.signal.aborted) follow();
  else mcpReq.signal.addEventListener("abort", follow, { once: true });
  const inner: ServerContext = {
    ...context,
    mcpReq: {
      ...mcpReq,
      signal: controller.signal,
      notify: async (...words) => {
        if (!isDetached) await mcpReq.notify(...words);
      },
      log: async (...words) => {
        if (!isDetached) await mcpReq.log(...words);
      },
    },
  };
  const result = handler(request, inner);
  // The result is always awaited, but perhaps later: until then a failure is not unhandled.
  result.catch(() => {});
  const call = { result, abort: () => controller.abort() };
  return {
    ...call,
    /** From here on the end of the request does not stop the call. */
    detach(): RunningCall {
      isDetached = true;
      mcpReq.signal.removeEventListener("abort", follow);
      return call;
    },
  };
}

/** Returns undefined if the result takes longer. */
export async function resultWithin<Result>(
  result: Promise<Result>,
  millis: number,
): Promise<{ readonly result: Result } | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), millis);
  });
  try {
    return await Promise.race([result.then((value) => ({ result: value })), late]);
  } finally {
    clearTimeout(timer);
  }
}
