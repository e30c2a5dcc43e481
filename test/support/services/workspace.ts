/** A workspace on a real SQLite file that the test can close and open again. */

import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createDocumentReader } from "../../../kernel/files/document-reader.ts";
import { diffLines } from "../../../kernel/kit/text.ts";
import type { Attachments, OwnToolContext } from "../../../plugins/agent/services.ts";
import { textOfFile } from "../../../plugins/agent/threads/attachments/kinds.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";
import type { Change, Edit } from "../../../plugins/workspace/services.ts";
import { workspaceTools } from "../../../plugins/workspace/tools/tools.ts";
import { createWorkspace, type OpenWorkspace } from "../../../plugins/workspace/workspace.ts";
import { temporaryFolder } from "../home.ts";

export async function openWorkspace(folder = temporaryFolder()) {
  // Nothing here is about a power cut.
  const store = openStore(join(folder, "store.sqlite"), { durability: "normal" });
  const workspace = await createWorkspace({ store, maxMb: 500, home: folder });
  onTestFinished(async () => {
    await workspace.close();
    await store.close();
  });
  return { workspace, store, folder };
}

export const byPerson: Change = { writer: { kind: "page" } };

export const writing = (path: string, text: string, more: Partial<Edit & { op: "write" }> = {}): Edit => ({
  op: "write",
  path,
  data: Buffer.from(text),
  ...more,
});

/** With a reader of documents that starts a process for each. */
export function toolsOf(workspace: OpenWorkspace) {
  const documents = createDocumentReader();
  onTestFinished(documents.close);
  const textOf: Attachments["textOf"] = (user, { name, data }) =>
    textOfFile(name, data, (...which) => documents.read(user, ...which));
  return workspaceTools(workspace, { diff: diffLines }, { textOf });
}

/** Calls a tool as a turn would, and returns what the model reads. */
export async function callTool(
  workspace: OpenWorkspace,
  name: string,
  params: object,
  context: Partial<OwnToolContext> = {},
) {
  const tool = toolsOf(workspace).find((each) => each.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  const outcome = await tool.run(params, { user: "ann", thread: "t", turn: "turn-1", ...context });
  return { ...outcome, said: outcome.status === "ok" ? JSON.parse(outcome.output as string) : outcome };
}
