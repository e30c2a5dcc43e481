/** What users have given tools and MCP servers for themselves goes with them. */
import { definePlugin } from "../../kernel/plugin.ts";

export default definePlugin({
  name: "tool-users",
  kind: "part",
  needs: ["accounts", "toolHost"],
  extends: ["accounts"],
  configure: () => ({}),
  start({ use: { accounts, toolHost }, onStop }) {
    onStop(accounts.follow({ remove: async (user) => (await toolHost.open()).forgetUser(user) }));
  },
});
