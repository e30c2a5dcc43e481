/** The agent's tools for the workspace, whichever plugin provides it. */
import { createTextThreads } from "../../../kernel/kit/concurrency.ts";
import { definePlugin } from "../../../kernel/plugin.ts";
import { workspaceTools } from "./tools.ts";

export default definePlugin({
  name: "workspace-tools",
  needs: ["accounts", "agent", "workspace"],
  extends: ["agent", "accounts"],
  configure: () => ({}),
  start({ use: { accounts, agent, workspace }, onStop }) {
    const threads = createTextThreads();
    onStop(threads.close);
    onStop(agent.extend({ tools: workspaceTools(workspace, threads) }));
    onStop(accounts.follow({ remove: workspace.removeUser, give: workspace.giveUser }));
  },
});
