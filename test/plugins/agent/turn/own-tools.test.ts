import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROUTINE_PROPOSE, TOOL_PROPOSE, TOOL_SEARCH } from "../../../../kernel/kit/tools.ts";
import { PLAN_TOOL } from "../../../../plugins/provenance/call/plan.ts";
import { ROOT } from "../../../support/clone.ts";

/** After a crash a job that has called one that writes is not run again. What one has recorded is found by the next attempt. */
const EFFECTS = {
  memory_read: "reads",
  memory_remove: "writes",
  memory_search: "reads",
  memory_tree: "reads",
  memory_write: "recorded",
  mission_complete: "writes",
  mission_create: "writes",
  mission_list: "reads",
  plan_steps: "reads",
  routine_propose: "writes",
  skill_copy: "writes",
  // Both change only what the turn may use. What a script does counts as the call of the tool that runs it.
  skill_load: "repeatable",
  skill_run: "repeatable",
  // It finds the task that it began.
  task_delegate: "repeatable",
  tool_propose: "writes",
  tool_search: "reads",
  workspace_edit: "recorded",
  workspace_list: "reads",
  workspace_move: "writes",
  workspace_read: "reads",
  workspace_remove: "writes",
  workspace_search: "reads",
  workspace_undo: "writes",
  workspace_write: "recorded",
};

const NAMES: Readonly<Record<string, string>> = {
  PLAN_TOOL,
  ROUTINE_PROPOSE,
  TOOL_PROPOSE,
  TOOL_SEARCH,
};

test("every tool of the agent's own says whether it reads or writes, and stands in this table", () => {
  const texts = globSync("{plugins,host}/**/*.ts", { cwd: ROOT }).map((file) =>
    readFileSync(join(ROOT, file), "utf8"),
  );
  const declared = texts.flatMap((text) => [
    ...text.matchAll(/name: "?(\w+)"?,\n(?:\s*\/\/.*\n)*\s*effect: "(\w+)"/g),
  ]);
  const effects = declared.map(([, name = "", effect]) => [NAMES[name] ?? name, effect]);
  expect(Object.fromEntries(effects.toSorted())).toEqual(EFFECTS);
  // None is declared in another form, which the table could not see.
  expect(texts.flatMap((text) => text.match(/\beffect: "\w+"(?: as const)?,/g) ?? [])).toHaveLength(
    effects.length,
  );
});
