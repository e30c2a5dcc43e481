/** What a turn may still spend: of its own budget, or of those of the tasks above it. */
import type { OpenPurse, Purse } from "../models/services.ts";
import { setStatus } from "./ends.ts";
import type { TasksParts } from "./parts.ts";
import { assertGoesOn, assertRootGoesOn, pathOf } from "./rows.ts";

const FREE: Purse = { assertLeft: async () => {}, spend: () => {} };

export async function openPurse(
  parts: TasksParts,
  { id, thread, task, job, budgetUsd }: Parameters<OpenPurse>[0],
): Promise<Purse> {
  const { sql } = parts;
  if (task === undefined) {
    if (budgetUsd === undefined) return FREE;
    return { ...FREE, assertLeft: (usd) => assertRootGoesOn(sql, job ?? id, usd) };
  }
  await setStatus(parts, task.id, "running", thread);
  const path = await pathOf(sql, task.id);
  const ids = path.map((row) => row.id);
  const root = path[0]?.root ?? "";
  return {
    assertLeft: () => assertGoesOn(sql, ids.length > 0 ? ids : [task.id], root),
    spend(tx, usd) {
      const places = ids.map(() => "?").join();
      void tx.run(`UPDATE tasks SET spent_usd = spent_usd + ? WHERE id IN (${places})`, usd, ...ids);
      void tx.run("UPDATE task_trees SET spent_usd = spent_usd + ? WHERE root = ?", usd, root);
    },
  };
}
