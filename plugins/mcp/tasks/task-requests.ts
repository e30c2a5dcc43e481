/** Requests about tasks: the extension of 2026-07-28, and the experiment of 2025-11-25, where the client asks for one. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  type CallToolRequest,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  type ListToolsRequest,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type ServerCapabilities,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { asObject, assertKnowsTasks, knowsTasks, TASKS_EXTENSION } from "../protocol/client.ts";
import type { Handlers } from "../protocol/handlers.ts";
import type { Task, TaskOwner } from "./rows.ts";
import { hasEnded, type RunningCall, type Tasks } from "./tasks.ts";

const INVALID_PARAMS = ProtocolErrorCode.InvalidParams;
/** How often a client should look at a task. */
const POLL_MS = 1000;
/** How long a task may take, and is kept. */
const MAX_TTL_MS = 3_600_000;
/** Tasks that are kept count against the limit for a user, so a client cannot have them forgotten at once. */
const MIN_TTL_MS = 60_000;

interface TaskServing {
  readonly tasks: Tasks;
  readonly owner: TaskOwner;
  readonly era: "legacy" | "modern";
  /** A call that takes longer becomes a task, if the client knows tasks. */
  readonly afterMillis: number;
  /** Reads the state that a handler gave out. */
  readState(state: string, context: ServerContext): Promise<unknown>;
}

export function taskCapabilities(era: TaskServing["era"]): ServerCapabilities {
  return era === "modern"
    ? { extensions: { [TASKS_EXTENSION]: {} } }
    : { tasks: { cancel: {}, requests: { tools: { call: {} } } } };
}

/** Returns handlers whose `tools/call` can return a task, and which also handle the requests about tasks. */
export function withTasks(handlers: Handlers, serving: TaskServing): Handlers {
  const serveCalls = serving.era === "modern" ? serveModern : serveLegacy;
  return {
    ...handlers,
    handle(method, handler) {
      if (method === "tools/call") serveCalls(handlers, handler as unknown as CallHandler, serving);
      else if (method === "tools/list")
        handlers.handle("tools/list", optional(handler as unknown as ListHandler));
      else handlers.handle(method, handler);
    },
  };
}

type CallHandler = (
  request: CallToolRequest,
  context: ServerContext,
) => Promise<CallToolResult | InputRequiredResult>;
type ListHandler = (request: ListToolsRequest, context: ServerContext) => Promise<ListToolsResult>;

/** Marks every tool as callable as a task. Only 2025-11-25 has this field; the SDK leaves it out in 2026-07-28. */
function optional(list: ListHandler): ListHandler {
  return async (request, context) => {
    const { tools, ...rest } = await list(request, context);
    return { ...rest, tools: tools.map((tool) => ({ execution: { taskSupport: "optional" }, ...tool })) };
  };
}

function serveModern({ handle, handleTask }: Handlers, handler: CallHandler, serving: TaskServing): void {
  const { tasks, owner, afterMillis, readState } = serving;
  const findTask = async (id: string, context: ServerContext): Promise<Task> => {
    assertKnowsTasks(context);
    return found(await tasks.find(owner, id));
  };

  handle("tools/call", async (request, context) => {
    if (!knowsTasks(context)) return handler(request, context);
    const call = detachable(handler, request, context);
    const over = new AbortController();
    const late = sleep(afterMillis, undefined, { signal: over.signal }).catch(() => undefined);
    const inTime = await Promise.race([call.result, late]).finally(() => over.abort());
    if (inTime) return inTime;
    const task = await tasks.begin(owner, request.params, MAX_TTL_MS, () => call.detach());
    if (task === undefined) return call.result;
    return { content: [], resultType: "task", ...modernTask(task) };
  });

  handleTask("tasks/get", async (taskId, context) => {
    const task = await findTask(taskId, context);
    return { ...modernTask(task), ...modernDetail(task) };
  });

  handleTask("tasks/update", async (taskId, context) => {
    const task = await findTask(taskId, context);
    // The SDK takes them out of the params of every request.
    await tasks.answer(task, context.mcpReq.inputResponses ?? {}, (answered) => {
      const { answers, requestState, params } = answered;
      const state = requestState === undefined ? undefined : readState(requestState, context);
      const again: CallHandler = async (request, inner) => {
        const value = await state;
        const mcpReq = {
          ...inner.mcpReq,
          method: "tools/call",
          inputResponses: answers,
          requestState: <T>() => value as T,
        };
        return handler(request, { ...inner, mcpReq });
      };
      const request = { method: "tools/call", params: params as CallToolRequest["params"] } as const;
      return detachable(again, request, context).detach();
    });
    return {};
  });

  handleTask("tasks/cancel", async (taskId, context) => {
    await tasks.cancel(await findTask(taskId, context));
    return {};
  });
}

/** A call that belongs to its request until it becomes a task. */
function detachable(handler: CallHandler, request: CallToolRequest, context: ServerContext) {
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

/** In a task, the client of an earlier revision is not asked: the result says where the person has to go instead. */
function withoutAsking(context: ServerContext): ServerContext {
  const envelope = { [CLIENT_CAPABILITIES_META_KEY]: {} };
  return { ...context, mcpReq: { ...context.mcpReq, envelope } };
}

function serveLegacy({ handle, handleTask }: Handlers, handler: CallHandler, serving: TaskServing): void {
  const { tasks, owner } = serving;

  handle("tools/call", async (request, context) => {
    const asked = request.params.task;
    if (asked === undefined) return handler(request, context);
    const ttl = Math.max(MIN_TTL_MS, Math.min(asked.ttl ?? MAX_TTL_MS, MAX_TTL_MS));
    const task = await tasks.begin(owner, request.params, ttl, () =>
      detachable(handler, request, withoutAsking(context)).detach(),
    );
    if (task === undefined)
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        "Too many tasks. Wait until earlier ones have expired, or call the tool without a task.",
      );
    return { content: [], task: legacyTask(task) };
  });

  handleTask("tasks/get", async (taskId) => legacyTask(found(await tasks.find(owner, taskId))));

  handleTask("tasks/result", async (taskId, { mcpReq }) => {
    const task = found(await tasks.settled(owner, taskId, mcpReq.signal));
    if (task.status === "failed") throw new ProtocolError(task.error.code, task.error.message);
    if (task.status !== "completed")
      throw new ProtocolError(INVALID_PARAMS, `The task is ${task.status}: it has no result`);
    const { result } = task;
    return { ...result, _meta: { ...asObject(result["_meta"]), [RELATED_TASK_META_KEY]: { taskId } } };
  });

  handleTask("tasks/cancel", async (taskId) => {
    const task = found(await tasks.find(owner, taskId));
    if (hasEnded(task) || !(await tasks.cancel(task)))
      throw new ProtocolError(INVALID_PARAMS, `The task has already ended: ${task.status}`);
    return legacyTask({ ...task, status: "cancelled" } as Task);
  });
}

/** The fields that both revisions have. */
function taskOf({ id, status, createdAt, updatedAt }: Task) {
  return {
    taskId: id,
    status,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
  };
}

function modernTask(task: Task) {
  return { ...taskOf(task), ttlMs: task.ttlMillis, pollIntervalMs: POLL_MS };
}

function modernDetail(task: Task): object {
  switch (task.status) {
    case "input_required": {
      const open = Object.entries(task.requests).filter(([key]) => !Object.hasOwn(task.answers, key));
      return { inputRequests: Object.fromEntries(open) };
    }
    case "completed":
      return { result: { resultType: "complete", ...task.result } };
    case "failed":
      return { error: task.error };
    default:
      return {};
  }
}

function legacyTask(task: Task) {
  return { ...taskOf(task), ttl: task.ttlMillis, pollInterval: POLL_MS };
}

function found(task: Task | undefined): Task {
  if (task) return task;
  throw new ProtocolError(INVALID_PARAMS, "There is no such task, or it has expired");
}
