/** A server whose tools would be taken for the agent's own is not added, and one added before is named by doctor. */

import { expect, test } from "vitest";
import { checkServerName } from "../../../host/mcp/tools/server-file.ts";
import { isAgentsName } from "../../../kernel/kit/tools.ts";
import { openWorkspace, toolsOf } from "../../support/services/workspace.ts";

test("a server is not named as the agent's own tools begin, and is told another name", async () => {
  for (const name of ["workspace", "memory", "task", "skill", "mission", "routine", "tool"])
    expect(() => checkServerName(name), name).toThrow(`Try ${name}-server`);
  for (const name of ["workspace-server", "work", "taskboard"])
    expect(() => checkServerName(name), name).not.toThrow();
  const { workspace } = await openWorkspace();
  for (const { name } of toolsOf(workspace)) expect(isAgentsName(name), name).toBe(true);
});
