/** Tasks as the two revisions spell them. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Task } from "./rows.ts";

export const EXTENSION = "io.modelcontextprotocol/tasks";
const POLL_MILLIS = 1000;

/** What both say alike. */
function taskOf({ id, status, createdAt, updatedAt }: Task) {
  return {
    taskId: id,
    status,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
  };
}

export function modernTask(task: Task) {
  return { ...taskOf(task), ttlMs: task.ttlMillis, pollIntervalMs: POLL_MILLIS };
}

export function modernDetail(task: Task): object {
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

export function legacyTask(task: Task) {
  return { ...taskOf(task), ttl: task.ttlMillis, pollInterval: POLL_MILLIS };
}

export function found(task: Task | undefined): Task {
  if (task) return task;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such task, or it has expired");
}

/** Whether the request says that its client knows the extension. */
export function knowsTasks({ mcpReq }: ServerContext): boolean {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const { extensions } = asObject(envelope[CLIENT_CAPABILITIES_META_KEY]);
  return asObject(extensions)[EXTENSION] !== undefined;
}

export function assertKnowsTasks(context: ServerContext): void {
  if (knowsTasks(context)) return;
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [EXTENSION]: {} } },
  });
}

export function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** As the SDK wants a schema. */
export const TASK_PARAMS = {
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
