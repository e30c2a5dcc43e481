/** The API of identities. */
import { definePlugin } from "../../../kernel/plugin.ts";

export default definePlugin({
  name: "accounts-routes",
  kind: "part",
  needs: ["identities", "web"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { identityRoutes } = await import("./identities.ts");
    onStop(use.web.mount(identityRoutes(use)));
  },
});
