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

export interface DetachableCall extends RunningCall {
  readonly result: Promise<CallResult>;
  /** From here on the request has no say in it: its end is no reason to stop. */
  detach(): RunningCall;
}

export function detachable(
  handler: CallHandler,
  request: CallToolRequest,
  context: ServerContext,
): DetachableCall {
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
  // Somebody looks at it in any case, but perhaps later.
  result.catch(() => {});
  const call = { result, abort: () => controller.abort() };
  return {
    ...call,
    detach() {
      isDetached = true;
      mcpReq.signal.removeEventListener("abort", follow);
      return call;
    },
  };
}

export async function sooner<Result>(
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
