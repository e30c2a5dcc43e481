/** The agent's tools for the workspace, whichever plugin provides it. */
import { definePlugin } from "../../../kernel/plugin.ts";
import { workspaceTools } from "./tools.ts";

export default definePlugin({
  name: "workspace-tools",
  needs: ["agent", "workspace"],
  extends: ["agent"],
  configure: () => ({}),
  start({ use: { agent, workspace }, onStop }) {
    onStop(
      agent.extend({
        tools: workspaceTools(workspace),
        removeUser: (user) => workspace.removeUser(user),
        giveUser: (tx, from, to) => workspace.giveUser(tx, from, to),
      }),
    );
  },
});
