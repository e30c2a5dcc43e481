/** The agent's tools for the workspace, whichever plugin provides it. */
import { createTextThreads } from "../../../kernel/kit/concurrency.ts";
import { definePlugin } from "../../../kernel/plugin.ts";
import { workspaceTools } from "./tools.ts";

export default definePlugin({
  name: "workspace-tools",
  needs: ["accounts", "agent", "attachments", "workspace"],
  extends: ["agent", "accounts"],
  configure: () => ({}),
  start({ use: { accounts, agent, attachments, workspace }, onStop }) {
    const threads = createTextThreads();
    onStop(threads.close);
    onStop(agent.extend({ tools: workspaceTools(workspace, threads, attachments) }));
    onStop(accounts.follow({ remove: workspace.removeUser, give: workspace.giveUser }));
  },
});
