/**
 * Tasks on the wire: the extension of 2026-07-28, where we decide that a call takes long, and the experiment of 2025-11-25,
 * where the client asks for a task.
 */
import {
  type CallToolRequest,
  CLIENT_CAPABILITIES_META_KEY,
  type ListToolsRequest,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type ServerCapabilities,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Guarded } from "../guard.ts";
import { type CallHandler, detachable, sooner } from "./detachable-call.ts";
import type { Task, TaskOwner } from "./rows.ts";
import { hasEnded, type Tasks } from "./tasks.ts";
import {
  asObject,
  assertKnowsTasks,
  EXTENSION,
  found,
  knowsTasks,
  legacyTask,
  modernDetail,
  modernTask,
  TASK_PARAMS,
} from "./wire.ts";

/** How long a task is kept, and may take. */
const TTL_MILLIS = 3_600_000;
/** Whatever the client asks for: how many it has is counted by those that are kept. */
const SHORTEST_TTL_MILLIS = 60_000;

export interface TaskServing {
  readonly tasks: Tasks;
  readonly owner: TaskOwner;
  readonly era: "legacy" | "modern";
  /** A call that takes longer becomes a task, where the client knows them. */
  readonly afterMillis: number;
  /** What a handler finds in the state that it gave out. */
  readState(state: string, context: ServerContext): Promise<unknown>;
}

export function taskCapabilities(era: TaskServing["era"]): ServerCapabilities {
  return era === "modern"
    ? { extensions: { [EXTENSION]: {} } }
    : { tasks: { cancel: {}, requests: { tools: { call: {} } } } };
}

/** The same, but `tools/call` can answer with a task, and everything about tasks is answered too. */
export function withTasks(guarded: Guarded, serving: TaskServing): Guarded {
  const serveCalls = serving.era === "modern" ? serveModern : serveLegacy;
  return {
    ...guarded,
    handle(method, handler) {
      if (method === "tools/call") serveCalls(guarded, handler as unknown as CallHandler, serving);
      else if (method === "tools/list")
        guarded.handle("tools/list", optional(handler as unknown as ListHandler));
      else guarded.handle(method, handler);
    },
  };
}

type ListHandler = (request: ListToolsRequest, context: ServerContext) => Promise<ListToolsResult>;

/** Every tool may be called as a task. Only 2025-11-25 has a word for it; the SDK leaves it out of answers in 2026-07-28. */
function optional(list: ListHandler): ListHandler {
  return async (request, context) => {
    const { tools, ...rest } = await list(request, context);
    return { ...rest, tools: tools.map((tool) => ({ execution: { taskSupport: "optional" }, ...tool })) };
  };
}

function serveModern({ handle, handleOther }: Guarded, handler: CallHandler, serving: TaskServing): void {
  const { tasks, owner, afterMillis, readState } = serving;
  const find = async (id: string, context: ServerContext): Promise<Task> => {
    assertKnowsTasks(context);
    return found(await tasks.find(owner, id));
  };

  handle("tools/call", async (request, context) => {
    if (!knowsTasks(context)) return handler(request, context);
    const call = detachable(handler, request, context);
    const inTime = await sooner(call.result, afterMillis);
    if (inTime) return inTime.result;
    const task = await tasks.begin(owner, request.params, TTL_MILLIS, () => call.detach());
    if (task === undefined) return call.result;
    return { content: [], resultType: "task", ...modernTask(task) };
  });

  handleOther("tasks/get", TASK_PARAMS, async ({ taskId }, context) => {
    const task = await find(taskId, context);
    return { ...modernTask(task), ...modernDetail(task) };
  });

  handleOther("tasks/update", TASK_PARAMS, async ({ taskId }, context) => {
    const task = await find(taskId, context);
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
      return detachable(
        again,
        { method: "tools/call", params: params as CallToolRequest["params"] },
        context,
      ).detach();
    });
    return {};
  });

  handleOther("tasks/cancel", TASK_PARAMS, async ({ taskId }, context) => {
    await tasks.cancel(await find(taskId, context));
    return {};
  });
}

/** The client of an earlier revision is not asked in a task: the result says where the person has to go instead. */
function unasked(context: ServerContext): ServerContext {
  const envelope = { [CLIENT_CAPABILITIES_META_KEY]: {} };
  return { ...context, mcpReq: { ...context.mcpReq, envelope } };
}

function serveLegacy({ handle, handleOther }: Guarded, handler: CallHandler, serving: TaskServing): void {
  const { tasks, owner } = serving;

  handle("tools/call", async (request, context) => {
    const asked = request.params.task;
    if (asked === undefined) return handler(request, context);
    const ttl = Math.max(SHORTEST_TTL_MILLIS, Math.min(asked.ttl ?? TTL_MILLIS, TTL_MILLIS));
    const task = await tasks.begin(owner, request.params, ttl, () =>
      detachable(handler, request, unasked(context)).detach(),
    );
    if (task === undefined)
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        "Too many tasks. Wait until earlier ones have expired, or call the tool without a task.",
      );
    return { content: [], task: legacyTask(task) };
  });

  handleOther("tasks/get", TASK_PARAMS, async ({ taskId }) =>
    legacyTask(found(await tasks.find(owner, taskId))),
  );

  handleOther("tasks/result", TASK_PARAMS, async ({ taskId }, { mcpReq }) => {
    const task = found(await tasks.settled(owner, taskId, mcpReq.signal));
    if (task.status === "failed") throw new ProtocolError(task.error.code, task.error.message);
    if (task.status !== "completed")
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `The task is ${task.status}: it has no result`,
      );
    const { result } = task;
    return { ...result, _meta: { ...asObject(result["_meta"]), [RELATED_TASK_META_KEY]: { taskId } } };
  });

  handleOther("tasks/cancel", TASK_PARAMS, async ({ taskId }) => {
    const task = found(await tasks.find(owner, taskId));
    if (hasEnded(task) || !(await tasks.cancel(task)))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The task has already ended: ${task.status}`);
    return legacyTask({ ...task, status: "cancelled" } as Task);
  });
}
