/** The API of accounts and identities. */
import { definePlugin } from "../../../kernel/plugin.ts";

export default definePlugin({
  name: "accounts-routes",
  kind: "part",
  needs: ["accounts", "identities", "web"],
  wants: ["agent", "toolCalls"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { accountRoutes } = await import("./accounts.ts");
    const { identityRoutes } = await import("./identities.ts");
    onStop(use.web.mount([...accountRoutes(use), ...identityRoutes(use)]));
  },
});
