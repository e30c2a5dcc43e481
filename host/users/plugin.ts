/** What users have given tools and MCP servers for themselves goes with them. */
import { definePlugin } from "../../kernel/plugin.ts";
import { digestOf } from "../secrets/entry.ts";

export default definePlugin({
  name: "tool-users",
  kind: "part",
  needs: ["accounts", "toolHost"],
  extends: ["accounts"],
  configure: () => ({}),
  start({ use: { accounts, toolHost }, onStop }) {
    onStop(
      accounts.follow({
        remove: async (user) => (await toolHost.open()).forgetUser(user),
        // Sealed for the one who gave it, it cannot become another's. In the transaction: later, it might not happen.
        give: (tx, from) =>
          tx.run(
            "DELETE FROM keyed WHERE namespace IN ('secrets', 'tool-settings') AND key LIKE ?",
            `%${digestOf(from)}`,
          ),
      }),
    );
  },
});
