/** The tasks that a turn delegated, folded into one line. */
import type { Task } from "../../../kernel/plugin.ts";
import { plural } from "../text/amounts.ts";

/** `listed`: each after the task that it is a part of. Undefined where none is of this turn. */
export function tasksLine(listed: readonly Task[], turn: string): string | undefined {
  const ids = new Set<string>();
  const statuses = listed.flatMap(({ id, parent = "", parentTurn, status }) => {
    if (parentTurn !== turn && !ids.has(parent)) return [];
    ids.add(id);
    return [status];
  });
  if (statuses.length === 0) return undefined;
  const counts = [...Map.groupBy(statuses, (status) => status)].map(
    ([status, same]) => `${same.length} ${status}`,
  );
  const asking = listed.findIndex(({ id, status }) => ids.has(id) && status === "waiting") + 1;
  const hint = asking > 0 ? `/tasks open ${asking} shows what it asks` : "/tasks lists them";
  return `${plural(statuses.length, "task")}: ${counts.join(", ")}. *${hint}*`;
}
