/** What users have given tools and MCP servers for themselves goes with them. */
import { definePlugin } from "../../kernel/plugin.ts";
import { TOOL_SETTINGS } from "../catalog/own-settings.ts";
import { digestOf, SECRETS } from "../secrets/entry.ts";

export default definePlugin({
  name: "tool-users",
  kind: "part",
  needs: ["accounts", "toolHost", "store"],
  extends: ["accounts"],
  configure: () => ({}),
  start({ use: { accounts, toolHost, store }, onStop }) {
    onStop(
      accounts.follow({
        remove: async (user) => (await toolHost.open()).forgetUser(user),
        // Sealed for the one who gave it, it cannot become another's. In the transaction: later, it might not happen.
        give: (tx, from) =>
          Promise.all([SECRETS, TOOL_SETTINGS].map((kept) => store.removeKeyed(tx, kept, digestOf(from)))),
      }),
    );
  },
});
