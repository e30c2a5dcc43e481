/** The tasks that turns delegated: one line below each turn says how they stand. */
import { oneAtATime } from "../../../kernel/kit/concurrency.ts";
import type { Task } from "../../../kernel/plugin.ts";
import { plural } from "../text/amounts.ts";
import type { Transcript } from "./transcript.ts";

export function createTaskLines({ add, update }: Transcript, list: () => Promise<readonly Task[]>) {
  /** By turn. */
  const lines = new Map<string, number>();
  const lookUp = oneAtATime(async () => {
    const listed = await list();
    for (const [turn, line] of lines)
      update(line, "note", (entry) => ({ ...entry, text: tasksLine(listed, turn) ?? entry.text }));
  });
  return {
    notice(turn: string, text: string): void {
      if (!lines.has(turn)) lines.set(turn, add({ type: "note", tone: "plain", text }));
      lookUp().catch(() => {});
    },
    clear: () => lines.clear(),
  };
}

/** `listed`: each after the task that it is a part of. Undefined where none is of this turn. */
function tasksLine(listed: readonly Task[], turn: string): string | undefined {
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
