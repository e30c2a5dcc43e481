/** The agent's tools for the workspace, whichever plugin provides it. */
import { definePlugin } from "../../../kernel/plugin.ts";
import { workspaceTools } from "./tools.ts";

export default definePlugin({
  name: "workspace-tools",
  needs: ["accounts", "agent", "workspace"],
  extends: ["agent", "accounts"],
  configure: () => ({}),
  start({ use: { accounts, agent, workspace }, onStop }) {
    onStop(agent.extend({ tools: workspaceTools(workspace) }));
    onStop(accounts.follow({ remove: workspace.removeUser, give: workspace.giveUser }));
  },
});
