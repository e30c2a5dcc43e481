/** Findings of `postern doctor` about the operator's files. Read-only. */
import { type DiagnoseContext, type Finding, reason } from "../../kernel/plugin.ts";
import type { OperatorFiles } from "./files.ts";
import { openFolderFiles } from "./folder.ts";
import { findUnused, gather } from "./local-copy.ts";
import { readModels } from "./model-files.ts";
import { openRowFiles } from "./rows.ts";
import { createSkills } from "./skills/skills.ts";

const NAME = "agent files";

export async function diagnoseFiles({
  home,
  shared,
}: Pick<DiagnoseContext<unknown>, "home" | "shared">): Promise<readonly Finding[]> {
  if (shared === "unreachable") return [];
  if (shared === undefined)
    return [await describe(openFolderFiles(home), (await gather(home)).files, `in ${home}`)];
  const rows = (await shared.has("home_files")) ? openRowFiles(shared.sql, shared.changes) : undefined;
  const theirs = (await rows?.all()) ?? new Map<string, string>();
  const found = rows === undefined ? [] : [await describe(rows, theirs, "in the database, for all nodes")];
  const unused = await findUnused(home, theirs);
  if (unused.length === 0) return found;
  const detail = `${unused.join(", ")} in ${home} differ from the database, which is what counts: "postern home push" sends them, "postern home pull" replaces them`;
  return [...found, { name: "home files", ok: true, warning: true, detail }];
}

async function describe(
  files: OperatorFiles,
  all: ReadonlyMap<string, string>,
  where: string,
): Promise<Finding> {
  const problems = await createSkills(files).problems();
  try {
    await readModels(files);
  } catch (error) {
    return { name: NAME, ok: false, detail: reason(error) };
  }
  if (problems.length > 0) {
    const detail = problems.map(({ folder, why }) => `skills/${folder}: ${why}`).join("; ");
    return { name: NAME, ok: true, warning: true, detail };
  }
  return { name: NAME, ok: true, detail: `${[...all.keys()].join(", ") || "none"} ${where}` };
}
