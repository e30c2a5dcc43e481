/** Tasks as the two revisions spell them. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Task } from "./rows.ts";

export const EXTENSION = "io.modelcontextprotocol/tasks";
const POLL_MILLIS = 1000;

export function modernTask(task: Task) {
  const { id, status, createdAt, updatedAt, ttlMillis } = task;
  return {
    taskId: id,
    status,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs: ttlMillis,
    pollIntervalMs: POLL_MILLIS,
  };
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
  const { id, status, createdAt, updatedAt, ttlMillis } = task;
  return {
    taskId: id,
    status,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttl: ttlMillis,
    pollInterval: POLL_MILLIS,
  };
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

export function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

type Checked<Value> =
  | { readonly value: Value }
  | { readonly issues: readonly { readonly message: string }[] };

/** As the SDK wants a schema; answers to questions nobody asked may be anything. */
function schema<Value>(check: (given: Record<string, unknown>) => Value | string) {
  return {
    "~standard": {
      version: 1 as const,
      vendor: "postern",
      types: undefined as { readonly input: Value; readonly output: Value } | undefined,
      validate(given: unknown): Checked<Value> {
        const checked = check(asObject(given));
        return typeof checked === "string" ? { issues: [{ message: checked }] } : { value: checked };
      },
    },
  };
}

export const TASK_PARAMS = schema<{ readonly taskId: string }>(({ taskId }) =>
  typeof taskId === "string" ? { taskId } : "taskId must be a string",
);

export const UPDATE_PARAMS = schema<{
  readonly taskId: string;
  readonly inputResponses: Record<string, unknown>;
}>(({ taskId, inputResponses }) => {
  if (typeof taskId !== "string") return "taskId must be a string";
  const answers = asObject(inputResponses);
  const isObject = (answer: unknown) =>
    typeof answer === "object" && answer !== null && !Array.isArray(answer);
  if (!Object.values(answers).every(isObject)) return "each input response must be an object";
  return { taskId, inputResponses: answers };
});
