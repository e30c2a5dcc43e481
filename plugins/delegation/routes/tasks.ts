/** Tasks that turns have delegated. A user sees their own, an operator all. */
import { missingFault, orRefuse, type Route, routesOf } from "../../../kernel/kit/http.ts";
import { Task } from "../../../kernel/kit/jobs.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import type { Services } from "../../../kernel/plugin.ts";

const route = routesOf("tasks");

const MAX_LISTED = 500;

export function taskRoutes({ tasks }: Partial<Pick<Services, "tasks">>): readonly Route[] {
  const there = orRefuse(tasks, "delegation_off", "Delegation is off (TASKS_AT_ONCE=0).");
  return [
    route("GET /api/tasks", {
      summary: "List delegated tasks, oldest first, each after the task that it is a part of",
      query: Type.Object({
        thread: Type.Optional(
          Type.String({ description: "Only those that this thread, or a task of it, delegated" }),
        ),
        user: Type.Optional(
          Type.String({ minLength: 1, maxLength: 500, description: "Operators: only this user's" }),
        ),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: MAX_LISTED, description: "So many of the newest" }),
        ),
      }),
      answer: Type.Object({ tasks: Type.Array(Task) }),
      scoped: true,
      async handle({ user, query }) {
        const asked = user.role === "operator" ? query : { ...query, user: user.id };
        return { tasks: [...(await there().list(asked))] };
      },
    }),
    route("POST /api/tasks/{id}/cancel", {
      summary: "Stop a task and those below it; one that has ended stays as it is",
      answer: Task,
      refusals: { 404: "There is no such task" },
      async handle({ user, params: { id } }) {
        const found = await there().find(id);
        if (found && (user.role === "operator" || found.user === user.id))
          return (await there().cancel(id)) ?? found;
        throw missingFault("task_not_found", `There is no task ${id}.`, "id");
      },
    }),
  ];
}
