/** `task_delegate`: the agent hands a piece of its work to a turn of its own, and is told how that ended by the service. */
import { Fault } from "../../kernel/plugin.ts";
import type { OwnTool, OwnToolContext } from "../agent/services.ts";
import { outcomeOf } from "./report.ts";
import type { DelegationSettings } from "./settings.ts";
import { type Asked, TASK_CHANNEL, titleOf } from "./task-start.ts";
import type { RunningTasks, TaskContext } from "./tasks.ts";

const MAX_TASK_LENGTH = 8000;
const MAX_HANDOVER_LENGTH = 100_000;
const MAX_DEADLINE_SECS = 86_400;

export function delegatingTool(
  tasks: Pick<RunningTasks, "begin" | "follow">,
  { depth }: Pick<DelegationSettings, "depth">,
): OwnTool {
  return {
    name: "task_delegate",
    // Called again by the next attempt of a job, it finds the task that it began.
    effect: "repeatable",
    words: { did: "delegated", object: ["{task}"] },
    description:
      "Delegates a task to an agent with a conversation of its own, which sees nothing of this one, and waits for its result. Calls in one answer run side by side. The result says how the task ended: report that to the user, whatever its answer claims. With background it returns at once, and you get a message when the task has ended; the user is asked.",
    schema: {
      type: "object",
      properties: {
        task: {
          type: "string",
          minLength: 1,
          maxLength: MAX_TASK_LENGTH,
          description: "What to do, in full",
        },
        handover: {
          type: "string",
          maxLength: MAX_HANDOVER_LENGTH,
          description: "What it has to know or work on, such as a text",
        },
        tools: {
          type: "array",
          items: { type: "string", maxLength: 200 },
          maxItems: 100,
          description: "The only tools it may use; all of yours where it is left out",
        },
        model: { type: "string", minLength: 1, maxLength: 200 },
        budget_usd: { type: "number", exclusiveMinimum: 0, maximum: 100_000 },
        deadline_secs: { type: "integer", minimum: 1, maximum: MAX_DEADLINE_SECS },
        background: { type: "boolean" },
      },
      required: ["task"],
      additionalProperties: false,
    },
    isOffered: ({ delegating }) => (delegating?.task?.path.length ?? 0) < depth,
    asks(params) {
      const { background, task } = params as Asked;
      if (!background) return undefined;
      return [
        `works on this in the background: ${task.trim()}`,
        "when it has ended, a turn in this conversation starts by itself and tells you how",
      ];
    },
    refuse(params, context) {
      const { background } = params as Asked;
      if (background && (context.delegating?.task || context.channel === TASK_CHANNEL))
        return failed(
          "not_in_background",
          "Only a person's own conversation has background tasks. Wait for it.",
        );
      if (background && context.isScoped)
        return failed(
          "scoped_token",
          "The token of this conversation has a scope. Wait for the task instead.",
        );
      return undefined;
    },
    async run(params, context) {
      const asked = params as Asked;
      if (!isInTurn(context)) return failed("no_turn", "Only a turn can delegate a task.");
      try {
        const row = await tasks.begin(asked, context);
        if (!row.is_background)
          return outcomeOf(await tasks.follow(row, context.delegating), titleOf(asked.task));
        const note = "It has begun, not ended. You get a message when it has.";
        return { status: "ok", output: JSON.stringify({ task: row.id, status: row.status, note }) };
      } catch (error) {
        if (error instanceof Fault) return failed(error.code, error.message);
        throw error;
      }
    },
  };
}

const isInTurn = (context: OwnToolContext): context is TaskContext =>
  context.delegating !== undefined && context.turn !== undefined;

const failed = (code: string, message: string) => ({ status: "error", code, message }) as const;
